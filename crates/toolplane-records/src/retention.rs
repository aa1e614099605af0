//! How long outputs are kept, in the words of a tool's author (`retention_hint`).

/// Units, with their milliseconds.
const UNITS: &[(char, i64)] = &[('s', 1_000), ('m', 60_000), ('h', 3_600_000), ('d', 86_400_000), ('w', 604_800_000)];

/// As long as outputs are usually kept.
const USUAL: &str = "default";

/// How many milliseconds a hint says; none for `default`.
///
/// # Errors
///
/// The rule that `hint` breaks, where it says no time.
pub fn keep_ms(hint: &str) -> Result<Option<i64>, &'static str> {
    if hint == USUAL {
        return Ok(None);
    }
    let read = || {
        let unit = hint.chars().last()?;
        let (_, ms) = UNITS.iter().find(|(known, _)| *known == unit)?;
        let digits = hint.strip_suffix(unit).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let count = digits.parse::<i64>().ok().filter(|count| *count > 0)?;
        count.checked_mul(*ms)
    };
    read().map(Some).ok_or("must be `default`, or a number above 0 with one of the units s, m, h, d, w, e.g. `7d`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_a_number_and_a_unit() {
        let hints = [("default", None), ("90s", Some(90_000)), ("12h", Some(43_200_000)), ("2w", Some(1_209_600_000))];
        for (hint, ms) in hints {
            assert_eq!(keep_ms(hint), Ok(ms), "{hint}");
        }
        for hint in ["", "d", "0d", "-1d", "+1d", "1.5h", "1 d", "session", "7", "7é", "9223372036854775807w"] {
            assert!(keep_ms(hint).is_err(), "{hint}");
        }
    }
}
