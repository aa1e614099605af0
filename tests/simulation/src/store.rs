//! One scheduler's way to the store that all share: slow at times, answers get lost, and its process dies or is paused
//! between any two steps. And the look of the checks into it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use serde::de::DeserializeOwned;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::stored;
use toolplane_records::time::Timestamp;
use toolplane_store::{
    Commit, CommitOutcome, Durability, EventPage, Family, Found, Hint, HintStream, IndexEntry, MemoryStore, RecordKey,
    ScoreRange, Store, StoreError, StoreFuture, Versioned, Write,
};

use crate::env::{Shared, Turn};
use crate::message::Address;

/// Hints a scheduler may lag behind.
const HINTS: usize = 4_096;

/// The store of a run, as all schedulers share it.
#[derive(Debug)]
pub struct SharedStore {
    model: MemoryStore,
    hints: broadcast::Sender<(Address, Hint)>,
}

impl Default for SharedStore {
    fn default() -> Self {
        Self { model: MemoryStore::default(), hints: broadcast::channel(HINTS).0 }
    }
}

#[expect(clippy::expect_used, reason = "the model store always answers at once and never fails")]
fn at_once<T>(answer: StoreFuture<'_, T>) -> T {
    answer.now_or_never().expect("the model store waits for nothing").expect("the model store does not fail")
}

#[expect(clippy::expect_used, reason = "records were serialised by the scheduler")]
fn read<T: DeserializeOwned>(bytes: &[u8]) -> T {
    stored::read(bytes).expect("a stored record reads back")
}

/// What the checks look at.
impl SharedStore {
    /// The record `id` of `family`.
    pub fn get<T: DeserializeOwned>(&self, family: Family, id: &str) -> Option<T> {
        at_once(self.model.get(&RecordKey::new(family, id))).map(|found| read(&found.bytes))
    }

    /// An invocation.
    pub fn invocation(&self, id: &InvocationKey) -> Option<Invocation> {
        self.get(Family::Invocation, &id.to_string())
    }

    /// Whether an invocation has a result.
    pub fn has_result(&self, id: &InvocationKey) -> bool {
        at_once(self.model.get(&RecordKey::new(Family::Result, id.to_string()))).is_some()
    }

    /// The log of an invocation, with the sequence of each entry.
    pub fn log(&self, id: &InvocationKey) -> Vec<(u64, LogEvent)> {
        let page = at_once(self.model.events(&format!("invocation/{id}"), 1, usize::MAX));
        page.events.into_iter().map(|(seq, event)| (seq, read(&event))).collect()
    }

    /// The non-empty indexes, each with how many members it has.
    pub fn indexes(&self) -> Vec<(String, u64)> {
        let names = at_once(self.model.indexes(""));
        names.into_iter().map(|name| (name.clone(), at_once(self.model.index_len(&name)))).collect()
    }
}

/// The store as one start of one scheduler has it.
#[derive(Debug)]
pub struct StoreOf {
    /// Whose.
    pub who: Address,
    /// Which start of it.
    pub life: u64,
    /// The world around it.
    pub env: Shared,
    /// What all share.
    pub shared: Arc<SharedStore>,
}

impl StoreOf {
    /// Waits until this process may take its next step; never ends when it is dead.
    async fn turn(&self) {
        loop {
            let turn = self.env.lock().turn(self.who, self.life);
            match turn {
                Turn::Now => return,
                Turn::After(millis) => {
                    toolplane_wait::pause(Duration::from_millis(millis), "the clock is simulated").await;
                }
                Turn::Never => std::future::pending().await,
            }
        }
    }

    async fn commit_once(&self, commit: Commit) -> Result<CommitOutcome, StoreError> {
        self.turn().await;
        let hints = commit.hints.clone();
        let written: Vec<(RecordKey, Bytes)> = commit
            .writes
            .iter()
            .map(|write| match write {
                Write::Put { key, bytes } => (key.clone(), bytes.clone()),
                Write::Delete { key } => (key.clone(), Bytes::new()),
            })
            .collect();
        let outcome = self.shared.model.commit(commit).await?;
        let fate = {
            let mut env = self.env.lock();
            env.note(format_args!("{:?} commits: {outcome:?}", self.who));
            for (key, bytes) in &written {
                env.note_bytes(&key.to_string(), bytes);
            }
            env.fate_of_commit(self.who)
        };
        if outcome == CommitOutcome::Applied {
            for hint in hints {
                // There is no listener before the first scheduler.
                let _ = self.shared.hints.send((self.who, hint));
            }
        }
        match fate {
            Fate::Answered => Ok(outcome),
            Fate::AnswerLost => Err(StoreError::OutcomeUnknown { reason: "the answer was lost".to_owned() }),
            Fate::Dies => std::future::pending().await,
        }
    }
}

/// What happens to the answer to a commit.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    /// It arrives.
    Answered,
    /// It is lost; the process does not know the outcome of its commit.
    AnswerLost,
    /// The process dies between its commit and the answer.
    Dies,
}

impl Store for StoreOf {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(self.commit_once(commit))
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            self.turn().await;
            self.shared.model.get(key).await
        })
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        Box::pin(async move {
            self.turn().await;
            self.shared.model.get_each(keys).await
        })
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        Box::pin(async move {
            self.turn().await;
            self.shared.model.scan(index, range, limit).await
        })
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            self.turn().await;
            self.shared.model.indexes(prefix).await
        })
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            self.turn().await;
            self.shared.model.index_len(index).await
        })
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        Box::pin(async move {
            self.turn().await;
            self.shared.model.events(stream, from_seq, limit).await
        })
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        Box::pin(async move {
            self.turn().await;
            self.shared.model.keys(family, after, limit).await
        })
    }

    fn now(&self) -> StoreFuture<'_, Timestamp> {
        Box::pin(async move {
            self.turn().await;
            Ok(self.env.lock().clock())
        })
    }

    fn durability(&self) -> Durability {
        Durability::Buffered
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn hints(&self) -> HintStream {
        let (who, env) = (self.who, self.env.clone());
        let hints = BroadcastStream::new(self.shared.hints.subscribe());
        Box::pin(hints.filter_map(move |hint| {
            let hint = hint.ok().filter(|(sender, _)| *sender != who && !env.lock().loses_hint());
            std::future::ready(hint.map(|(_, hint)| hint))
        }))
    }
}
