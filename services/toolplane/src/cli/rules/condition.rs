//! Conditions on arguments as typed: `/path=prefix:/tmp`, `/limit=le:100`, `/force=absent`.

use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;

use crate::cli::argument::{ArgumentError, Words};
use crate::cli::output::payload_text;

/// The comparisons, and whether what follows them is always text.
const OPS: [(&str, bool); 10] = [
    ("eq", false),
    ("ne", false),
    ("in", false),
    ("not_in", false),
    ("lt", false),
    ("le", false),
    ("gt", false),
    ("ge", false),
    ("glob", true),
    ("prefix", true),
];

/// Reads `POINTER=OP:VALUE`, `POINTER=exists` or `POINTER=absent`. A value is JSON where it can be read as such, else text.
pub(super) fn parse(text: &str) -> Result<v1::ArgumentCondition, ArgumentError> {
    // A pointer may hold `=` itself, so the first one that is followed by a comparison counts.
    let places = text.match_indices('=').map(|(place, _)| (&text[..place], &text[place + 1..]));
    for (pointer, rest) in places {
        if let Some((op, value)) = comparison(rest) {
            check_pointer(pointer)?;
            return Ok(v1::ArgumentCondition { pointer: pointer.to_owned(), op, value });
        }
    }
    Err(ArgumentError::NoComparison(Words(OPS.iter().map(|(op, _)| *op).collect())))
}

fn comparison(rest: &str) -> Option<(String, Option<v1::JsonPayload>)> {
    if matches!(rest, "exists" | "absent") {
        return Some((rest.to_owned(), None));
    }
    let (op, value) = rest.split_once(':')?;
    let (_, text_only) = OPS.iter().find(|(name, _)| *name == op)?;
    Some((op.to_owned(), Some(json(value, *text_only))))
}

fn check_pointer(pointer: &str) -> Result<(), ArgumentError> {
    match pointer.starts_with('/') {
        true => Ok(()),
        false => Err(ArgumentError::NotAPointer(pointer.to_owned())),
    }
}

/// Text as JSON: itself where it is a JSON value and may be one, otherwise a string.
fn json(text: &str, text_only: bool) -> v1::JsonPayload {
    let is_json = !text_only && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let bytes = if is_json { text.to_owned() } else { serde_json::Value::from(text).to_string() };
    v1::JsonPayload { body: Some(Body::Inline(bytes.into())), ..Default::default() }
}

/// A condition as it is typed.
pub(super) fn describe(condition: &v1::ArgumentCondition) -> String {
    match payload_text(condition.value.as_ref()) {
        Some(value) => format!("{}={}:{value}", condition.pointer, condition.op),
        None => format!("{}={}", condition.pointer, condition.op),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_read_as_they_are_typed() {
        let table = [
            ("/path=prefix:/tmp", "/path", "prefix", Some("\"/tmp\"")),
            ("/limit=le:100", "/limit", "le", Some("100")),
            ("/limit=le:18446744073709551617", "/limit", "le", Some("18446744073709551617")),
            ("/mode=eq:fast", "/mode", "eq", Some("\"fast\"")),
            ("/mode=eq:\"100\"", "/mode", "eq", Some("\"100\"")),
            ("/mode=in:[\"a\",\"b\"]", "/mode", "in", Some("[\"a\",\"b\"]")),
            ("/name=glob:100", "/name", "glob", Some("\"100\"")),
            ("/a=b=eq:c=d", "/a=b", "eq", Some("\"c=d\"")),
            ("/force=absent", "/force", "absent", None),
        ];
        for (text, pointer, op, value) in table {
            let read = parse(text).unwrap();
            assert_eq!((read.pointer.as_str(), read.op.as_str()), (pointer, op), "{text}");
            assert_eq!(payload_text(read.value.as_ref()).as_deref(), value, "{text}");
        }
        assert_eq!(describe(&parse("/path=prefix:/tmp").unwrap()), "/path=prefix:\"/tmp\"");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "/path", "/path=/tmp", "path=eq:1", "/path=like:x", "/path=eq"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
