//! Spans of time as typed: `90s`, `30m`, `12h`, `7d`, `2w`.

use std::time::Duration;

use super::argument::ArgumentError;

/// Seconds of a number with a unit; nothing when it is no such thing.
pub(crate) fn span(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    let number = number.parse::<u64>().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(number.saturating_mul(unit))
}

/// A span of time, or the rule that is broken.
pub(crate) fn duration(text: &str) -> Result<Duration, ArgumentError> {
    let seconds = span(text).ok_or(ArgumentError::NotASpan)?;
    // Longer than any process lives, and short enough to be added to any clock.
    Ok(Duration::from_secs(seconds.min(10 * 365 * 86_400)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let table = [("90s", 90), ("30m", 1_800), ("12h", 43_200), ("7d", 604_800), ("2w", 1_209_600)];
        for (text, seconds) in table {
            assert_eq!(span(text), Some(seconds), "{text}");
        }
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("soon").is_err());
        for text in ["", "7", "d", "+7d", "-7d", "7 d", "7days", "é"] {
            assert_eq!(span(text), None, "{text}");
        }
    }
}
