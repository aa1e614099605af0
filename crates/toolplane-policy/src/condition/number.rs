//! JSON numbers compared by their digits, so that 2^53 + 1 is not 2^53.

use std::cmp::Ordering;

/// A number as a sign, its digits without zeros at either end, and the power of ten of the point before the first digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    negative: bool,
    digits: Vec<u8>,
    power: i64,
}

impl Number {
    /// The number a JSON text spells; none when it spells none or one with an exponent beyond any use.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.strip_prefix('+').unwrap_or(exponent).parse::<i64>().ok()?)
            }
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let Some(first) = all.iter().position(|byte| *byte != b'0') else {
            return Some(Self { negative: false, digits: Vec::new(), power: 0 });
        };
        let last = all.iter().rposition(|byte| *byte != b'0').unwrap_or(first);
        let point = i64::try_from(whole.len()).ok()?.checked_sub(i64::try_from(first).ok()?)?;
        Some(Self { negative, digits: all[first..=last].to_vec(), power: point.checked_add(exponent)? })
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // The first digits are not zero, so the powers decide, then the digits from the left.
            (false, false) => self.power.cmp(&other.power).then_with(|| self.digits.cmp(&other.digits)),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Number;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn spellings_of_one_number_are_equal() {
        for (left, right) in [
            ("1", "1.0"),
            ("0", "-0"),
            ("0.0e5", "0"),
            ("100", "1e2"),
            ("1E+2", "1.00e2"),
            ("0.001", "1e-3"),
            ("1200e-2", "12"),
            ("-7.50", "-7.5"),
        ] {
            assert_eq!(number(left), number(right), "{left} {right}");
        }
    }

    #[test]
    fn neighbours_beyond_two_to_the_53_are_told_apart() {
        for (smaller, larger) in [
            ("9007199254740992", "9007199254740993"),
            ("18446744073709551616", "18446744073709551617"),
            ("-18446744073709551617", "-18446744073709551616"),
            ("-1", "0"),
            ("0", "1e-400"),
            ("1e308", "1e309"),
            ("9", "10"),
            ("0.09", "0.1"),
            ("123456789012345678901234567890.1", "123456789012345678901234567890.2"),
        ] {
            assert!(number(smaller) < number(larger), "{smaller} {larger}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "-", "x", "1.x", ".5", "1e", "1e99999999999999999999", "Infinity"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn integers_compare_as_integers(left: i128, right: i128) {
            prop_assert_eq!(number(&left.to_string()).cmp(&number(&right.to_string())), left.cmp(&right));
        }
    }
}
