//! One line of an export: its only form, and how it is read.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolplane_records::payload::Digest;

/// Longest line that is read: a record with the largest result that may be kept inline, and a rest.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// What stands between the content of a line and the digits of its sum.
const SUM: &str = r#","sum":"sha256:"#;
/// Bytes of everything after the content.
const TAIL: usize = SUM.len() + 64 + 2;

/// One line: a record, its place, and the sum of the line before it.
#[derive(Clone, Debug)]
pub struct Line {
    /// Place in the chain, from 0.
    pub n: u64,
    /// Sum of the line before.
    pub prev: Digest,
    /// What kind of record it is, e.g. `invocation`, `event` or `tombstone`.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The record, as JSON without line breaks.
    pub record: Box<RawValue>,
}

/// The same, field by field, as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<'a> {
    n: u64,
    prev: Digest,
    kind: std::borrow::Cow<'a, str>,
    id: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// Bytes that are no line of an export.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// It is no line of an export at all; what is wrong.
    #[error("it is no line of an export ({0})")]
    Form(String),
    /// It does not have the sum it says.
    #[error("it does not have the sum it says")]
    Sum,
}

impl Line {
    /// The line without its line break, and its sum.
    pub fn write(&self) -> (String, Digest) {
        let Self { n, prev, kind, id, record } = self;
        let content = Content { n: *n, prev: *prev, kind: kind.into(), id: id.into(), record };
        // Texts and numbers: there is nothing in it that could not be written.
        let mut text = serde_json::to_string(&content).unwrap_or_default();
        text.pop();
        let sum = Digest::of(text.as_bytes());
        text.push_str(SUM);
        text.push_str(&sum.hex());
        text.push_str("\"}");
        (text, sum)
    }

    /// Reads a line without its line break, and gives its sum. There is one way to write a line: what is spelled in another is none.
    pub fn read(bytes: &[u8]) -> Result<(Self, Digest), BadLine> {
        let form = |what: &str| BadLine::Form(what.to_owned());
        let text = std::str::from_utf8(bytes).map_err(|_| form("it is not UTF-8"))?;
        let at = text.len().checked_sub(TAIL).ok_or_else(|| form("it is too short"))?;
        let (content, tail) = text.split_at_checked(at).ok_or_else(|| form("it does not end with a sum"))?;
        let digits = tail.strip_prefix(SUM).and_then(|rest| rest.strip_suffix("\"}"));
        let said: Digest = digits.and_then(|hex| hex.parse().ok()).ok_or_else(|| form("it does not end with a sum"))?;
        if said != Digest::of(content.as_bytes()) {
            return Err(BadLine::Sum);
        }
        let whole = format!("{content}}}");
        let Content { n, prev, kind, id, record } =
            serde_json::from_str(&whole).map_err(|error| BadLine::Form(error.to_string()))?;
        let line = Self { n, prev, kind: kind.into_owned(), id: id.into_owned(), record: record.to_owned() };
        let (written, sum) = line.write();
        if written != text {
            return Err(form("it is spelled in another way"));
        }
        Ok((line, sum))
    }
}
