//! Until when a rule holds, as typed: `90s`, `30m`, `12h`, `7d`, `2w`, or an instant.

use prost_types::Timestamp;
use toolplane_runtime::clock;

use crate::cli::argument::ArgumentError;
use crate::cli::span::span;

/// Reads a time from now on, by this machine's clock, or an instant such as `2026-12-24T18:00:00Z`.
pub(super) fn parse(text: &str) -> Result<Timestamp, ArgumentError> {
    if let Some(seconds) = span(text) {
        let now = clock::since_epoch().as_secs();
        return instant(i64::try_from(now.saturating_add(seconds)).ok());
    }
    let given = text.parse::<jiff::Timestamp>();
    given
        .map(|at| Timestamp { seconds: at.as_second(), nanos: at.subsec_nanosecond() })
        .map_err(|_| ArgumentError::NotAnExpiry)
}

fn instant(seconds: Option<i64>) -> Result<Timestamp, ArgumentError> {
    // An instant JSON can write: before the year 10000.
    let seconds = seconds.filter(|&seconds| seconds < 253_402_300_800);
    seconds.map(|seconds| Timestamp { seconds, nanos: 0 }).ok_or(ArgumentError::TooFarAway)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_and_nonsense_is_refused() {
        assert_eq!(parse("2026-12-24T18:00:00Z").unwrap().seconds, 1_798_135_200);
        assert!(parse("7d").unwrap().seconds > 1_700_000_000);
        for text in ["tomorrow", "7", "18446744073709551615d", "2026-12-24"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
