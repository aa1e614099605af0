//! JSON in one spelling for each value, for digests: keys in order, no white space, texts and numbers in one form.
//!
//! Two numbers have the same form when they are the same number, whatever their size and spelling: the digits without zeros at either
//! end, and the power of ten of the first one. Nothing is rounded.

use serde_json::value::RawValue;
use toolplane_records::json;

/// Writes the form of `text`, which is JSON that was checked: one value, keys once, not nested too deep. What is not JSON is written
/// as it is.
pub(crate) fn write(text: &str, to: &mut String) {
    let Ok(value) = serde_json::from_str::<&RawValue>(text) else { return to.push_str(text) };
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'{') => object(value, to),
        Some(b'[') => {
            to.push('[');
            for element in json::elements(value).unwrap_or_default() {
                write(element.get(), to);
                to.push(',');
            }
            to.push(']');
        }
        Some(b'"') => {
            let read: String = serde_json::from_str(text).unwrap_or_default();
            to.push_str(&serde_json::to_string(&read).unwrap_or_default());
        }
        Some(b'-' | b'0'..=b'9') => number(text, to),
        _ => to.push_str(text),
    }
}

fn object(value: &RawValue, to: &mut String) {
    let mut members = json::members(value).unwrap_or_default();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    to.push('{');
    for (key, value) in members {
        to.push_str(&serde_json::to_string(&key).unwrap_or_default());
        to.push(':');
        write(value.get(), to);
        to.push(',');
    }
    to.push('}');
}

/// Sign, significant digits, and the power of ten of the first digit after the point that stands before them.
fn number(text: &str, to: &mut String) {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let significant = digits.trim_matches('0');
    if significant.is_empty() {
        return to.push('0');
    }
    let Some(power) = exponent.parse::<i64>().ok().and_then(|exponent| {
        exponent.checked_add(i64::try_from(whole.len()).ok()?)?.checked_sub(i64::try_from(leading).ok()?)
    }) else {
        // A power no program can hold: its spelling is its form.
        return to.push_str(text);
    };
    if negative {
        to.push('-');
    }
    to.push_str(&format!("0.{significant}e{power}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn form(text: &str) -> String {
        let mut form = String::new();
        write(text, &mut form);
        form
    }

    #[test]
    fn one_number_has_one_form() {
        for same in [
            &["1", "1.0", "10e-1", "0.1E+1", "1.000"][..],
            &["0", "-0", "0.0", "0e9", "-0.00E-3"],
            &["-120", "-1.2e2", "-0.12E3"],
            &["12345678901234567890123", "12345678901234567890123.0"],
            &["1e400", "10e399"],
        ] {
            for spelling in same {
                assert_eq!(form(spelling), form(same[0]), "{spelling}");
            }
        }
        for (one, other) in [
            ("1", "10"),
            ("1", "-1"),
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1e400", "1e401"),
            ("1", "\"1\""),
        ] {
            assert_ne!(form(one), form(other), "{one} {other}");
        }
    }

    #[test]
    fn order_and_spelling_do_not_matter_and_order_of_elements_does() {
        let one = r#"{"b": [1, 2.0], "a": "\u0061\/\n", "c": {"z": null, "y": true}}"#;
        let same = r#"{"c":{"y":true,"z":null},"a":"a/\u000a","b":[1.0,2]}"#;
        assert_eq!(form(one), form(same));
        assert_ne!(form("[1,2]"), form("[2,1]"));
        assert_ne!(form(r#"{"a":1}"#), form(r#"{"a":1,"b":null}"#));
    }

    proptest! {
        #[test]
        fn moving_the_point_changes_nothing(digits in 1u64.., shift in 0usize..30, negative: bool) {
            let sign = if negative { "-" } else { "" };
            let plain = format!("{sign}{digits}");
            let moved = format!("{sign}{digits}{}e-{shift}", "0".repeat(shift));
            prop_assert_eq!(form(&plain), form(&moved));
        }

        #[test]
        fn different_integers_have_different_forms(one: i64, other: i64) {
            prop_assert_eq!(form(&one.to_string()) == form(&other.to_string()), one == other);
        }
    }
}
