//! Data of persons, as far as it has a form.

use super::Rule;
use super::numbers::{is_bank_account, is_card, is_chinese_id, is_international, is_social_security};

pub(super) const RULES: &[Rule] = &[
    Rule::checked("email", r"(?i-u)\b[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}\b", |text| {
        !text.starts_with(b"git@") && !text.ends_with(b".png") && !text.ends_with(b".jpg")
    }),
    Rule::new(
        "chinese_mobile",
        r"(?-u)(?:^|[^0-9A-Za-z_+.-])(?P<v>(?:(?:\+|00)?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4})\b",
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
    Rule::checked("chinese_id", r"(?-u)\b[1-8][0-9]{16}[0-9Xx]\b", is_chinese_id),
    Rule::checked("social_security", r"(?-u)\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", is_social_security),
    Rule::checked("card", r"(?-u)\b[2-6](?:[ -]?[0-9]){12,18}\b", is_card),
    Rule::checked(
        "bank_account",
        r"(?-u)\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b",
        is_bank_account,
    ),
];
