//! The rows of the figures: what runs of a case measured, their medians, and how they are shown.

use serde::Serialize;

use crate::bench::load::Measured;
use crate::bench::meters::Used;

/// What one run measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Run {
    calls_per_s: f64,
    p50_us: f64,
    p99_us: f64,
    /// CPU of the processes that answer, for each call.
    server_cpu_us: f64,
    /// CPU of the process that calls; absent where it is also the one that answers.
    client_cpu_us: Option<f64>,
    /// CPU of the Redis server.
    redis_cpu_us: Option<f64>,
    /// Bytes the processes that answer wrote to disk for each call, at most: whole folios are counted.
    server_written_bytes: f64,
    /// Bytes the Redis server wrote.
    redis_written_bytes: Option<f64>,
    /// How often the processes that answer asked for memory, where they count.
    server_allocations: Option<f64>,
}

/// What was measured, and on what. 0 of what a case has none of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) case: &'static str,
    pub(super) store: &'static str,
    pub(super) schedulers: usize,
    pub(super) shards: usize,
}

/// A case with so many calls in flight, and the medians of its runs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) case: &'static str,
    pub(super) store: &'static str,
    pub(super) schedulers: usize,
    pub(super) shards: usize,
    pub(super) concurrency: usize,
    runs: usize,
    #[serde(flatten)]
    median: Run,
    /// Of the echo at the same concurrency.
    ratio_to_echo: f64,
    /// Of the bare commits at the same concurrency.
    ratio_to_bare: Option<f64>,
}

impl Run {
    pub(super) fn of(measured: &Measured, used: &Used) -> Self {
        Self {
            calls_per_s: measured.per_second(),
            p50_us: measured.percentile(50) as f64,
            p99_us: measured.percentile(99) as f64,
            server_cpu_us: used.server.cpu_us,
            client_cpu_us: used.client.map(|client| client.cpu_us),
            redis_cpu_us: used.redis.map(|redis| redis.cpu_us),
            server_written_bytes: used.server.written_bytes,
            redis_written_bytes: used.redis.map(|redis| redis.written_bytes),
            server_allocations: used.server.allocations,
        }
    }

    /// The median of each figure on its own; nothing of no runs.
    fn median(runs: &[Self]) -> Option<Self> {
        let some = |figure: fn(&Self) -> Option<f64>| median(runs.iter().filter_map(figure));
        let all = |figure: fn(&Self) -> f64| median(runs.iter().map(figure));
        Some(Self {
            calls_per_s: all(|run| run.calls_per_s)?,
            p50_us: all(|run| run.p50_us)?,
            p99_us: all(|run| run.p99_us)?,
            server_cpu_us: all(|run| run.server_cpu_us)?,
            client_cpu_us: some(|run| run.client_cpu_us),
            redis_cpu_us: some(|run| run.redis_cpu_us),
            server_written_bytes: all(|run| run.server_written_bytes)?,
            redis_written_bytes: some(|run| run.redis_written_bytes),
            server_allocations: some(|run| run.server_allocations),
        })
    }
}

impl Row {
    /// The row of these runs below those that are there already; nothing of no runs.
    pub(super) fn of(place: Place, concurrency: usize, runs: &[Run], earlier: &[Self]) -> Option<Self> {
        let Place { case, store, schedulers, shards } = place;
        let median = Run::median(runs)?;
        let ratio_to = |case: &str| {
            let row = earlier.iter().find(|row| row.case == case && row.concurrency == concurrency)?;
            Some(rounded(median.calls_per_s / row.median.calls_per_s, 4))
        };
        let (ratio_to_echo, ratio_to_bare) = (ratio_to("echo").unwrap_or(1.0), ratio_to("bare"));
        let row = Self {
            case,
            store,
            schedulers,
            shards,
            concurrency,
            runs: runs.len(),
            median,
            ratio_to_echo,
            ratio_to_bare,
        };
        Some(row.rounded())
    }

    fn rounded(mut self) -> Self {
        let Run { calls_per_s, p50_us, p99_us, server_cpu_us, server_written_bytes, .. } = &mut self.median;
        for figure in [calls_per_s, p50_us, p99_us, server_cpu_us, server_written_bytes] {
            *figure = rounded(*figure, 1);
        }
        let Run { client_cpu_us, redis_cpu_us, redis_written_bytes, server_allocations, .. } = &mut self.median;
        for figure in [client_cpu_us, redis_cpu_us, redis_written_bytes, server_allocations].into_iter().flatten() {
            *figure = rounded(*figure, 1);
        }
        self
    }
}

/// The middle of some figures, or what lies between the two in the middle; nothing of none.
fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    let upper = *figures.get(figures.len() / 2)?;
    let lower = *figures.get(figures.len().saturating_sub(1) / 2)?;
    Some((lower + upper) / 2.0)
}

fn rounded(figure: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (figure * unit).round() / unit
}

fn some(count: usize) -> String {
    if count == 0 { "-".to_owned() } else { count.to_string() }
}

/// Prints the rows: how fast, and what a call costs.
pub(super) fn show(rows: &[Row]) {
    println!(
        "case   store     schedulers  shards  in flight   calls/s     p50 ms     p99 ms   of echo   of bare commits"
    );
    for row in rows {
        println!(
            "{:<6} {:<9} {:>10} {:>7} {:>10} {:>9.0} {:>10.2} {:>10.2} {:>9.3}   {}",
            row.case,
            row.store,
            some(row.schedulers),
            some(row.shards),
            row.concurrency,
            row.median.calls_per_s,
            row.median.p50_us / 1000.0,
            row.median.p99_us / 1000.0,
            row.ratio_to_echo,
            row.ratio_to_bare.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
        );
    }
    println!("\nof each call        CPU us of the                      bytes written at most by allocations");
    println!("case    in flight   server    client     redis       server      redis        of the server");
    let shown = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.0}"));
    for Row { case, concurrency, median, .. } in rows {
        println!(
            "{case:<6} {concurrency:>10} {:>8.0} {:>9} {:>9} {:>12.0} {:>10} {:>20}",
            median.server_cpu_us,
            shown(median.client_cpu_us),
            shown(median.redis_cpu_us),
            median.server_written_bytes,
            shown(median.redis_written_bytes),
            shown(median.server_allocations),
        );
    }
    if let Some(runs) = rows.iter().map(|row| row.runs).find(|runs| *runs > 1) {
        println!("each figure is the median of {runs} runs");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(calls_per_s: f64, client_cpu_us: Option<f64>) -> Run {
        Run {
            calls_per_s,
            p50_us: 1.0,
            p99_us: 2.0,
            server_cpu_us: 3.0,
            client_cpu_us,
            redis_cpu_us: None,
            server_written_bytes: 4.0,
            redis_written_bytes: None,
            server_allocations: None,
        }
    }

    #[test]
    fn medians_are_taken_of_each_figure() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), Some(2.5));
        assert_eq!((median([7.0].into_iter()), median([].into_iter())), (Some(7.0), None));
        let runs = [run(30.0, Some(1.0)), run(10.0, Some(9.0)), run(20.0, Some(5.0))];
        let median = Run::median(&runs).unwrap();
        assert_eq!((median.calls_per_s, median.client_cpu_us, median.redis_cpu_us), (20.0, Some(5.0), None));
        assert!(Run::median(&[]).is_none());
    }

    #[test]
    fn ratios_are_those_of_medians_at_the_same_concurrency() {
        let echo = |concurrency, rate: f64, rows: &[Row]| {
            let place = Place { case: "echo", store: "none", schedulers: 0, shards: 0 };
            Row::of(place, concurrency, &[run(rate, None), run(rate, None), run(1e9, None)], rows).unwrap()
        };
        let rows = vec![echo(1, 50.0, &[]), echo(64, 400.0, &[])];
        let place = Place { case: "chain", store: "embedded", schedulers: 1, shards: 1 };
        let chain = Row::of(place, 64, &[run(100.0, None)], &rows).unwrap();
        assert_eq!((chain.ratio_to_echo, chain.ratio_to_bare), (0.25, None));
        let text = serde_json::to_value(&chain).unwrap();
        assert_eq!((text["calls_per_s"].as_f64(), text["runs"].as_u64()), (Some(100.0), Some(1)));
    }
}
