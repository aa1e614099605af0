//! Numbers that reading JSON would change without a word.

use std::borrow::Cow;

use toolplane_records::json::canonical_number;

use crate::schema::pointer::escape;

/// Every number of checked JSON `text` that neither a 64-bit integer nor a double holds, with its JSON pointer; at most
/// `max` of them.
///
/// A fraction is held when it stays a fraction (`0.1` becomes the nearest double on both sides of every comparison). What is not
/// held: integers beyond 64 bits, and decimals that would round to another integer (`9007199254740993.0`, `1e-400`).
pub(crate) fn inexact_numbers(text: &str, max: usize) -> Vec<(String, &str)> {
    let mut scan = Scan { text, at: 0, frames: Vec::new() };
    let mut found = Vec::new();
    while found.len() < max
        && let Some(literal) = scan.next_number()
    {
        if !is_held(literal) {
            found.push((scan.pointer(), literal));
        }
    }
    found
}

/// Whether `literal`, which is not held, is an integer: one beyond 64 bits.
pub(crate) fn is_beyond_64_bits(literal: &str) -> bool {
    !literal.contains(['.', 'e', 'E'])
}

/// Checked JSON `text` with another integer in the place of every one beyond 64 bits: the largest or the smallest there is within
/// them. To a schema that compares no number with one beyond 63 bits it is the same (`CompiledSchema::is_blind_to_large`).
pub(crate) fn with_stand_ins(text: &str) -> Cow<'_, str> {
    let mut scan = Scan { text, at: 0, frames: Vec::new() };
    let (mut copy, mut done) = (String::new(), 0);
    while let Some(literal) = scan.next_number() {
        if is_held(literal) || !is_beyond_64_bits(literal) {
            continue;
        }
        copy.push_str(&text[done..scan.at - literal.len()]);
        let stand_in = if literal.starts_with('-') { i64::MIN.to_string() } else { u64::MAX.to_string() };
        copy.push_str(&stand_in);
        done = scan.at;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    copy.push_str(&text[done..]);
    Cow::Owned(copy)
}

/// Whether a JSON number literal is held, in the sense of [`inexact_numbers`].
fn is_held(literal: &str) -> bool {
    if !literal.contains(['.', 'e', 'E']) {
        return literal.parse::<i64>().is_ok() || literal.parse::<u64>().is_ok();
    }
    match literal.parse::<f64>() {
        Ok(double) if !double.is_finite() => false,
        Ok(double) => double.fract() != 0.0 || canonical_number(literal) == canonical_number(&format!("{double:e}")),
        Err(_) => false,
    }
}

/// A walk over the tokens of JSON text that is known to be well formed.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    frames: Vec<Frame<'a>>,
}

enum Frame<'a> {
    /// The key as written, and whether a key comes next.
    Object { key: &'a str, at_key: bool },
    /// The index of the element.
    Array { index: usize },
}

impl<'a> Scan<'a> {
    fn next_number(&mut self) -> Option<&'a str> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'{' => self.frames.push(Frame::Object { key: "", at_key: true }),
                b'[' => self.frames.push(Frame::Array { index: 0 }),
                b'}' | b']' => {
                    self.frames.pop();
                }
                b',' => match self.frames.last_mut() {
                    Some(Frame::Object { at_key, .. }) => *at_key = true,
                    Some(Frame::Array { index }) => *index += 1,
                    None => {}
                },
                b'"' => {
                    self.string();
                    continue;
                }
                b'-' | b'0'..=b'9' => return Some(self.number()),
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    fn string(&mut self) {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut end = start;
        while let Some(&byte) = bytes.get(end)
            && byte != b'"'
        {
            end += if byte == b'\\' { 2 } else { 1 };
        }
        let content = self.text.get(start..end).unwrap_or("");
        if let Some(Frame::Object { key, at_key }) = self.frames.last_mut()
            && *at_key
        {
            (*key, *at_key) = (content, false);
        }
        self.at = end + 1;
    }

    fn number(&mut self) -> &'a str {
        let start = self.at;
        let rest = &self.text[start..];
        let length = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        self.at = start + length;
        &self.text[start..self.at]
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for frame in &self.frames {
            pointer.push('/');
            match frame {
                Frame::Object { key, .. } => {
                    let decoded = serde_json::from_str::<String>(&format!("\"{key}\"")).unwrap_or_default();
                    pointer.push_str(&escape(&decoded));
                }
                Frame::Array { index } => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }
}
