//! The rules every commit keeps, whatever store it is meant for.

use std::collections::HashSet;

use super::{Commit, IndexOp, MAX_COMMIT_BYTES, MAX_HINT_BYTES, MAX_NAME_BYTES, MAX_SCORE, Write};
use crate::{RecordKey, StoreError};

// What a store spends on an item beside its bytes; makes a commit of a million empty events large.
const ITEM_BYTES: usize = 16;

impl Commit {
    /// Checks the rules that need no stored state: names of 1 to [`MAX_NAME_BYTES`] bytes without a nul, no key, bound
    /// or member twice in one list, no stream twice in appends and forgets together, no empty append, no score above
    /// [`MAX_SCORE`], no hint above [`MAX_HINT_BYTES`], at most [`MAX_COMMIT_BYTES`] in all. Stores call this first.
    ///
    /// Fails with [`StoreError::TooLarge`] when a name, a hint or the whole is too large, and with
    /// [`StoreError::InvalidCommit`] for every other broken rule.
    pub fn validate(&self) -> Result<(), StoreError> {
        let bytes = self.size();
        if bytes > MAX_COMMIT_BYTES {
            return Err(StoreError::TooLarge { what: "a commit", bytes, limit: MAX_COMMIT_BYTES });
        }
        if let Some(id) = &self.operation_id {
            name("an operation id", id)?;
        }
        self.validate_records()?;
        self.validate_index()?;
        self.validate_events()?;
        self.validate_hints()
    }

    /// The records it builds on: those it compares, and those it writes over.
    pub fn builds_on(&self) -> impl Iterator<Item = &RecordKey> {
        let puts = self.writes.iter().filter(|write| matches!(write, Write::Put { .. })).map(Write::key);
        self.compare.iter().map(|(key, _)| key).chain(puts)
    }

    /// The records it removes.
    pub fn deleted(&self) -> impl Iterator<Item = &RecordKey> {
        self.writes.iter().filter_map(|write| match write {
            Write::Delete { key } => Some(key),
            Write::Put { .. } => None,
        })
    }

    /// The commit's size as the limits count it, in bytes.
    pub fn size(&self) -> usize {
        let operation = self.operation_id.as_ref().map_or(0, String::len);
        let compare: usize = self.compare.iter().map(|(key, _)| key.id.len() + ITEM_BYTES).sum();
        let writes: usize = self.writes.iter().map(write_size).sum();
        let index: usize = self.index.iter().map(index_size).sum();
        let events: usize = self
            .events
            .iter()
            .map(|append| {
                append.stream.len() + append.events.iter().map(|event| event.len() + ITEM_BYTES).sum::<usize>()
            })
            .sum();
        let bounds: usize = self.bounds.iter().map(|bound| bound.index.len() + ITEM_BYTES).sum();
        let forget: usize = self.forget.iter().map(|stream| stream.len() + ITEM_BYTES).sum();
        let hints: usize = self.hints.iter().map(|hint| hint.topic.len() + hint.body.len() + ITEM_BYTES).sum();
        operation + compare + bounds + writes + index + events + forget + hints
    }

    fn validate_records(&self) -> Result<(), StoreError> {
        let compared = self.compare.iter().map(|(key, _)| key);
        distinct(compared.clone(), |key| format!("record `{key}` is compared twice"))?;
        let written = self.writes.iter().map(Write::key);
        distinct(written.clone(), |key| format!("record `{key}` is written twice"))?;
        compared.chain(written).try_for_each(|key| name("a record id", &key.id))
    }

    fn validate_index(&self) -> Result<(), StoreError> {
        let targets = self.index.iter().map(IndexOp::target);
        distinct(targets.clone(), |(index, member)| format!("member `{member}` of index `{index}` is changed twice"))?;
        for (index, member) in targets {
            name("an index name", index)?;
            name("an index member", member)?;
        }
        if self.index.iter().any(|op| matches!(op, IndexOp::Put { score, .. } if *score > MAX_SCORE)) {
            return Err(StoreError::invalid(format!("an index score is above {MAX_SCORE}")));
        }
        let bounded = self.bounds.iter().map(|bound| bound.index.as_str());
        distinct(bounded.clone(), |index| format!("index `{index}` is bounded twice"))?;
        bounded.into_iter().try_for_each(|index| name("an index name", index))
    }

    fn validate_events(&self) -> Result<(), StoreError> {
        let appended = self.events.iter().map(|append| append.stream.as_str());
        let streams: Vec<_> = appended.chain(self.forget.iter().map(String::as_str)).collect();
        distinct(streams.into_iter(), |stream| format!("stream `{stream}` is changed twice"))?;
        self.forget.iter().try_for_each(|stream| name("a stream name", stream))?;
        for append in &self.events {
            name("a stream name", &append.stream)?;
            if append.events.is_empty() {
                return Err(StoreError::invalid(format!("the append to stream `{}` has no event", append.stream)));
            }
        }
        Ok(())
    }

    fn validate_hints(&self) -> Result<(), StoreError> {
        for hint in &self.hints {
            name("a hint's topic", &hint.topic)?;
            if hint.body.len() > MAX_HINT_BYTES {
                let bytes = hint.body.len();
                return Err(StoreError::TooLarge { what: "a hint", bytes, limit: MAX_HINT_BYTES });
            }
        }
        Ok(())
    }
}

fn write_size(write: &Write) -> usize {
    let bytes = match write {
        Write::Put { bytes, .. } => bytes.len(),
        Write::Delete { .. } => 0,
    };
    write.key().id.len() + bytes + ITEM_BYTES
}

fn index_size(op: &IndexOp) -> usize {
    let (index, member) = op.target();
    index.len() + member.len() + ITEM_BYTES
}

fn name(what: &'static str, text: &str) -> Result<(), StoreError> {
    if text.is_empty() {
        return Err(StoreError::invalid(format!("{what} is empty")));
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(StoreError::TooLarge { what, bytes: text.len(), limit: MAX_NAME_BYTES });
    }
    // Backends use the nul byte to separate the parts of a composed key.
    if text.as_bytes().contains(&0) {
        return Err(StoreError::invalid(format!("{what} holds a nul byte")));
    }
    Ok(())
}

fn distinct<T: Copy + Eq + std::hash::Hash>(
    items: impl Iterator<Item = T> + Clone,
    text: impl Fn(T) -> String,
) -> Result<(), StoreError> {
    let twice = |item| Err(StoreError::invalid(text(item)));
    let (_, upper) = items.size_hint();
    if upper.is_some_and(|count| count <= 8) {
        // Nearly every commit: comparing a handful of pairs is cheaper than a hash set.
        for (at, item) in items.clone().enumerate() {
            if items.clone().skip(at + 1).any(|other| other == item) {
                return twice(item);
            }
        }
        return Ok(());
    }
    let mut seen = HashSet::new();
    for item in items {
        if !seen.insert(item) {
            return twice(item);
        }
    }
    Ok(())
}
