//! JSON text with other texts in it: its form stays, only keys, texts and numbers change.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{JsonLimits, check};

/// What is to be rewritten as JSON is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not one JSON value")]
pub struct NotJson;

/// What becomes of the texts in JSON.
pub trait Rewrite {
    /// What stands in the place of `text`, which is as it is meant, without escapes; the very text where it stays. `member` is the
    /// key it is the value of, unless it is a key itself or an element of an array.
    fn text<'a>(&mut self, text: &'a str, member: Option<&str>) -> Cow<'a, str>;

    /// Whether `key` may be what became of several keys, so that an object may get it twice: then it gets a number.
    fn is_replacement(&self, key: &str) -> bool;
}

/// `text` with what `rewrite` makes of its keys, texts and numbers; the very text when it changes none. A number that is changed
/// becomes a text.
///
/// # Errors
///
/// [`NotJson`] when `text` is not one JSON value.
pub fn rewrite<'a>(text: &'a str, rewrite: &mut dyn Rewrite) -> Result<Cow<'a, str>, NotJson> {
    let limits = JsonLimits { max_bytes: usize::MAX, max_nodes: usize::MAX, ..JsonLimits::default() };
    check(text.as_bytes(), &limits).map_err(|_| NotJson)?;
    let mut tokens = Tokens { rewrite, text, out: String::new(), copied: 0, keys: BTreeSet::new(), member: None };
    tokens.all();
    Ok(tokens.done())
}

/// Goes through the tokens of JSON text that is known to be right.
struct Tokens<'m, 'a> {
    rewrite: &'m mut dyn Rewrite,
    text: &'a str,
    out: String,
    /// Everything before it is in `out`.
    copied: usize,
    /// Keys that look like replacements, so that no object gets one twice.
    keys: BTreeSet<String>,
    /// The key whose value comes next.
    member: Option<String>,
}

impl<'a> Tokens<'_, 'a> {
    fn all(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at = match byte {
                b'"' => {
                    let end = end_of_text(bytes, at);
                    self.text(at, end);
                    end
                }
                b'-' | b'0'..=b'9' => {
                    let end = bytes[at..].iter().position(|byte| !is_of_number(*byte)).map_or(bytes.len(), |n| at + n);
                    self.number(at, end);
                    end
                }
                b'{' | b'[' | b',' => {
                    self.member = None;
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    fn text(&mut self, start: usize, end: usize) {
        let token = &self.text[start..end];
        let Ok(meant) = serde_json::from_str::<Cow<'_, str>>(token) else { return };
        let member = self.member.take();
        let mut written = self.rewrite.text(&meant, member.as_deref());
        // Somebody may have put it between quotes without escaping it, so that it means something else.
        if matches!(written, Cow::Borrowed(_)) && meant.len() + 2 != token.len() {
            let inside = &token[1..token.len() - 1];
            if let Cow::Owned(inside) = self.rewrite.text(inside, member.as_deref()) {
                written = Cow::Owned(inside);
            }
        }
        let is_key = self.text[end..].trim_ascii_start().starts_with(':');
        if is_key {
            self.member = Some(meant.clone().into_owned());
        }
        if is_key && self.rewrite.is_replacement(&written) {
            let unique = self.unique(&written);
            if unique != written {
                written = Cow::Owned(unique);
            }
        }
        if let Cow::Owned(written) = written {
            self.replace(start, end, &written);
        }
    }

    fn number(&mut self, start: usize, end: usize) {
        let member = self.member.take();
        if let Cow::Owned(written) = self.rewrite.text(&self.text[start..end], member.as_deref()) {
            self.replace(start, end, &written);
        }
    }

    fn unique(&mut self, key: &str) -> String {
        let mut unique = key.to_owned();
        let mut number = 1;
        while !self.keys.insert(unique.clone()) {
            number += 1;
            unique = format!("{key} {number}");
        }
        unique
    }

    fn replace(&mut self, start: usize, end: usize, text: &str) {
        self.out.push_str(&self.text[self.copied..start]);
        // A text is always JSON.
        self.out.push_str(&serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned()));
        self.copied = end;
    }

    fn done(mut self) -> Cow<'a, str> {
        if self.copied == 0 {
            return Cow::Borrowed(self.text);
        }
        self.out.push_str(&self.text[self.copied..]);
        Cow::Owned(self.out)
    }
}

/// The end of the text whose opening quote is at `start`.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes out what begins with `x`, and every value of `secret`.
    struct Test;

    impl Rewrite for Test {
        fn text<'a>(&mut self, text: &'a str, member: Option<&str>) -> Cow<'a, str> {
            match text.starts_with('x') || member == Some("secret") {
                true => Cow::Owned("[out]".to_owned()),
                false => Cow::Borrowed(text),
            }
        }

        fn is_replacement(&self, key: &str) -> bool {
            key == "[out]"
        }
    }

    fn rewritten(text: &str) -> String {
        rewrite(text, &mut Test).unwrap().into_owned()
    }

    #[test]
    fn texts_keys_and_values_of_members_change_and_nothing_else_does() {
        assert_eq!(rewritten(r#"{"a": "x1", "b": [ "y", "xx" ]}"#), r#"{"a": "[out]", "b": [ "y", "[out]" ]}"#);
        assert_eq!(rewritten(r#"{"x1":1,"x2":2}"#), r#"{"[out]":1,"[out] 2":2}"#);
        assert_eq!(rewritten(r#"{"secret":12, "more":12}"#), r#"{"secret":"[out]", "more":12}"#);
        let nested = r#"{"secret":["y"],"s":{"secret":null,"t":"y"}}"#;
        assert_eq!(rewritten(nested), nested, "what is no text and no number is no value to take out");
        assert!(matches!(rewrite("[1, \"y\"]", &mut Test), Ok(Cow::Borrowed(_))));
        assert_eq!(rewrite("[1", &mut Test), Err(NotJson));
    }

    #[test]
    fn escapes_are_read_before_a_text_is_looked_at() {
        assert_eq!(rewritten(r#"["\u0078y", "a\"x"]"#), r#"["[out]", "a\"x"]"#);
    }
}
