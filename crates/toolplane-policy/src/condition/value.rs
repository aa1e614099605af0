//! Looking into an input without reading it as a whole: numbers keep their digits.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toolplane_records::payload::JsonPayload;

use super::number::Number;
use toolplane_records::payload::REDACTED;

/// One input and what was found in it.
#[derive(Debug)]
pub struct CallInput<'a> {
    payload: &'a JsonPayload,
    redacted: &'a [String],
    found: RefCell<Vec<(String, ValueLookup<'a>)>>,
}

/// What a pointer leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueLookup<'a> {
    /// Nothing.
    Absent,
    /// It cannot be told: something above it is not shown, or the input cannot be read.
    Unknown,
    /// Something that is not shown.
    Hidden,
    /// This value.
    Value(Scalar<'a>),
}

/// A value as conditions compare it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Number(Number),
    Text(Cow<'a, str>),
    Bool(bool),
    Null,
    /// An array or object; only compared as a whole.
    Tree(Tree<'a>),
}

/// The text of an array or object. Equal are those of the same value: the order of members, white space and the spelling of
/// texts do not count, every digit of a number does.
#[derive(Clone, Debug)]
pub(crate) struct Tree<'a>(Cow<'a, str>);

impl PartialEq for Tree<'_> {
    fn eq(&self, other: &Self) -> bool {
        is_same(&self.0, &other.0)
    }
}

fn is_same(left: &str, right: &str) -> bool {
    type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;
    let (left, right) = (left.trim(), right.trim());
    match (left.as_bytes().first(), right.as_bytes().first()) {
        (Some(b'{'), Some(b'{')) => match (serde_json::from_str(left), serde_json::from_str(right)) {
            (Ok::<Members<'_>, _>(left), Ok::<Members<'_>, _>(right)) => {
                let same = |name: &Cow<'_, str>, value: &RawValue| {
                    right.get(name).is_some_and(|other| is_same(value.get(), other.get()))
                };
                left.len() == right.len() && left.iter().all(|(name, value)| same(name, value))
            }
            _ => false,
        },
        (Some(b'['), Some(b'[')) => match (serde_json::from_str(left), serde_json::from_str(right)) {
            (Ok::<Vec<&RawValue>, _>(left), Ok::<Vec<&RawValue>, _>(right)) => {
                left.len() == right.len()
                    && left.iter().zip(right).all(|(left, right)| is_same(left.get(), right.get()))
            }
            _ => false,
        },
        _ => match (Scalar::read(left), Scalar::read(right)) {
            (Some(Scalar::Tree(_)), _) | (_, Some(Scalar::Tree(_))) | (None, _) | (_, None) => false,
            (left, right) => left == right,
        },
    }
}

// === impl Input ===

impl<'a> CallInput<'a> {
    /// An input whose values at the `redacted` pointers (and below) are not shown.
    pub fn new(payload: &'a JsonPayload, redacted: &'a [String]) -> Self {
        Self { payload, redacted, found: RefCell::new(Vec::new()) }
    }

    /// What `pointer` leads to; looked up once.
    pub(crate) fn at(&self, pointer: &str) -> ValueLookup<'a> {
        if let Some((_, found)) = self.found.borrow().iter().find(|(known, _)| known == pointer) {
            return found.clone();
        }
        let found = self.look(pointer);
        self.found.borrow_mut().push((pointer.to_owned(), found.clone()));
        found
    }

    fn look(&self, pointer: &str) -> ValueLookup<'a> {
        let Ok(mut raw) = self.payload.parse::<&'a RawValue>() else { return ValueLookup::Unknown };
        for token in pointer.split('/').skip(1) {
            match step(raw, &token.replace("~1", "/").replace("~0", "~")) {
                Some(inner) => raw = inner,
                None if is_marker(raw) => return ValueLookup::Unknown,
                None => return ValueLookup::Absent,
            }
        }
        if is_marker(raw) || self.redacted.iter().any(|hidden| is_at_or_below(pointer, hidden)) {
            return ValueLookup::Hidden;
        }
        match Scalar::read(raw.get()) {
            // Of a value with hidden parts it cannot be told whether it is another one.
            Some(Scalar::Tree(_)) if raw.get().contains(REDACTED) || self.hides_below(pointer) => ValueLookup::Hidden,
            read => read.map_or(ValueLookup::Unknown, ValueLookup::Value),
        }
    }

    fn hides_below(&self, pointer: &str) -> bool {
        let begins = |hidden: &String| hidden.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'));
        self.redacted.iter().any(|hidden| begins(hidden) || hidden.contains('*'))
    }
}

fn is_marker(raw: &RawValue) -> bool {
    raw.get().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) == Some(REDACTED)
}

/// Whether `pointer` points at what `above` points at, or into it. A `*` in `above` stands for any one name.
fn is_at_or_below(pointer: &str, above: &str) -> bool {
    let mut tokens = pointer.split('/');
    above.split('/').all(|wanted| tokens.next().is_some_and(|token| wanted == "*" || token == wanted))
}

fn step<'a>(raw: &'a RawValue, token: &str) -> Option<&'a RawValue> {
    match raw.get().as_bytes().first()? {
        b'{' => {
            let members: BTreeMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(raw.get()).ok()?;
            members.get(token).copied()
        }
        b'[' => {
            let index: usize = token.parse().ok()?;
            // `01` and `+1` are not indexes.
            let spelt = index.to_string() == token;
            let items: Vec<&'a RawValue> = serde_json::from_str(raw.get()).ok()?;
            items.get(index).copied().filter(|_| spelt)
        }
        _ => None,
    }
}

// === impl Scalar ===

impl<'a> Scalar<'a> {
    /// Reads one JSON value; none when it is none.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let text = text.trim();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            b't' | b'f' => serde_json::from_str(text).ok().map(Self::Bool),
            b'n' => Some(Self::Null),
            b'{' | b'[' => Some(Self::Tree(Tree(Cow::Borrowed(text)))),
            _ => Number::parse(text).map(Self::Number),
        }
    }

    /// The same value on its own.
    pub(crate) fn into_owned(self) -> Scalar<'static> {
        match self {
            Self::Number(number) => Scalar::Number(number),
            Self::Text(text) => Scalar::Text(Cow::Owned(text.into_owned())),
            Self::Bool(value) => Scalar::Bool(value),
            Self::Null => Scalar::Null,
            Self::Tree(Tree(text)) => Scalar::Tree(Tree(Cow::Owned(text.into_owned()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(input: &str, redacted: &[&str], pointer: &str) -> String {
        let payload = JsonPayload::from_checked(input.to_owned());
        let redacted: Vec<String> = redacted.iter().map(ToString::to_string).collect();
        format!("{:?}", CallInput::new(&payload, &redacted).at(pointer))
    }

    #[test]
    fn pointers_lead_to_values() {
        let input = r#"{"a":{"b/c":[1,"x"]},"":{"~":null}}"#;
        assert!(at(input, &[], "").contains("Tree"));
        assert!(at(input, &[], "/a/b~1c/1").contains("\"x\""));
        assert!(at(input, &[], "//~0").contains("Null"));
        for missing in ["/a/b", "/a/b~1c/2", "/a/b~1c/01", "/a/b~1c/1/0", "/x"] {
            assert_eq!(at(input, &[], missing), "Absent", "{missing}");
        }
    }

    #[test]
    fn trees_are_the_same_by_their_values() {
        let same = |left: &str, right: &str| Scalar::read(left) == Scalar::read(right);
        assert!(same(r#"{"a":1,"b":["x",null]}"#, r#"{ "b" : ["\u0078", null], "a": 1.0 }"#));
        for other in [
            r#"{"a":1}"#,
            r#"{"a":1,"b":["x",null],"c":0}"#,
            r#"{"a":1,"b":[null,"x"]}"#,
            r#"{"a":"1","b":["x",null]}"#,
            "[]",
        ] {
            assert!(!same(r#"{"a":1,"b":["x",null]}"#, other), "{other}");
        }
        assert!(!same(r#"{"n":18446744073709551617}"#, r#"{"n":18446744073709551618}"#));
        assert!(!same("{", "{"), "what cannot be read is the same as nothing");
    }

    #[test]
    fn what_is_not_shown_stays_hidden() {
        let input = r#"{"key":"[redacted]","list":[{"pin":4}],"whole":"[redacted]"}"#;
        assert_eq!(at(input, &[], "/key"), "Hidden");
        assert_eq!(at(input, &["/list/*/pin"], "/list/0/pin"), "Hidden");
        assert_eq!(at(input, &["/list"], "/list/0/pin"), "Hidden");
        assert_eq!(at(input, &[], ""), "Hidden", "a whole with a hidden part is not told apart");
        assert_eq!(at(r#"{"list":[{"pin":4}]}"#, &["/list/0/pin"], "/list"), "Hidden");
        assert_eq!(at(input, &[], "/whole/part"), "Unknown");
        assert_eq!(at("{", &[], "/a"), "Unknown");
    }
}
