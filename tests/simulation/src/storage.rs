//! From transitions to atomic commits of the model store, and back to records.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::FutureExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolplane_lifecycle::{Effect, Scope, Timer, Transition};
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_store::{
    Append, Commit, CommitOutcome, Expect, Family, IndexEntry, IndexOp, MemoryStore, RecordKey, ScoreRange, Store,
    StoreFuture, Write,
};

/// What every index of something to be settled begins with.
const COORDINATION: &str = "coordination/";

/// The model store, asked without waiting: its answers are there at once.
#[derive(Debug, Default)]
pub struct Storage(MemoryStore);

/// A record with its version.
pub type Stored<T> = (u64, T);

#[expect(clippy::expect_used, reason = "the model store always answers at once and never fails")]
fn at_once<T>(answer: StoreFuture<'_, T>) -> T {
    answer.now_or_never().expect("the model store waits for nothing").expect("the model store does not fail")
}

#[expect(clippy::expect_used, reason = "records were serialised by this file")]
fn read<T: DeserializeOwned>(bytes: &[u8]) -> T {
    serde_json::from_slice(bytes).expect("a stored record reads back")
}

#[expect(clippy::expect_used, reason = "records are plain data")]
fn bytes(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).expect("a record can be written").into()
}

impl Storage {
    /// The record `id` of `family`.
    pub fn get<T: DeserializeOwned>(&self, family: Family, id: &str) -> Option<Stored<T>> {
        let found = at_once(self.0.get(&RecordKey::new(family, id)))?;
        Some((found.version, read(&found.bytes)))
    }

    /// An invocation.
    pub fn invocation(&self, id: &InvocationId) -> Option<Stored<Invocation>> {
        self.get(Family::Invocation, id.as_str())
    }

    /// The bytes of an invocation's result.
    pub fn result(&self, id: &InvocationId) -> Option<Vec<u8>> {
        Some(at_once(self.0.get(&RecordKey::new(Family::Result, id.as_str())))?.bytes.to_vec())
    }

    /// The log of an invocation, with the sequence of each entry.
    pub fn log(&self, id: &InvocationId) -> Vec<(u64, toolplane_records::event::LogEvent)> {
        let page = at_once(self.0.events(&stream(id), 1, usize::MAX));
        page.events.into_iter().map(|(seq, event)| (seq, read(&event))).collect()
    }

    /// Applies a commit.
    pub fn commit(&self, commit: Commit) -> CommitOutcome {
        at_once(self.0.commit(commit))
    }

    /// The first entries of an index up to a score.
    pub fn scan(&self, index: &str, range: ScoreRange, limit: usize) -> Vec<IndexEntry> {
        at_once(self.0.scan(index, range, limit))
    }

    /// The non-empty indexes that begin with `prefix`.
    pub fn indexes(&self, prefix: &str) -> Vec<String> {
        at_once(self.0.indexes(prefix))
    }

    /// How many members an index has.
    pub fn len(&self, index: &str) -> u64 {
        at_once(self.0.index_len(index))
    }

    /// Every scope that has something to settle, with the calls it is about in the order they came.
    pub fn unsettled(&self) -> Vec<(Scope, Vec<InvocationId>)> {
        let scope = |name: &String| name.strip_prefix(COORDINATION).and_then(|text| text.parse().ok());
        let members = |name: &String| self.scan(name, ScoreRange::all(), 256);
        let calls =
            |name: &String| members(name).iter().map(|entry| InvocationId::from_trusted(&entry.member)).collect();
        let names = self.indexes(COORDINATION);
        names.iter().filter_map(|name| Some((scope(name)?, calls(name)))).collect()
    }
}

/// One atomic change of several records, put together step by step.
#[derive(Debug, Default)]
pub struct Draft {
    commit: Commit,
    index: BTreeMap<(String, String), Option<u64>>,
}

impl Draft {
    /// Adds a transition of one invocation that was at `version`, or did not exist.
    pub fn transition(&mut self, transition: &Transition, version: Option<u64>) {
        let record = &transition.invocation;
        let id = record.invocation_id.as_str();
        self.put(Family::Invocation, id, version, record);
        if let Some(terminal) = &transition.terminal {
            let key = RecordKey::new(Family::Result, id);
            self.commit.writes.push(Write::Put { key, bytes: bytes(terminal) });
        }
        if let Some(first) = transition.events.first() {
            let events = transition.events.iter().map(bytes).collect();
            let stream = stream(&record.invocation_id);
            self.commit.events.push(Append { stream, first_seq: first.seq, events });
        }
        for effect in &transition.effects {
            self.effect(record, effect);
        }
    }

    /// Writes a record that was at `version`, or did not exist.
    pub fn put(&mut self, family: Family, id: &str, version: Option<u64>, record: &impl Serialize) {
        let key = RecordKey::new(family, id);
        self.commit.compare.push((key.clone(), version.map_or(Expect::Absent, Expect::Version)));
        self.commit.writes.push(Write::Put { key, bytes: bytes(record) });
    }

    /// Takes note that something was settled.
    pub fn settled(&mut self, scope: &Scope, id: &InvocationId) {
        self.index.insert((format!("{COORDINATION}{scope}"), id.to_string()), None);
    }

    fn effect(&mut self, record: &Invocation, effect: &Effect) {
        let member = record.invocation_id.to_string();
        let accepted = score(record.created_at);
        let (index, change) = match effect {
            Effect::Enqueue => (queue(record), Some(accepted)),
            Effect::Dequeue => (queue(record), None),
            Effect::SetTimer(timer, at) => (timers(*timer), Some(score(*at))),
            Effect::ClearTimer(timer) => (timers(*timer), None),
            Effect::Settle(scope) => (format!("{COORDINATION}{scope}"), Some(accepted)),
            Effect::TakePermit { index, below } => {
                self.commit.bounds.push(toolplane_store::Bound { index: index.clone(), below: *below });
                (index.clone(), Some(accepted))
            }
            Effect::ReturnPermit { index } => (index.clone(), None),
            _ => return,
        };
        self.index.insert((index, member), change);
    }

    /// The whole change.
    pub fn into_commit(mut self) -> Commit {
        self.commit.index = self
            .index
            .into_iter()
            .map(|((index, member), change)| match change {
                Some(score) => IndexOp::Put { index, score, member },
                None => IndexOp::Remove { index, member },
            })
            .collect();
        self.commit
    }
}

/// The ready queue a call waits in.
pub fn queue(record: &Invocation) -> String {
    format!("queue/{}/{}", record.band, record.tenant)
}

/// The index of due instants of one kind.
pub fn timers(timer: Timer) -> String {
    format!("timers/{}", timer.as_str())
}

/// An instant as a score.
pub fn score(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0)
}

fn stream(id: &InvocationId) -> String {
    format!("log/{id}")
}
