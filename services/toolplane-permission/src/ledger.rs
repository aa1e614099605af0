//! The store of this role: atomic changes that also extend one of its two streams, by any number of processes.
//!
//! Nothing here belongs to one process. A change compares the records it was decided from, and takes whatever place in
//! the stream is free; who loses a compare decides again. What is remembered of a stream's head is only a guess.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;
use toolplane_backend::{EAGER, let_others_through};
use toolplane_records::time::Timestamp;
use toolplane_store::{
    Append, Bound, Commit, CommitOutcome, Expect, Hint, IndexOp, RecordKey, Store, StoreError, Versioned, Write,
};
use uuid::Uuid;

use crate::shared_read::SharedRead;

/// How often a place in a stream is looked for before the store counts as too busy.
const PLACES: u32 = 200;
/// How often a commit is sent again when its answer was lost.
const LOST_ANSWERS: u32 = 5;

/// The streams of this role. A stream's head is the revision its watchers follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Every change of every approval.
    Approvals,
    /// Every change of every stored rule.
    Rules,
}

impl Stream {
    const ALL: [Self; 2] = [Self::Approvals, Self::Rules];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Approvals => "approvals",
            Self::Rules => "rules",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stream| stream.name() == name)
    }
}

/// One atomic change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    pub(crate) compare: Vec<(RecordKey, Expect)>,
    pub(crate) bounds: Vec<Bound>,
    pub(crate) writes: Vec<Write>,
    pub(crate) index: Vec<IndexOp>,
    pub(crate) events: Vec<(Stream, Vec<Bytes>)>,
    /// It ends or frees something, so it may use the room a store keeps in reserve.
    pub(crate) essential: bool,
}

impl Change {
    /// Adds what `other` does; the two must not touch the same things.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.compare.extend(other.compare);
        self.bounds.extend(other.bounds);
        self.writes.extend(other.writes);
        self.index.extend(other.index);
        self.events.extend(other.events);
        self
    }
}

/// The outcome of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// It is durable.
    Applied,
    /// What it was decided from is not so any more.
    Lost,
    /// This index has too many members.
    Full(String),
}

/// What is known of a stream.
#[derive(Debug, Default)]
struct Known {
    head: watch::Sender<u64>,
    newest: SharedRead<Result<u64, StoreError>>,
}

/// The role's store.
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    approvals: Known,
    rules: Known,
    /// Writers of this process go one after the other: all of them extend the same streams, and would only take each
    /// other's place. Those of other processes are detected at the store.
    turn: Mutex<()>,
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (approvals, rules) = (*self.approvals.head.borrow(), *self.rules.head.borrow());
        f.debug_struct("Ledger").field("approvals", &approvals).field("rules", &rules).finish_non_exhaustive()
    }
}

impl Ledger {
    /// The ledger kept in `store`.
    pub(crate) async fn open(store: Arc<dyn Store>) -> Result<Self, StoreError> {
        let ledger = Self { store, approvals: Known::default(), rules: Known::default(), turn: Mutex::default() };
        for stream in Stream::ALL {
            ledger.head(stream).await?;
        }
        Ok(ledger)
    }

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The clock everything here expires by.
    pub(crate) async fn now(&self) -> Result<Timestamp, StoreError> {
        self.store.now().await
    }

    pub(crate) async fn get(&self, key: &RecordKey) -> Result<Option<Versioned>, StoreError> {
        self.store.get(key).await
    }

    /// The newest revision of a stream when this is asked, or later, written by any process.
    pub(crate) async fn head(&self, stream: Stream) -> Result<u64, StoreError> {
        let read = async || Ok(self.store.events(stream.name(), u64::MAX, 1).await?.head_seq);
        let head = self.known(stream).newest.ask(read).await?;
        self.seen(stream, head);
        Ok(head)
    }

    /// The newest revision known here, as it grows. Another process may be further.
    pub(crate) fn heads(&self, stream: Stream) -> watch::Receiver<u64> {
        self.known(stream).head.subscribe()
    }

    /// Makes a change durable, or says why it cannot be. Streams are extended at whatever place is free.
    pub(crate) async fn apply(&self, change: Change) -> Result<Done, StoreError> {
        let _turn = self.turn.lock().await;
        let mut commit = Commit {
            operation_id: Some(Uuid::now_v7().simple().to_string()),
            compare: change.compare,
            bounds: change.bounds,
            writes: change.writes,
            index: change.index,
            hints: change.events.iter().map(|(stream, _)| hint(*stream)).collect(),
            events: change.events.into_iter().map(|(stream, events)| self.append(stream, events)).collect(),
            essential: change.essential,
            ..Commit::default()
        };
        let (mut places, mut lost) = (0, 0);
        loop {
            match self.store.commit(commit.clone()).await {
                Ok(CommitOutcome::Applied | CommitOutcome::Replayed) => {
                    self.took(&commit.events);
                    return Ok(Done::Applied);
                }
                Ok(CommitOutcome::Lost { .. }) => return Ok(Done::Lost),
                Ok(CommitOutcome::Full { index }) => return Ok(Done::Full(index)),
                Err(StoreError::SequenceGap { stream, expected, .. }) if places < PLACES => {
                    places += 1;
                    let_others_through(places).await;
                    for append in commit.events.iter_mut().filter(|append| append.stream == stream) {
                        append.first_seq = expected;
                    }
                }
                // The same operation again finds out its outcome.
                Err(StoreError::OutcomeUnknown { .. }) if lost < LOST_ANSWERS => {
                    lost += 1;
                    let_others_through(EAGER + lost).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes notice of what other processes write, until `stop`. Without it they are noticed later.
    pub(crate) async fn listen(&self, stop: &CancellationToken) {
        let mut hints = self.store.hints();
        while let Some(Some(hint)) = stop.run_until_cancelled(hints.next()).await {
            let Some(stream) = Stream::of(&hint.topic) else { continue };
            if let Err(error) = self.head(stream).await {
                tracing::debug!(%error, "a hint cannot be followed up now");
            }
        }
    }

    fn append(&self, stream: Stream, events: Vec<Bytes>) -> Append {
        let first_seq = *self.known(stream).head.borrow() + 1;
        Append { stream: stream.name().to_owned(), first_seq, events }
    }

    fn took(&self, appended: &[Append]) {
        for append in appended {
            if let Some(stream) = Stream::of(&append.stream) {
                self.seen(stream, append.first_seq + append.events.len() as u64 - 1);
            }
        }
    }

    fn seen(&self, stream: Stream, head: u64) {
        self.known(stream).head.send_if_modified(|known| {
            let newer = head > *known;
            *known = head.max(*known);
            newer
        });
    }

    fn known(&self, stream: Stream) -> &Known {
        match stream {
            Stream::Approvals => &self.approvals,
            Stream::Rules => &self.rules,
        }
    }
}

fn hint(stream: Stream) -> Hint {
    Hint { topic: stream.name().to_owned(), body: Bytes::new() }
}
