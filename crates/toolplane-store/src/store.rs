//! The store trait.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde::{Deserialize, Serialize};
use toolplane_records::time::Timestamp;

use crate::commit::{Commit, CommitOutcome, Hint};
use crate::damage::Damage;
use crate::error::StoreError;
use crate::key::{Family, RecordKey, Versioned};
use crate::page::{EventPage, IndexEntry, ScoreRange};

/// The answer of a store call. Boxed, so that a store can be held as `Arc<dyn Store>`.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// One of several records that were asked for together: as it is stored, absent, or damaged.
pub type Found = Result<Option<Versioned>, Damage>;

/// Hints as they come in.
pub type HintStream = Pin<Box<dyn futures_core::Stream<Item = Hint> + Send>>;

/// What survives what, once a commit was answered. Reported to clients, never assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// On this machine's disk: survives the end of the process and a power cut.
    Fsynced,
    /// On the disk of more than one machine.
    FsyncedReplicated,
    /// In memory somewhere: the last moments may be lost with the process or the machine.
    Buffered,
}

impl Durability {
    /// The class's stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fsynced => "fsynced",
            Self::FsyncedReplicated => "fsynced_replicated",
            Self::Buffered => "buffered",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The hints of a store that only this process writes.
struct NoHints;

impl futures_core::Stream for NoHints {
    type Item = Hint;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Hint>> {
        Poll::Ready(None)
    }
}

/// Where the cluster's state lives.
///
/// Commits are atomic and totally ordered. A read sees every commit that was answered before the read began, never a
/// part of a commit, and never anything that a crash could still take back. Dropping the future of a commit does not
/// withdraw the commit: it may still be applied.
///
/// What lies at rest carries a checksum over its name and its bytes (see [`seal`](crate::seal)). A thing that does not
/// fit its own is never answered: a caller that asks for it, or commits something that depends on it, gets
/// [`StoreError::Damaged`]; lists go on without it; [`Store::damage`] names it. Deleting it is allowed.
pub trait Store: Send + Sync + 'static {
    /// Applies `commit` all or nothing, and answers only when it is durable in the class of [`Store::durability`].
    ///
    /// Refuses a malformed commit ([`StoreError::InvalidCommit`], [`StoreError::TooLarge`]) and events that do not
    /// continue their stream ([`StoreError::SequenceGap`]) without writing anything, and a commit that compares a record
    /// which is known to be damaged, or writes over one ([`StoreError::Damaged`]).
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome>;

    /// The record under `key`.
    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>>;

    /// The records under `keys`, in that order, all as of one moment. One that is damaged hides none of the others: for
    /// lists, which go on without it and say so.
    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>>;

    /// The same where each counts: fails with [`StoreError::Damaged`] when one of them is damaged.
    fn get_many<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Option<Versioned>>> {
        Box::pin(async move {
            let found = self.get_each(keys).await?;
            found.into_iter().map(|found| found.map_err(StoreError::Damaged)).collect()
        })
    }

    /// At most `limit` entries of `index` that lie in `range`, in the order the range asks for; no more than
    /// [`MAX_PAGE`](crate::page::MAX_PAGE) at once. [`Store::index_len`] also counts entries that are damaged beyond
    /// help: a caller that must not miss one compares.
    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>>;

    /// The names of the non-empty indexes that start with `prefix`, sorted.
    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>>;

    /// How many members `index` has.
    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64>;

    /// At most `limit` events of `stream` from sequence `from_seq` on, and where the stream begins and ends; no more
    /// than [`MAX_PAGE`](crate::page::MAX_PAGE) at once. Fails with [`StoreError::Damaged`] rather than leave one out.
    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage>;

    /// At most `limit` records of `family` whose id comes after `after`, in byte order of their ids; no more than
    /// [`MAX_PAGE`](crate::page::MAX_PAGE) at once. Damaged ones are left out, and named by [`Store::damage`].
    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>>;

    /// The store's clock: the only one that stored deadlines are compared with. It never goes back.
    fn now(&self) -> StoreFuture<'_, Timestamp>;

    /// What an answered commit survives.
    fn durability(&self) -> Durability;

    /// What is known to be damaged, in the order of its places: found when the store was opened, or found since.
    fn damage(&self) -> Vec<Damage> {
        Vec::new()
    }

    /// Whether other processes may change this store too. When they may not, what this process remembers of a record it
    /// changed last is the truth, and there are no hints.
    fn is_shared(&self) -> bool {
        false
    }

    /// The hints of commits of *other* processes from now on. Ends, or never yields, where no other process can commit;
    /// a reader that falls far behind loses the oldest.
    fn hints(&self) -> HintStream {
        Box::pin(NoHints)
    }
}
