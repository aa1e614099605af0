//! How long an answer may wait for the end of a call.

use std::time::Duration;

use tonic::metadata::MetadataMap;

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
