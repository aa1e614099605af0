//! Data of persons, as far as it has a form.

use super::Rule;
use super::numbers::{
    is_bank_account, is_card, is_chinese_id, is_chinese_mobile, is_international, is_named_telephone,
    is_social_security,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        // A user in a URL is none who gets mail.
        before: |before| !before.ends_with(b"://"),
        ..Rule::checked("email", r"(?i-u)\b[a-z0-9][a-z0-9._%+-]*(?:@|%40)(?:[a-z0-9-]+\.)+[a-z]{2,24}\b", is_address)
    },
    Rule::checked(
        "chinese_mobile",
        r"(?-u)(?:^|[^0-9A-Za-z_+.-])(?P<v>(?:(?:\+|00)?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4})(?:$|[^0-9A-Za-z_.]|\.(?:$|[^0-9]))",
        is_chinese_mobile,
    ),
    Rule::new(
        "chinese_telephone",
        r"(?-u)(?:^|[^0-9A-Za-z_+./-])(?P<v>(?:0(?:10|2[0-9])[ -][2-8][0-9]{3}|0[3-9][0-9]{2}[ -][2-8][0-9]{2,3})[ -]?[0-9]{4})(?:$|[^0-9A-Za-z_.-]|\.(?:$|[^0-9]))",
    ),
    Rule::checked(
        "telephone",
        r"(?-u)(?:^|[^0-9A-Za-z_+])(?P<v>\+[1-9][0-9]{0,2}[ .-]?\(?[0-9]{1,4}\)?(?:[ .-]?[0-9]{2,4}){2,4})\b",
        is_international,
    ),
    Rule::new(
        "american_telephone",
        r"(?-u)(?:^|[^0-9A-Za-z_.-])(?P<v>(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[2-9][0-9]{2}[ .-][0-9]{4})\b",
    ),
    Rule::checked(
        "named_telephone",
        r#"(?i-u)(?:\b(?:phone|telephone|tel|mobile|cell|fax)(?: ?(?:no|number))?|电话|手机|座机|传真)\.?["']?\s{0,3}(?:[:=]|：)\s{0,3}["']?(?P<v>\+?[0-9(][0-9 ()/-]{6,18}[0-9])\b"#,
        is_named_telephone,
    ),
    Rule::checked(
        "chinese_id",
        // In names of files and keys it has low lines beside it.
        r"(?-u)(?:\b|_)(?P<v>[1-8][0-9]{5}[ -]?[0-9]{8}[ -]?[0-9]{3}[0-9Xx])(?:\b|_)",
        is_chinese_id,
    ),
    Rule {
        before: stands_alone,
        ..Rule::checked("social_security", r"(?-u)\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", is_social_security)
    },
    // Nine digits are many things, unless they are said to be this.
    Rule::checked(
        "named_social_security",
        r#"(?i-u)(?:\b|_)(?:ssn|social[ _-]?security(?:[ _-]?(?:number|no\.?|num|#))?)["']?(?:\s{0,3}(?:[:=#]|is\b)\s{0,3}|\s{1,3})["']?(?P<v>[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4})\b"#,
        is_social_security,
    ),
    Rule { before: stands_alone, ..Rule::checked("card", r"(?-u)\b[2-6](?:[ -]?[0-9]){12,18}\b", is_card) },
    Rule::checked(
        "bank_account",
        r"(?-u)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b",
        is_bank_account,
    ),
];

/// Whether a number is no part of a longer one, such as a fraction or a version.
fn stands_alone(before: &[u8]) -> bool {
    !before.ends_with(b"-") && !before.ends_with(b".") && !before.ends_with(b"/")
}

/// Whether somebody may get mail there: units of systemd, packages, images and repositories are written in the same way.
fn is_address(text: &[u8]) -> bool {
    const ENDS: &[&[u8]] = &[
        b"png", b"jpg", b"jpeg", b"gif", b"svg", b"webp", b"avif", b"ico", b"css", b"js", b"mjs", b"ts", b"json",
        b"yaml", b"service", b"socket", b"target", b"timer", b"mount", b"scope", b"slice", b"device", b"swap",
    ];
    let end = text.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    !text.starts_with(b"git@") && !ENDS.iter().any(|known| end.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_files_get_no_mail() {
        assert!(is_address(b"mia@example.org") && is_address(b"mia%40example.com"));
        for text in ["getty@tty1.service", "logo@2x.png", "git@example.org"] {
            assert!(!is_address(text.as_bytes()), "{text}");
        }
        assert!(stands_alone(b"card ") && !stands_alone(b"0.") && !stands_alone(b"gpt-"));
    }
}
