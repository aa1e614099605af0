//! The store as the scheduler uses it: reads, and one way to commit that deals with lost answers.
//!
//! It knows names and bytes, and nothing of what happens to a call.

pub(crate) mod commit;
mod error;
pub(crate) mod keys;
mod loans;
pub(crate) mod shards;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolplane_records::time::Timestamp;
use toolplane_store::{
    Commit, CommitOutcome, Durability, EventPage, Family, Found, HintStream, IndexEntry, RecordKey, Retry, ScoreRange,
    Store, StoreError, Versioned, Write,
};

use crate::environment::Environment;

use loans::Loans;
pub(crate) use shards::Shards;

pub use error::RecordError;

/// How long the same commit is repeated while its outcome is unknown.
const PATIENCE: Duration = Duration::from_secs(10);
/// First wait between repetitions; doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(20);
/// Entries read to find one among those that stand where it would.
const NEAR: usize = 8;
/// Longest wait between repetitions.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The outcome of a commit, once that is known for sure.
#[derive(Debug)]
pub(crate) enum Written {
    /// It is durable, now or since an attempt whose answer was lost.
    Applied,
    /// A compare did not hold; nothing was written. The records as they are now.
    Lost(Vec<(RecordKey, Option<Versioned>)>),
    /// This index has no room; nothing was written.
    Full(String),
}

/// The scheduler's store. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Storage {
    store: Arc<dyn Store>,
    shared: bool,
    environment: Environment,
    shards: Shards,
    loans: Loans,
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Storage {
    /// A store of one shard.
    #[cfg(test)]
    pub(crate) fn new(store: Arc<dyn Store>, environment: Environment) -> Self {
        Self::spread(store, Shards::ONE, environment)
    }

    /// The scheduler's store, whose shards are these.
    pub(crate) fn spread(store: Arc<dyn Store>, shards: Shards, environment: Environment) -> Self {
        let shared = store.is_shared();
        Self { store, shared, environment, shards, loans: Loans::default() }
    }

    /// The shards of the store: changes of what lies in different ones are different commits.
    pub(crate) fn shards(&self) -> Shards {
        self.shards
    }

    /// The process this is used in.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether other processes write to the store too.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// What an acknowledged commit survives.
    pub(crate) fn durability(&self) -> Durability {
        self.store.durability()
    }

    /// The store's clock. Returns an error when the store does not answer.
    pub(crate) async fn now(&self) -> Result<Timestamp, RecordError> {
        Ok(self.store.now().await?)
    }

    /// What other processes tell of their commits; it ends when the connection does.
    pub(crate) fn hints(&self) -> HintStream {
        self.store.hints()
    }

    /// One record. Returns an error when it is damaged, or the store does not answer.
    pub(crate) async fn get(&self, key: &RecordKey) -> Result<Option<Versioned>, StoreError> {
        self.store.get(key).await
    }

    /// Several records at once; fails when one of them is damaged.
    pub(crate) async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Versioned>>, StoreError> {
        self.store.get_many(keys).await
    }

    /// Several records at once, each for itself: a damaged one is told beside the others.
    pub(crate) async fn get_each(&self, keys: &[RecordKey]) -> Result<Vec<Found>, StoreError> {
        self.store.get_each(keys).await
    }

    /// Several records at once. One that is damaged counts as absent: for loops over many records that must not stop at one.
    /// The store has named it in its log.
    pub(crate) async fn readable(&self, keys: &[RecordKey]) -> Result<Vec<Option<Versioned>>, RecordError> {
        Ok(self.get_each(keys).await?.into_iter().map(|found| found.ok().flatten()).collect())
    }

    /// Entries of an index, at most `limit`.
    pub(crate) async fn scan(
        &self,
        index: &str,
        range: ScoreRange,
        limit: usize,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.store.scan(index, range, limit).await
    }

    /// Whether an index has this very entry.
    pub(crate) async fn has_entry(&self, index: &str, entry: &IndexEntry) -> Result<bool, StoreError> {
        // From just before the one that is looked for.
        let before = entry.member.char_indices().next_back().map_or("", |(last, _)| &entry.member[..last]);
        let mut range = ScoreRange::between(entry.score, entry.score);
        range.after = Some((entry.score, before.to_owned()));
        let near = self.scan(index, range, NEAR).await?;
        Ok(near.contains(entry))
    }

    /// The names of indexes with members, by prefix.
    pub(crate) async fn indexes(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.store.indexes(prefix).await
    }

    /// How many members an index has.
    pub(crate) async fn index_len(&self, index: &str) -> Result<u64, StoreError> {
        self.store.index_len(index).await
    }

    /// A page of a stream.
    pub(crate) async fn events(&self, stream: &str, from_seq: u64, limit: usize) -> Result<EventPage, StoreError> {
        self.store.events(stream, from_seq, limit).await
    }

    /// A page of a family, by id.
    pub(crate) async fn keys(
        &self,
        family: Family,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Versioned)>, StoreError> {
        self.store.keys(family, after, limit).await
    }

    /// Whether every shard takes commits at this moment: one that is being moved may answer reads and refuse them. Fails with
    /// the error of the first that does not. One shard is not asked.
    pub(crate) async fn takes_commits(&self) -> Result<(), StoreError> {
        let asked = (0..self.shards.count()).filter(|_| self.shards.are_several()).map(|shard| {
            let writes = vec![Write::Delete { key: keys::nothing(shard) }];
            self.store.commit(Commit { writes, essential: true, ..Commit::default() })
        });
        futures_util::future::try_join_all(asked).await.map(drop)
    }

    /// Commits with one attempt. For what is only told to people: an error leaves open whether it was written.
    pub(crate) async fn write_once(&self, commit: Commit) -> Result<Written, StoreError> {
        Ok(written(self.store.commit(commit).await?))
    }

    /// Commits, and repeats the same commit under the same operation id while its outcome is unknown. Its bounds hold over all
    /// shards.
    ///
    /// An error means that nothing was written, unless it is [`RecordError::OutcomeUnknown`]. Must run in a task that is not
    /// dropped half way: what follows a commit would be left undone.
    pub(crate) async fn write(&self, commit: Commit) -> Result<Written, RecordError> {
        match self.shards.are_several() && !commit.bounds.is_empty() {
            true => Box::pin(self.loans.write(self, commit)).await,
            false => self.settle(commit).await,
        }
    }

    async fn settle(&self, commit: Commit) -> Result<Written, RecordError> {
        if !self.shared {
            // One process, one store: answers are not lost on the way.
            return Ok(written(self.store.commit(commit).await?));
        }
        Box::pin(self.settle_shared(commit)).await
    }

    async fn settle_shared(&self, mut commit: Commit) -> Result<Written, RecordError> {
        commit.operation_id.get_or_insert_with(|| format!("op_{}", self.environment.uuid().simple()));
        let (give_up, mut wait) = (Instant::now() + PATIENCE, FIRST_WAIT);
        let mut unsure = false;
        loop {
            let error = match self.store.commit(commit.clone()).await {
                Ok(outcome) => return Ok(written(outcome)),
                Err(error) => error,
            };
            match error.retry() {
                Retry::Ambiguous => unsure = true,
                // Once an attempt may have gone through, "nothing was written" is only said of the newest one.
                Retry::Definite if unsure => {}
                Retry::Definite | Retry::Never | Retry::Fatal => return Err(error.into()),
            }
            if Instant::now() + wait >= give_up {
                return Err(RecordError::OutcomeUnknown(error));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

fn written(outcome: CommitOutcome) -> Written {
    match outcome {
        CommitOutcome::Applied | CommitOutcome::Replayed => Written::Applied,
        CommitOutcome::Lost { current } => Written::Lost(current),
        CommitOutcome::Full { index } => Written::Full(index),
    }
}
