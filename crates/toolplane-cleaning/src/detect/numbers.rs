//! Numbers that carry a check of their own.

/// The digits of a number, without what is written between them.
fn digits(text: &[u8]) -> impl DoubleEndedIterator<Item = u32> + Clone {
    text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
}

/// A card: 13 to 19 digits of a known issuer with the check of ISO 7812.
pub(super) fn is_card(text: &[u8]) -> bool {
    let all: Vec<u32> = digits(text).collect();
    if !(13..=19).contains(&all.len()) || !is_in_groups(text) || all.iter().all(|digit| *digit == all[0]) {
        return false;
    }
    let begin = |count: usize| all[..count].iter().fold(0, |number, digit| number * 10 + digit);
    let issuer = match all[0] {
        4 => matches!(all.len(), 13 | 16),
        5 => (51..=55).contains(&begin(2)) && all.len() == 16,
        2 => (2221..=2720).contains(&begin(4)) && all.len() == 16,
        3 => {
            (matches!(begin(2), 34 | 37) && all.len() == 15)
                || (matches!(begin(2), 30 | 36 | 38) && all.len() == 14)
                || (begin(2) == 35 && all.len() == 16)
        }
        6 => {
            (begin(2) == 62 && all.len() >= 16)
                || ((begin(4) == 6011 || begin(2) == 65 || begin(2) == 64) && all.len() == 16)
        }
        _ => false,
    };
    issuer && passes_luhn(&all)
}

/// Cards are written in one piece, or in groups as they are printed: a date after a number is none.
fn is_in_groups(text: &[u8]) -> bool {
    let mut groups = text.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len).rev();
    let last = groups.next().unwrap_or_default();
    groups.all(|length| (4..=6).contains(&length)) && last >= 3
}

fn passes_luhn(all: &[u32]) -> bool {
    let sum: u32 = all
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { *digit } else { digit * 2 / 10 + digit * 2 % 10 })
        .sum();
    sum.is_multiple_of(10)
}

/// An identity number of the People's Republic of China: region, day of birth, and the check of GB 11643.
pub(super) fn is_chinese_id(text: &[u8]) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECKS: &[u8; 11] = b"10X98765432";
    let text: Vec<u8> = text.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    if text.len() != 18 {
        return false;
    }
    let all: Vec<u32> = digits(&text[..17]).collect();
    if all.len() != 17 {
        return false;
    }
    let number = |range: std::ops::Range<usize>| all[range].iter().fold(0, |number, digit| number * 10 + digit);
    let born = (1850..=2100).contains(&number(6..10))
        && (1..=12).contains(&number(10..12))
        && (1..=31).contains(&number(12..14));
    let region = (11..=83).contains(&number(0..2));
    let sum: u32 = all.iter().zip(WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    born && region && text[17].to_ascii_uppercase() == CHECKS[(sum % 11) as usize]
}

/// A social security number of the United States: parts that are given to people.
pub(super) fn is_social_security(text: &[u8]) -> bool {
    let all: Vec<u32> = digits(text).collect();
    let number = |range: std::ops::Range<usize>| all[range].iter().fold(0, |number, digit| number * 10 + digit);
    all.len() == 9 && !matches!(number(0..3), 0 | 666 | 900..) && number(3..5) != 0 && number(5..9) != 0
}

/// An international bank account number with the check of ISO 13616.
pub(super) fn is_bank_account(text: &[u8]) -> bool {
    let plain: Vec<u8> = text.iter().filter(|byte| **byte != b' ').map(u8::to_ascii_uppercase).collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let turned = plain[4..].iter().chain(&plain[..4]);
    let rest = turned.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1
}

/// A telephone number that says its country: as many digits as E.164 allows.
pub(super) fn is_international(text: &[u8]) -> bool {
    // A coordinate with its sign is a fraction.
    let fraction = text.contains(&b'.') && text[1..].iter().filter(|byte| !byte.is_ascii_digit()).count() == 1;
    // A date after a year with its sign is one of the far future.
    let mut parts = text.split(|byte| *byte == b'-').map(<[u8]>::len);
    let date = parts.next().is_some_and(|year| year >= 6) && parts.next() == Some(2);
    (8..=15).contains(&digits(text).count()) && !fraction && !date
}

/// A mobile number of China. 16 GiB are none.
pub(super) fn is_chinese_mobile(text: &[u8]) -> bool {
    text != b"17179869184"
}

/// A telephone number that is said to be one: written in groups, as numbers of other things are not, and with few enough digits.
pub(super) fn is_named_telephone(text: &[u8]) -> bool {
    let grouped = text.iter().any(|byte| b" -()".contains(byte));
    (7..=15).contains(&digits(text).count()) && grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_check_digit_is_no_number() {
        for card in
            ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005", "6011000990139424", "6222021234567890123"]
        {
            let last = card.len() - 1;
            let other = char::from(b'0' + (card.as_bytes()[last] - b'0' + 1) % 10);
            assert!(!is_card(format!("{}{other}", &card[..last]).as_bytes()) || !is_card(card.as_bytes()), "{card}");
        }
        assert!(is_card(b"4111 1111 1111 1111") && is_card(b"378282246310005") && is_card(b"5555555555554444"));
        assert!(!is_card(b"1111111111111111") && !is_card(b"4111111111111112"));
        assert!(is_chinese_id(b"110105-19491231-002X"));
        assert!(is_chinese_id(b"11010519491231002X") && !is_chinese_id(b"110105194912310021"));
        assert!(
            is_social_security(b"123-45-6789")
                && !is_social_security(b"666-45-6789")
                && !is_social_security(b"900-45-6789")
        );
        assert!(is_bank_account(b"DE89 3704 0044 0532 0130 00") && !is_bank_account(b"DE89 3704 0044 0532 0130 01"));
        assert!(is_international(b"+49 30 901820") && !is_international(b"+1 234"));
    }

    #[test]
    fn numbers_of_other_things_are_none() {
        assert!(is_card(b"3782 822463 10005") && !is_card(b"4-0125-2026-01-01"));
        assert!(is_international(b"+49.30.901820") && !is_international(b"+31.230416"));
        assert!(!is_international(b"+10000-09-09 01") && !is_chinese_mobile(b"17179869184"));
        assert!(is_named_telephone(b"(555) 010-9876") && !is_named_telephone(b"13800138001"));
    }
}
