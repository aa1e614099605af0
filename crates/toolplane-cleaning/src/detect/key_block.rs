//! Blocks of private keys: `-----BEGIN … PRIVATE KEY-----` and what follows it.

use std::ops::Range;

pub(super) const NAME: &str = "private_key";

const BEGIN: &[u8] = b"-----BEGIN ";
const KEY: &[u8] = b"PRIVATE KEY";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// Longest words between the dashes.
const WORDS: usize = 48;

/// The blocks in `text`; the last one may have no end.
pub(super) fn find(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = begin(text, at);
        // The rest of a block whose beginning was cut off.
        if let Some(rest) = rest(&text[..start.unwrap_or(text.len())], at) {
            at = rest.end;
            return Some(rest);
        }
        let start = start?;
        let end = end(text, start).unwrap_or_else(|| body_end(text, start));
        at = end;
        Some(start..end)
    })
}

/// From the first byte after `from` that may be of a body up to the end of its block, where that has no beginning.
fn rest(text: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let dashes = at + position(&text[at..], END)?;
        let words = &text[dashes + END.len()..];
        let words = &words[..words.len().min(WORDS + DASHES.len())];
        let close = position(words, DASHES);
        at = dashes + END.len();
        if let Some(close) = close.filter(|close| position(&words[..*close], KEY).is_some()) {
            let is_body = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\r\n\\".contains(byte);
            let body = text[from..dashes].iter().rev().take_while(|byte| is_body(byte)).count();
            return Some(dashes - body..at + close + DASHES.len());
        }
    }
}

/// Where a block begins that has no end yet and may still get one.
pub(crate) fn open_block(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = begin(text, at) {
        match end(text, start) {
            Some(end) => at = end,
            None if body_end(text, start) == text.len() => return Some(start),
            None => at = start + BEGIN.len(),
        }
    }
    None
}

fn begin(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let start = at + position(text.get(at..)?, BEGIN)?;
        let words = &text[start + BEGIN.len()..];
        let words = &words[..words.len().min(WORDS)];
        let named = position(words, DASHES).is_some_and(|end| position(&words[..end], KEY).is_some());
        if named {
            return Some(start);
        }
        at = start + BEGIN.len();
    }
}

fn end(text: &[u8], start: usize) -> Option<usize> {
    let body = start + BEGIN.len();
    let end = body + position(&text[body..], END)? + END.len();
    // Another block that begins before it is another one.
    if begin(&text[..end], body).is_some() {
        return None;
    }
    let close = position(&text[end..], DASHES).filter(|words| *words <= WORDS)?;
    Some(end + close + DASHES.len())
}

/// The end of what may be the body of a key: Base64, headers, white space, also as it is escaped.
fn body_end(text: &[u8], start: usize) -> usize {
    let first = start + BEGIN.len();
    let head = position(&text[first..], DASHES).map_or(first, |end| first + end + DASHES.len());
    let is_body = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\\-,: \r\n\t".contains(byte);
    text[head..].iter().position(|byte| !is_body(byte)).map_or(text.len(), |length| head + length)
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        find(text.as_bytes()).map(|range| &text[range]).collect()
    }

    #[test]
    fn a_block_is_found_from_its_first_dash_to_its_last() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nAAAA==\n-----END RSA PRIVATE KEY-----";
        assert_eq!(found(&format!("before {key} after")), [key]);
        assert_eq!(found(&format!("{key}\n{key}")), [key, key]);
        let escaped = r"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";
        assert_eq!(found(&format!("\"{escaped}\"")), [escaped.trim_end_matches(r"\n")]);
    }

    #[test]
    fn a_block_without_an_end_reaches_as_far_as_its_body_does() {
        assert_eq!(found("-----BEGIN PRIVATE KEY-----\nMIIB\n\"}"), ["-----BEGIN PRIVATE KEY-----\nMIIB\n"]);
        assert_eq!(open_block(b"x -----BEGIN PRIVATE KEY-----\nMIIB"), Some(2));
        assert_eq!(open_block(b"x -----BEGIN PRIVATE KEY-----\nMIIB!"), None);
        assert_eq!(open_block(b"-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----"), None);
    }

    #[test]
    fn an_end_alone_takes_the_body_before_it_along() {
        let end = "MIIB\nAAAA==\n-----END RSA PRIVATE KEY-----";
        assert_eq!(found(&format!("a log: {end} and more")), [end]);
        let key = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----";
        assert_eq!(found(&format!("{end};{key}")), [end, key]);
        assert_eq!(found("-----END CERTIFICATE-----"), [] as [&str; 0]);
    }

    #[test]
    fn a_public_key_or_a_certificate_is_none() {
        assert_eq!(found("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"), [] as [&str; 0]);
        assert_eq!(found("-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"), [] as [&str; 0]);
    }
}
