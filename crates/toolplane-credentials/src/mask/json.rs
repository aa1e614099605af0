//! Masking of JSON text: its form stays, only texts, keys and numbers change.

use std::borrow::Cow;
use std::collections::BTreeSet;

use toolplane_records::json::{self, JsonLimits};

use super::Mask;

/// What was to be masked as JSON is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not one JSON value")]
pub struct NotJson;

/// See [`Mask::json`].
pub(super) fn masked<'a>(mask: &Mask, text: &'a str) -> Result<Cow<'a, str>, NotJson> {
    let limits = JsonLimits { max_bytes: usize::MAX, max_nodes: usize::MAX, ..JsonLimits::default() };
    json::check(text.as_bytes(), &limits).map_err(|_| NotJson)?;
    if mask.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    let mut rewrite = Rewrite { mask, text, out: String::new(), copied: 0, keys: BTreeSet::new() };
    rewrite.all();
    Ok(rewrite.done())
}

/// Goes through the tokens of JSON text that is known to be right.
struct Rewrite<'m, 'a> {
    mask: &'m Mask,
    text: &'a str,
    out: String,
    /// Everything before it is in `out`.
    copied: usize,
    /// Keys that look like masked ones, so that no object gets one twice.
    keys: BTreeSet<String>,
}

impl<'a> Rewrite<'_, 'a> {
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
                _ => at + 1,
            };
        }
    }

    fn text(&mut self, start: usize, end: usize) {
        let token = &self.text[start..end];
        let Ok(meant) = serde_json::from_str::<Cow<'_, str>>(token) else { return };
        let mut masked = self.mask.text(&meant);
        // Somebody may have put a secret between quotes without escaping it, so that it means something else.
        if matches!(masked, Cow::Borrowed(_)) && meant.len() + 2 != token.len() {
            let inside = &token[1..token.len() - 1];
            if let Cow::Owned(inside) = self.mask.text(inside) {
                masked = Cow::Owned(inside);
            }
        }
        let is_key = self.text[end..].trim_ascii_start().starts_with(':');
        if is_key && masked.starts_with("[credential ") {
            let unique = self.unique(&masked);
            if unique != masked {
                masked = Cow::Owned(unique);
            }
        }
        if let Cow::Owned(masked) = masked {
            self.replace(start, end, &masked);
        }
    }

    fn number(&mut self, start: usize, end: usize) {
        if let Cow::Owned(masked) = self.mask.text(&self.text[start..end]) {
            self.replace(start, end, &masked);
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
