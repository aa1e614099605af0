//! How long an answer may wait for the end of a call.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tonic::metadata::MetadataMap;
use toolplane_proto::v1;
use toolplane_runtime::draining;

/// Longest single wait.
const MAX_WAIT_MS: u32 = 60_000;
/// The wait when the caller does not say.
const DEFAULT_WAIT_MS: u32 = 30_000;
/// The most of a deadline that is left for the way back.
const MAX_WAY_BACK: Duration = Duration::from_millis(500);

/// How long a caller that asks for `wait_ms` waits; 0 is the server's own.
pub(super) fn of(wait_ms: u32) -> Duration {
    let millis = if wait_ms == 0 { DEFAULT_WAIT_MS } else { wait_ms.min(MAX_WAIT_MS) };
    Duration::from_millis(millis.into())
}

/// The same for a caller that goes away after `left`: the answer is to reach it before.
pub(super) fn within(wait: Duration, left: Option<Duration>) -> Duration {
    left.map_or(wait, |left| wait.min(left - MAX_WAY_BACK.min(left / 5)))
}

/// How a wait for the end of a call went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Waited<T> {
    /// There is something to answer.
    Done(T),
    /// For as long as was agreed.
    InVain,
    /// This process is told to stop; see [`draining`].
    CutShort,
}

impl<T> Waited<T> {
    /// What the caller of a call that has not ended is told of the wait.
    pub(super) fn cut_short(&self) -> Option<v1::CutShort> {
        let (reason, retry_after_ms) = draining::cut_short();
        matches!(self, Self::CutShort).then(|| v1::CutShort { reason: reason.to_owned(), retry_after_ms })
    }
}

/// Waits for `end`, at most until `until`, and no longer than this process is there.
pub(super) async fn wait<T>(
    until: Instant,
    drains: &CancellationToken,
    end: impl Future<Output = T> + Send,
) -> Waited<T> {
    match draining::wait(drains, timeout_at(until, end)).await {
        Some(Ok(done)) => Waited::Done(done),
        Some(Err(_)) => Waited::InVain,
        None => Waited::CutShort,
    }
}

/// What was left of the caller's deadline when it sent the request (`grpc-timeout`); `None` when it has none, or it cannot be
/// read: then the transport decides.
pub(super) fn left(metadata: &MetadataMap) -> Option<Duration> {
    let text = metadata.get("grpc-timeout")?.to_str().ok()?;
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let digits = (1..=8).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|_| digits)?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_bounded_and_leave_time_for_the_way_back() {
        let millis = Duration::from_millis;
        assert_eq!([of(0), of(5), of(u32::MAX)], [millis(30_000), millis(5), millis(60_000)]);
        for (left, wait) in
            [(None, 30_000), (Some(60_000), 30_000), (Some(10_000), 9_500), (Some(100), 80), (Some(0), 0)]
        {
            assert_eq!(within(of(0), left.map(millis)), millis(wait), "{left:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_with_what_it_waits_for_its_time_or_the_process() {
        let drains = CancellationToken::new();
        let until = Instant::now() + of(0);
        assert_eq!(wait(until, &drains, std::future::ready(1)).await, Waited::Done(1));
        let in_vain = wait(until, &drains, std::future::pending::<()>()).await;
        assert_eq!((in_vain.cut_short(), in_vain), (None, Waited::InVain));
        drains.cancel();
        let cut = wait(Instant::now() + of(0), &drains, std::future::pending::<()>()).await;
        let told = v1::CutShort { reason: "DRAINING".to_owned(), retry_after_ms: 1000 };
        assert_eq!((cut.cut_short(), cut), (Some(told), Waited::CutShort));
    }

    #[test]
    fn deadlines_are_read_as_they_are_sent() {
        let read = |text: &str| {
            let mut metadata = MetadataMap::new();
            metadata.insert("grpc-timeout", text.parse().unwrap());
            left(&metadata)
        };
        let seconds = Duration::from_secs;
        let known = [("1H", seconds(3600)), ("2M", seconds(120)), ("3S", seconds(3)), ("4000m", seconds(4))];
        for (text, expected) in
            known.into_iter().chain([("5000000u", seconds(5)), ("99999999n", Duration::from_nanos(99_999_999))])
        {
            assert_eq!(read(text), Some(expected), "{text}");
        }
        for wrong in ["", "S", "1", "-1S", "+1S", "1x", "123456789S", "1.5S"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(left(&MetadataMap::new()), None);
    }
}
