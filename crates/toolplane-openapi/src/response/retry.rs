//! When a server wants to be asked again.

use jiff::fmt::rfc2822;
use toolplane_records::time::Timestamp;

use super::header;

/// Milliseconds to wait by `Retry-After`, which is a number of seconds or a date; none when it says neither.
pub fn retry_after_ms(headers: &[(String, String)], now: Timestamp) -> Option<u64> {
    let said = header(headers, "retry-after")?;
    if !said.is_empty() && said.bytes().all(|byte| byte.is_ascii_digit()) {
        // What no number holds is a long time.
        return Some(said.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(1000));
    }
    let date = rfc2822::parse(said).ok()?;
    Some(until(date.timestamp().as_millisecond(), now))
}

/// Milliseconds until a limit that is used up begins anew, as many servers say it: none when it is not used up.
pub(super) fn rate_limit_reset_ms(headers: &[(String, String)], now: Timestamp) -> Option<u64> {
    let remaining = header(headers, "x-ratelimit-remaining").or_else(|| header(headers, "ratelimit-remaining"))?;
    if remaining != "0" {
        return None;
    }
    if let Some(seconds) = header(headers, "ratelimit-reset").and_then(|said| said.parse::<u64>().ok()) {
        return Some(seconds.saturating_mul(1000));
    }
    let at = header(headers, "x-ratelimit-reset")?.parse::<i64>().ok()?;
    Some(until(at.saturating_mul(1000), now))
}

fn until(millis: i64, now: Timestamp) -> u64 {
    u64::try_from(millis.saturating_sub(now.as_millis())).unwrap_or(0)
}
