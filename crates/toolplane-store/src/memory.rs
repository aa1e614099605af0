//! The model of the contract: plain maps behind one lock.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use bytes::Bytes;
use parking_lot::Mutex;
use toolplane_records::time::Timestamp;

use crate::clock::MonotonicClock;
use crate::commit::{self, Append, Commit, CommitOutcome, IndexOp, OPERATION_MEMORY_MILLIS, Write};
use crate::damage::{Damage, DamageList, DamageLocation};
use crate::error::StoreError;
use crate::key::{Family, RecordKey, Versioned};
use crate::page::{EventPage, IndexEntry, MAX_PAGE, ScoreRange};
use crate::store::{Durability, Found, Store, StoreFuture};

/// Why something spoiled is damaged.
const SPOILED: &str = "it was spoiled by a test";

/// A store that keeps everything in this process's memory and loses it with the process.
///
/// It is the oracle other stores are compared with, and serves tests of code built on a store. It reports
/// [`Durability::Buffered`] and never fails, except for what [`MemoryStore::spoil`] was told to.
#[derive(Debug)]
pub struct MemoryStore {
    clock: MonotonicClock,
    state: Mutex<MemoryTables>,
    damage: DamageList,
}

#[derive(Debug, Default)]
struct MemoryTables {
    records: BTreeMap<RecordKey, Versioned>,
    indexes: BTreeMap<String, MemoryIndex>,
    streams: HashMap<String, Vec<Bytes>>,
    operations: HashMap<String, Timestamp>,
    spoiled: BTreeSet<RecordKey>,
    spoiled_streams: BTreeSet<(String, u64)>,
}

#[derive(Debug, Default)]
struct MemoryIndex {
    scores: HashMap<String, u64>,
    order: BTreeSet<(u64, String)>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::on(MonotonicClock::starting_at(Timestamp::from_millis(0)))
    }

    /// An empty store whose time is that of `clock`, e.g. [`MonotonicClock::of_the_runtime`] in a test whose time is paused.
    pub fn on(clock: MonotonicClock) -> Self {
        Self { clock, state: Mutex::default(), damage: DamageList::default() }
    }

    /// Makes a record damaged, for tests of code built on a store: as if a byte of it had changed at rest.
    pub fn spoil(&self, key: &RecordKey) {
        self.state.lock().spoiled.insert(key.clone());
    }

    /// Makes one event damaged, like [`MemoryStore::spoil`].
    pub fn spoil_event(&self, stream: &str, seq: u64) {
        self.state.lock().spoiled_streams.insert((stream.to_owned(), seq));
    }

    fn noted<T>(&self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        answer.map_err(|error| match error {
            StoreError::Damaged(damage) => StoreError::Damaged(self.damage.note(damage)),
            other => other,
        })
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

// === impl State ===

impl MemoryTables {
    fn commit(&mut self, commit: Commit, now: Timestamp) -> Result<CommitOutcome, StoreError> {
        commit.validate()?;
        self.operations.retain(|_, applied| now.since_millis(*applied) <= OPERATION_MEMORY_MILLIS);
        if commit.operation_id.as_ref().is_some_and(|id| self.operations.contains_key(id)) {
            return Ok(CommitOutcome::Replayed);
        }
        for key in commit.builds_on() {
            self.found(key).map_err(StoreError::Damaged)?;
        }
        let lost: Vec<_> = commit
            .compare
            .iter()
            .filter(|(key, expect)| !expect.holds(self.records.get(key)))
            .map(|(key, _)| (key.clone(), self.records.get(key).cloned()))
            .collect();
        if !lost.is_empty() {
            return Ok(CommitOutcome::Lost { current: lost });
        }
        let full = |bound: &&commit::Bound| self.index_len(&bound.index) >= bound.below;
        if let Some(bound) = commit.bounds.iter().find(full) {
            return Ok(CommitOutcome::Full { index: bound.index.clone() });
        }
        for append in &commit.events {
            self.check_continues(append)?;
        }
        self.apply(commit, now);
        Ok(CommitOutcome::Applied)
    }

    fn check_continues(&self, append: &Append) -> Result<(), StoreError> {
        let expected = self.head(&append.stream) + 1;
        if append.first_seq == expected {
            return Ok(());
        }
        Err(StoreError::SequenceGap { stream: append.stream.clone(), expected, offered: append.first_seq })
    }

    fn apply(&mut self, commit: Commit, now: Timestamp) {
        for write in commit.writes {
            match write {
                Write::Put { key, bytes } => {
                    let version = self.records.get(&key).map_or(1, |found| found.version + 1);
                    self.records.insert(key, Versioned { version, bytes });
                }
                Write::Delete { key } => {
                    self.records.remove(&key);
                    self.spoiled.remove(&key);
                }
            }
        }
        for op in commit.index {
            match op {
                IndexOp::Put { index, score, member } => self.indexes.entry(index).or_default().put(score, member),
                IndexOp::Remove { index, member } => {
                    if let Some(found) = self.indexes.get_mut(&index) {
                        found.remove(&member);
                    }
                }
            }
        }
        for stream in &commit.forget {
            self.streams.remove(stream);
        }
        for append in commit.events {
            self.streams.entry(append.stream).or_default().extend(append.events);
        }
        if let Some(id) = commit.operation_id {
            self.operations.insert(id, now);
        }
    }

    fn index_len(&self, index: &str) -> u64 {
        self.indexes.get(index).map_or(0, |found| found.scores.len() as u64)
    }

    fn head(&self, stream: &str) -> u64 {
        self.streams.get(stream).map_or(0, |events| events.len() as u64)
    }

    fn found(&self, key: &RecordKey) -> Found {
        if self.spoiled.contains(key) {
            return Err(Damage::of_record(key, SPOILED));
        }
        Ok(self.records.get(key).cloned())
    }

    fn events(&self, stream: &str, from_seq: u64, limit: usize) -> Result<EventPage, StoreError> {
        let head_seq = self.head(stream);
        let numbered = (1..).zip(self.streams.get(stream).into_iter().flatten().cloned());
        let events: Vec<_> = numbered.filter(|(seq, _)| *seq >= from_seq).take(limit.min(MAX_PAGE)).collect();
        let damaged = |(seq, _): &&(u64, Bytes)| self.spoiled_streams.contains(&(stream.to_owned(), *seq));
        if let Some((from_seq, _)) = events.iter().find(damaged) {
            let place = DamageLocation::Stream { stream: stream.to_owned(), from_seq: *from_seq };
            return Err(StoreError::Damaged(Damage::new(place, SPOILED)));
        }
        Ok(EventPage { head_seq, oldest_seq: head_seq.min(1), events })
    }

    fn keys(&self, family: Family, after: Option<&str>, limit: usize) -> Vec<(String, Versioned)> {
        // No id is empty, so everything of the family lies after the empty one.
        let start = RecordKey::new(family, after.unwrap_or_default());
        self.records
            .range((Bound::Excluded(start), Bound::Unbounded))
            .take_while(|(key, _)| key.family == family)
            .filter(|(key, _)| !self.spoiled.contains(key))
            .take(limit.min(MAX_PAGE))
            .map(|(key, found)| (key.id.clone(), found.clone()))
            .collect()
    }
}

// === impl Index ===

impl MemoryIndex {
    fn put(&mut self, score: u64, member: String) {
        self.remove(&member);
        self.order.insert((score, member.clone()));
        self.scores.insert(member, score);
    }

    fn remove(&mut self, member: &str) {
        if let Some(score) = self.scores.remove(member) {
            self.order.remove(&(score, member.to_owned()));
        }
    }

    fn scan(&self, range: &ScoreRange, limit: usize) -> Vec<IndexEntry> {
        let wanted = |entry: &&(u64, String)| {
            let past = match &range.after {
                None => true,
                Some(after) if range.reverse => *entry < after,
                Some(after) => *entry > after,
            };
            past && (range.min..=range.max).contains(&entry.0)
        };
        let entry = |(score, member): &(u64, String)| IndexEntry { score: *score, member: member.clone() };
        let limit = limit.min(MAX_PAGE);
        if range.reverse {
            self.order.iter().rev().filter(wanted).take(limit).map(entry).collect()
        } else {
            self.order.iter().filter(wanted).take(limit).map(entry).collect()
        }
    }
}

// === impl Store ===

impl Store for MemoryStore {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(async move {
            let deleted: Vec<_> = commit.deleted().cloned().collect();
            let outcome = self.state.lock().commit(commit, self.clock.now());
            if outcome == Ok(CommitOutcome::Applied) {
                deleted.into_iter().for_each(|key| self.damage.forget(&DamageLocation::Record(key)));
            }
            self.noted(outcome)
        })
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            let found = self.state.lock().found(key);
            self.noted(found.map_err(StoreError::Damaged))
        })
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        Box::pin(async move {
            let state = self.state.lock();
            Ok(keys.iter().map(|key| state.found(key).map_err(|damage| self.damage.note(damage))).collect())
        })
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        Box::pin(async move {
            let state = self.state.lock();
            Ok(state.indexes.get(index).map_or_else(Vec::new, |found| found.scan(&range, limit)))
        })
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            let state = self.state.lock();
            let filled = state.indexes.iter().filter(|(_, index)| !index.scores.is_empty());
            Ok(filled.map(|(name, _)| name).filter(|name| name.starts_with(prefix)).cloned().collect())
        })
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(async move { Ok(self.state.lock().index_len(index)) })
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        Box::pin(async move {
            let page = self.state.lock().events(stream, from_seq, limit);
            self.noted(page)
        })
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        Box::pin(async move { Ok(self.state.lock().keys(family, after, limit)) })
    }

    fn now(&self) -> StoreFuture<'_, Timestamp> {
        Box::pin(async move { Ok(self.clock.now()) })
    }

    fn durability(&self) -> Durability {
        Durability::Buffered
    }

    fn damage(&self) -> Vec<Damage> {
        self.damage.all()
    }
}

#[cfg(test)]
mod tests;
