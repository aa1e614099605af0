//! A stored value without what others wrote: as long as it was, with zeros in the place of their texts.
//!
//! Stores keep parts of earlier values for as long as they live, to tell later ones by them. What a caller, a tool or a person
//! wrote must go with the call it came from, so none of it may be in there. Everything is left out but what is known to be ours:
//! numbers, words of the vocabularies, what a rule says, and names and ids under the names of [`Place::of`].

use std::ops::Range;

use serde_json::value::RawValue;

use super::form::{
    AGAIN, BYTES, BYTES_AGAIN, END, FALSE, FLOAT, FORM, LONG_WORD, MAP, MAX_DEPTH, MAX_SHORT_TEXT, MAX_SMALL, NEGATIVE,
    NULL, SEQ, SHORT_TEXT, SMALL, TEXT, TRUE, UINT, WORD,
};
use super::read::Reader;
use super::{StoredError, words};
use crate::ids::check_id;
use crate::json;

/// How the message of a decision begins that a rule made, around the name of the rule; the rule's own reason comes behind.
const RULE_SAYS: [&str; 2] = ["the rule `", "` says "];
/// What a rule says.
const SAYS: [&str; 3] = ["allow", "ask", "deny"];
/// What the id of a tool begins with that does not exist: the rest of it is what a caller wrote.
const UNKNOWN_TOOL: &str = "unknown:";
const DIGEST_BYTES: usize = 32;
const SMALL_END: u8 = SMALL + MAX_SMALL;
const SHORT_TEXT_END: u8 = SHORT_TEXT + MAX_SHORT_TEXT;

/// What may stay of the value under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// An id, a name or a digest of ours, or several.
    Id,
    /// A record or a list of ours: its own names say what stays.
    Record,
    /// The facts of an event, which are JSON.
    Facts,
    /// The id of the rule that decided.
    Rule,
    /// What a decision says: of the rule that made it, without its reason.
    Message,
    /// What is neither text nor holds anything else.
    Plain,
    /// Nothing.
    Closed,
}

impl Place {
    /// The closed list: what is under another name may be what others wrote.
    fn of(name: &str) -> Self {
        match name {
            "schema_version"
            | "invocation_id"
            | "tenant"
            | "tool_id"
            | "tool_name"
            | "surface_id"
            | "decision_id"
            | "permission_decision_refs"
            | "reused_from"
            | "approval_request_ref"
            | "result_id"
            | "batch_id"
            | "lease_id"
            | "worker_id"
            | "incarnation"
            | "pool"
            | "worker_version"
            | "backend"
            | "held"
            | "missing"
            | "rule_refs" => Self::Id,
            "uri"
            | "digest"
            | "plan_digest"
            | "declaration_digest"
            | "posture_digest"
            | "request_digest"
            | "policy_digest"
            | "quarantine_key"
            | "model_input_digest"
            | "permission_input_digest" => Self::Id,
            "attempt" | "lease_no" | "fence" => Self::Id,
            "inputs" | "model" | "observable" | "permission" | "call" | "status_transitions" | "safety"
            | "dispatch" | "lease" | "reason" | "telemetry_refs" | "site" | "sandbox" | "tool" | "last_execution" => {
                Self::Record
            }
            "data" => Self::Facts,
            "rule_ref" => Self::Rule,
            "message" => Self::Message,
            _ => Self::Plain,
        }
    }

    /// What may stay of a value in a list at this place.
    fn of_element(self) -> Self {
        match self {
            Self::Id | Self::Record => self,
            Self::Facts | Self::Rule | Self::Message | Self::Plain | Self::Closed => Self::Closed,
        }
    }

    /// What may stay of the value of this name in a record at this place.
    fn of_member(self, name: Option<&str>) -> Self {
        match (self, name) {
            (Self::Record | Self::Facts, Some(name)) => Self::of(name),
            _ => Self::Closed,
        }
    }
}

/// Whether a name is one of ours: others may be what somebody wrote, like the names within an answer.
fn is_ours(name: &str) -> bool {
    words::number(name).is_some() || Place::of(name) != Place::Plain
}

/// How many bytes of a message are ours: it names a rule that stays, and what that says.
fn said_by(rule: &str, message: &str) -> usize {
    let [before, behind] = RULE_SAYS;
    let says = message.strip_prefix(before).and_then(|rest| rest.strip_prefix(rule)?.strip_prefix(behind));
    let without_word = |says: &'_ str| SAYS.iter().find_map(|word| says.strip_prefix(word)).map(str::len);
    says.and_then(without_word).map_or(0, |rest| message.len() - rest)
}

/// `bytes` without the texts of others, in the compact form or as JSON; nothing when they are no record, and when they are about
/// a tool that does not exist, whose name is only what a caller wrote.
pub fn without_texts(bytes: &[u8]) -> Option<Vec<u8>> {
    let Some((&FORM, record)) = bytes.split_first() else {
        let mut kept = Kept::nothing_of(bytes);
        kept.json(serde_json::from_slice(bytes).ok()?, Place::Record, 0).ok()?;
        return kept.done();
    };
    let (mut kept, mut reader) = (Kept::nothing_of(record), Reader::new(record));
    kept.value(&mut reader, Place::Record).ok()?;
    if !reader.is_at_end() {
        return None;
    }
    Some([&[FORM], kept.done()?.as_slice()].concat())
}

/// What stays so far.
struct Kept<'a> {
    all: &'a [u8],
    out: Vec<u8>,
    is_of_unknown_tool: bool,
    /// The rule that was named last.
    rule: &'a str,
}

impl<'a> Kept<'a> {
    fn nothing_of(all: &'a [u8]) -> Self {
        Self { all, out: vec![0; all.len()], is_of_unknown_tool: false, rule: "" }
    }

    fn done(self) -> Option<Vec<u8>> {
        (!self.is_of_unknown_tool).then_some(self.out)
    }

    fn keep(&mut self, range: Range<usize>) {
        self.out[range.clone()].copy_from_slice(&self.all[range]);
    }

    /// Keeps what may stay of a text or of bytes.
    fn text(&mut self, content: Range<usize>, place: Place) {
        let bytes = &self.all[content.clone()];
        match (place, std::str::from_utf8(bytes)) {
            // Texts and payloads are UTF-8: these are the bytes of a digest.
            (Place::Id, Err(_)) if bytes.len() == DIGEST_BYTES => self.keep(content),
            (Place::Id, Ok(text)) if check_id(text).is_ok() => {
                self.is_of_unknown_tool |= text.starts_with(UNKNOWN_TOOL);
                self.keep(content);
            }
            (Place::Rule, Ok(text)) if check_id(text).is_ok() => {
                self.rule = text;
                self.keep(content);
            }
            (Place::Message, Ok(text)) => self.keep(content.start..content.start + said_by(self.rule, text)),
            _ => {}
        }
    }

    // === the compact form ===

    /// Keeps what may stay of the value that comes next.
    fn value(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<(), StoredError> {
        let start = reader.place();
        let tag = reader.byte()?;
        let mut content = 0;
        match tag {
            SEQ | MAP => {
                self.frame(start..reader.place(), place);
                return reader
                    .within(|reader| if tag == SEQ { self.seq(reader, place) } else { self.map(reader, place) });
            }
            UINT | NEGATIVE | LONG_WORD | AGAIN | BYTES_AGAIN => drop(reader.varint()?),
            FLOAT => drop(reader.bytes(8)?),
            TEXT | BYTES | SHORT_TEXT..=SHORT_TEXT_END => content = reader.content(tag)?.len(),
            NULL | FALSE | TRUE | SMALL..=SMALL_END | WORD.. => {}
            _ => return Err(StoredError::Form("it has a tag that is not known")),
        }
        let end = reader.place();
        self.frame(start..end - content, place);
        match place {
            Place::Facts if content > 0 => {
                self.json(serde_json::from_slice(&self.all[end - content..end])?, place, 0)?
            }
            _ => self.text(end - content..end, place),
        }
        Ok(())
    }

    fn seq(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<(), StoredError> {
        while reader.peek()? != END {
            self.value(reader, place.of_element())?;
        }
        let end = reader.place();
        reader.byte()?;
        self.frame(end..end + 1, place);
        Ok(())
    }

    fn map(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<(), StoredError> {
        loop {
            let start = reader.place();
            let key = reader.key()?;
            let ours = key.filter(|key| is_ours(key));
            // The end of a map has no name.
            if ours.is_some() || key.is_none() {
                self.frame(start..reader.place(), place);
            }
            if key.is_none() {
                return Ok(());
            }
            self.value(reader, place.of_member(ours))?;
        }
    }

    /// Keeps what says of which kind and how long a value is, and all of one that is neither text nor bytes.
    fn frame(&mut self, frame: Range<usize>, place: Place) {
        if place != Place::Closed {
            self.keep(frame);
        }
    }

    // === JSON ===

    /// Keeps what may stay of a value that stands somewhere in all of the bytes.
    fn json(&mut self, value: &'a RawValue, place: Place, depth: u16) -> Result<(), StoredError> {
        if depth > MAX_DEPTH {
            return Err(StoredError::Form("values lie too deep within each other"));
        }
        let whole = self.range_of(value);
        match value.get().as_bytes().first() {
            _ if place == Place::Closed => {}
            Some(b'{') => return self.members(value, place, depth),
            Some(b'[') => return self.elements(value, place, depth),
            Some(b'"') => {
                let content = whole.start + 1..whole.end - 1;
                self.keep(whole.start..content.start);
                self.keep(content.end..whole.end);
                let word = std::str::from_utf8(&self.all[content.clone()]).ok().and_then(words::number);
                match word {
                    Some(_) => self.keep(content),
                    None => self.text(content, place),
                }
            }
            Some(b't' | b'f' | b'n') => self.keep(whole),
            // A number: in facts it may be an answer.
            _ if place == Place::Id => self.keep(whole),
            _ => {}
        }
        Ok(())
    }

    fn members(&mut self, value: &'a RawValue, place: Place, depth: u16) -> Result<(), StoredError> {
        if !matches!(place, Place::Record | Place::Facts) {
            return Ok(());
        }
        let Range { start: mut end, end: last } = self.range_of(value);
        for (name, member) in json::members(value)? {
            let range = self.range_of(member);
            let is_ours = is_ours(&name);
            // The name with its marks, and what parts it from the member before: nothing but the name is spelled otherwise.
            if is_ours && range.start - end == name.len() + r#"{"":"#.len() {
                self.keep(end..range.start);
            }
            self.json(member, place.of_member(is_ours.then_some(&name)), depth + 1)?;
            end = range.end;
        }
        self.keep(end..last);
        Ok(())
    }

    fn elements(&mut self, value: &'a RawValue, place: Place, depth: u16) -> Result<(), StoredError> {
        let Range { start: mut end, end: last } = self.range_of(value);
        for element in json::elements(value)? {
            let range = self.range_of(element);
            self.keep(end..range.start);
            self.json(element, place.of_element(), depth + 1)?;
            end = range.end;
        }
        self.keep(end..last);
        Ok(())
    }

    /// Where a value stands in all of the bytes, which it was read from.
    fn range_of(&self, value: &RawValue) -> Range<usize> {
        let start = value.get().as_ptr().addr() - self.all.as_ptr().addr();
        start..start + value.get().len()
    }
}

#[cfg(test)]
mod tests;
