//! From the answer of a script to what it means.

use redis::Value;
use toolplane_store::likeness::Patterns;
use toolplane_store::{
    Commit, CommitOutcome, Damage, EventPage, Family, Found, IndexEntry, RecordKey, StoreError, Versioned,
};

use crate::failure::Failure;
use crate::request::CallId;
use crate::value::{self, ValueName};

/// What the script of a commit answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// Done now, or by an earlier attempt of the same call.
    Applied,
    /// The commit's own answer.
    Outcome(Result<CommitOutcome, StoreError>),
    /// A later attempt was answered before this one came.
    TooLate,
    /// The server does not hold the store that was opened.
    Emptied,
    /// Nothing was done: the server does not have a pattern any more that a value is told by.
    Patternless,
}

/// Reads the answer to `commit`, sent as a part of `call`.
pub(crate) fn judged(answer: Value, commit: &Commit, call: &CallId, patterns: &Patterns) -> Result<Judged, Failure> {
    let mut fields = match answer {
        Value::Int(0) => return Ok(Judged::Applied),
        Value::Array(fields) => fields.into_iter(),
        other => return Err(strange(&other)),
    };
    match number(fields.next())? {
        1 if bytes(fields.next())? == call => Ok(Judged::Applied),
        1 => Ok(Judged::Outcome(Ok(CommitOutcome::Replayed))),
        2 => lost(fields, commit, patterns),
        3 => {
            let at = position(fields.next())?;
            let bound = commit.bounds.get(at).ok_or_else(|| Failure::strange("a bound that was not asked for"))?;
            Ok(Judged::Outcome(Ok(CommitOutcome::Full { index: bound.index.clone() })))
        }
        4 => {
            let at = position(fields.next())?;
            let append = commit.events.get(at).ok_or_else(|| Failure::strange("an append that was not asked for"))?;
            let expected = number(fields.next())?;
            let (stream, offered) = (append.stream.clone(), append.first_seq);
            Ok(Judged::Outcome(Err(StoreError::SequenceGap { stream, expected, offered })))
        }
        5 => Ok(Judged::TooLate),
        6 => Ok(Judged::Emptied),
        7 => Ok(Judged::Patternless),
        other => Err(Failure::strange(format!("the script answered {other}"))),
    }
}

fn lost(mut fields: impl Iterator<Item = Value>, commit: &Commit, patterns: &Patterns) -> Result<Judged, Failure> {
    let mut current = Vec::new();
    while let Some(at) = fields.next() {
        let compare = commit.compare.get(position(Some(at))?);
        let (key, _) = compare.ok_or_else(|| Failure::strange("a compare that was not asked for"))?;
        match value::record(key, bytes(fields.next())?, patterns) {
            Ok(found) => current.push((key.clone(), found)),
            Err(damage) => return Ok(Judged::Outcome(Err(StoreError::Damaged(damage)))),
        }
    }
    Ok(Judged::Outcome(Ok(CommitOutcome::Lost { current })))
}

/// The record `key`, or none, or its damage.
pub(crate) fn record(key: &RecordKey, answer: Value, patterns: &Patterns) -> Result<Found, StoreError> {
    match answer {
        Value::Nil => Ok(Ok(None)),
        other => Ok(value::record(key, bytes(Some(other))?, patterns)),
    }
}

/// The answer to a command that lists things.
pub(crate) fn list(answer: Value) -> Result<Vec<Value>, Failure> {
    match answer {
        Value::Array(values) => Ok(values),
        other => Err(strange(&other)),
    }
}

/// Members with their scores.
pub(crate) fn entries(answer: Value) -> Result<Vec<IndexEntry>, StoreError> {
    let mut fields = list(answer)?.into_iter();
    let mut entries = Vec::with_capacity(fields.len() / 2);
    while let Some(member) = fields.next() {
        entries.push(IndexEntry { member: text(member)?, score: number(fields.next())? });
    }
    Ok(entries)
}

/// A page of `stream` that was asked for from `first` on.
pub(crate) fn events(answer: Value, stream: &str, first: u64, patterns: &Patterns) -> Result<EventPage, StoreError> {
    let mut fields = list(answer)?.into_iter();
    let head_seq = number(fields.next())?;
    let stored = list(fields.next().unwrap_or_default())?;
    let numbered = stored.into_iter().zip(0_u64..);
    let events = numbered.map(|(event, at)| {
        let seq = first.saturating_add(at);
        let unpacked = value::unpack(ValueName::Event(stream, seq), bytes(Some(event))?, patterns);
        Ok((seq, unpacked.map_err(StoreError::Damaged)?))
    });
    Ok(EventPage { head_seq, oldest_seq: head_seq.min(1), events: events.collect::<Result<_, StoreError>>()? })
}

/// A record with its id, as it is stored or damaged.
pub(crate) type Listed = (String, Result<Versioned, Damage>);

/// Records of `family` with their ids.
pub(crate) fn records(answer: Value, family: Family, patterns: &Patterns) -> Result<Vec<Listed>, StoreError> {
    let mut fields = list(answer)?.into_iter();
    let mut records = Vec::with_capacity(fields.len() / 2);
    while let Some(id) = fields.next() {
        let key = RecordKey::new(family, text(id)?);
        let found = record(&key, fields.next().unwrap_or_default(), patterns)?;
        let missing = || Damage::of_record(&key, "it is listed and not there");
        let found = found.and_then(|found| found.ok_or_else(missing));
        records.push((key.id, found));
    }
    Ok(records)
}

/// A number, as an integer or in digits.
pub(crate) fn number(field: Option<Value>) -> Result<u64, Failure> {
    match &field {
        Some(Value::Int(number)) => u64::try_from(*number).ok(),
        Some(Value::BulkString(digits)) => std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()),
        _ => None,
    }
    .ok_or_else(|| Failure::strange(format!("a number was expected, not {field:?}")))
}

/// A text.
pub(crate) fn text(field: Value) -> Result<String, Failure> {
    String::from_utf8(bytes(Some(field))?).map_err(|_| Failure::strange("a text is not UTF-8"))
}

/// Raw bytes.
pub(crate) fn bytes(field: Option<Value>) -> Result<Vec<u8>, Failure> {
    match field {
        Some(Value::BulkString(bytes)) => Ok(bytes),
        Some(Value::SimpleString(text)) => Ok(text.into_bytes()),
        Some(Value::VerbatimString { text, .. }) => Ok(text.into_bytes()),
        other => Err(strange(&other.unwrap_or_default())),
    }
}

// Scripts count from 1.
fn position(field: Option<Value>) -> Result<usize, Failure> {
    let at = number(field)?.checked_sub(1).and_then(|at| usize::try_from(at).ok());
    at.ok_or_else(|| Failure::strange("a position below 1"))
}

fn strange(value: &Value) -> Failure {
    // What was answered may hold a caller's data, so only its kind is told.
    let kind = match value {
        Value::Nil => "nothing",
        Value::Int(_) => "a number",
        Value::BulkString(_) | Value::SimpleString(_) => "a text",
        Value::Array(_) => "a list",
        _ => "something else",
    };
    Failure::strange(format!("an answer that does not fit: {kind}"))
}
