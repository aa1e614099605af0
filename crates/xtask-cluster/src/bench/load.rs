//! Closed-loop load: a fixed number of callers, each with one call in flight.

use std::time::{Duration, Instant};

use toolplane_testkit::Problem;

use super::meters::{Meters, Used};

/// Time before measuring starts: connections, caches and compiled schemas are there afterwards.
pub(crate) const WARM_UP: Duration = Duration::from_secs(1);

/// What was measured.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Microseconds of each call, ascending.
    latencies: Vec<u64>,
    time: Duration,
}

impl Measured {
    /// Of these, measured one way or another within `time`.
    pub(crate) fn of(times: impl IntoIterator<Item = Duration>, time: Duration) -> Self {
        let micros = times.into_iter().map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        let mut latencies: Vec<u64> = micros.collect();
        latencies.sort_unstable();
        Self { latencies, time }
    }

    /// Calls per second over all callers.
    pub(crate) fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.time.as_secs_f64()
    }

    /// The latency below which `percent` of the calls stayed, in microseconds.
    pub(crate) fn percentile(&self, percent: usize) -> u64 {
        let at = self.latencies.len() * percent / 100;
        self.latencies.get(at.min(self.latencies.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Calls that were measured, and what each of them used.
pub(crate) type Metered = (Measured, Used);

/// Runs `concurrency` callers for `time` and measures every call that ends within it.
pub(crate) async fn run<C, F>(concurrency: usize, time: Duration, call: C) -> Result<Measured, Problem>
where
    C: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = Result<(), Problem>> + Send,
{
    called(concurrency, Instant::now() + WARM_UP, time, call).await
}

/// The same, and what the processes use in that time.
pub(crate) async fn metered<C, F>(
    concurrency: usize,
    time: Duration,
    meters: &Meters,
    call: C,
) -> Result<Metered, Problem>
where
    C: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = Result<(), Problem>> + Send,
{
    let start = Instant::now() + WARM_UP;
    let read_at = async |at: Instant| {
        tokio::time::sleep_until(at.into()).await;
        meters.read()
    };
    let read = async { Ok::<_, Problem>((read_at(start).await?, read_at(start + time).await?)) };
    let (measured, read) = tokio::join!(called(concurrency, start, time, call), read);
    let (measured, (before, after)) = (measured?, read?);
    let used = after.per_call(&before, measured.per_second());
    Ok((measured, used))
}

async fn called<C, F>(concurrency: usize, start: Instant, time: Duration, call: C) -> Result<Measured, Problem>
where
    C: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = Result<(), Problem>> + Send,
{
    let end = start + time;
    let callers: Vec<_> = (0..concurrency)
        .map(|_| {
            let call = call.clone();
            tokio::spawn(async move { caller(call, start, end).await })
        })
        .collect();
    let mut latencies = Vec::new();
    for caller in callers {
        let own = caller.await.map_err(|error| Problem::Missing(format!("a caller that ends: {error}")))?;
        latencies.extend(own?);
    }
    latencies.sort_unstable();
    Ok(Measured { latencies, time })
}

async fn caller<C, F>(call: C, start: Instant, end: Instant) -> Result<Vec<u64>, Problem>
where
    C: Fn() -> F,
    F: Future<Output = Result<(), Problem>>,
{
    let mut latencies = Vec::new();
    loop {
        let before = Instant::now();
        if before >= end {
            return Ok(latencies);
        }
        call().await?;
        let after = Instant::now();
        // By its end alone: a call that began before is as good as one that ends after, and one of the two must count.
        if after >= start && after <= end {
            latencies.push(u64::try_from((after - before).as_micros()).unwrap_or(u64::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_the_sorted_calls() {
        let measured = Measured { latencies: (1..=200).collect(), time: Duration::from_secs(2) };
        assert_eq!((measured.percentile(50), measured.percentile(99), measured.per_second()), (101, 199, 100.0));
        let nothing = Measured { latencies: Vec::new(), time: Duration::from_secs(1) };
        assert_eq!((nothing.percentile(99), nothing.per_second()), (0, 0.0));
    }
}
