//! The order of all changes of tools and surfaces, over all processes that share a store.
//!
//! One record counts them: each change raises the count in its own commit, so no number is given twice, and who has not
//! seen the newest change cannot commit what depends on it. An index says at which number each tool and each surface
//! was changed last; a process that has read up to a number finds in it what is newer. Where only this process writes,
//! it counts in memory, and nothing of this is stored.

mod followers;

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_backend::let_others_through;
use toolplane_store::{Commit, CommitOutcome, Expect, Hint, IndexOp, ScoreRange, Store, StoreError, Versioned, Write};

pub(crate) use followers::{Followers, RENEW};

use crate::keys;
use crate::sync::Subject;

/// How often the next number is tried for before the store counts as too busy.
const TRIES: u32 = 200;
/// How many changes are read at once.
const PAGE: usize = 1_000;

/// How far the count has come: the newest change there is, or the newest that is known of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// Version of the record that counts; 0 before the first change.
    pub(crate) version: u64,
    /// The number of the newest change.
    pub(crate) revision: u64,
}

/// What the counting record holds.
#[derive(Serialize, Deserialize)]
struct Counted {
    revision: u64,
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// It is durable: under this number, where others read the count.
    At(Option<Head>),
    /// There are newer changes than the one it was decided from.
    Behind,
    /// Another process changed the same thing first.
    Lost,
}

/// The count of changes, and the way to make one.
pub(crate) struct Changes {
    store: Arc<dyn Store>,
    /// The newest head this process knows of. Writers of one process go one after the other: all of them raise the same
    /// count, and would only take each other's number. Those of other processes are detected at the store.
    turn: tokio::sync::Mutex<Head>,
}

impl Head {
    fn read(found: Option<&Versioned>) -> Result<Self, StoreError> {
        let Some(found) = found else { return Ok(Self::default()) };
        let unreadable = |error: serde_json::Error| StoreError::Corrupt {
            reason: format!("the record `{}` is not a count of changes: {error}", keys::count()),
        };
        let Counted { revision } = serde_json::from_slice(&found.bytes).map_err(unreadable)?;
        Ok(Self { version: found.version, revision })
    }

    fn expected(self) -> Expect {
        if self.version == 0 { Expect::Absent } else { Expect::Version(self.version) }
    }

    /// Whether `other` is exactly the next change.
    pub(crate) fn is_followed_by(self, other: Self) -> bool {
        self.version + 1 == other.version
    }
}

impl Changes {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, turn: tokio::sync::Mutex::default() }
    }

    /// The newest change, made by any process.
    pub(crate) async fn head(&self) -> Result<Head, StoreError> {
        Head::read(self.store.get(&keys::count()).await?.as_ref())
    }

    /// What was changed after `revision`, each thing once, by the number of its last change.
    pub(crate) async fn since(&self, revision: u64) -> Result<Vec<(u64, Subject)>, StoreError> {
        let mut found = Vec::new();
        let mut range = ScoreRange::between(revision.saturating_add(1), u64::MAX);
        loop {
            let page = self.store.scan(keys::CHANGES, range.clone(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            range = range.after(last);
            found.extend(page.iter().filter_map(|entry| Some((entry.score, keys::subject(&entry.member)?))));
        }
    }

    /// Makes `commit` durable as the next change, which is about `subjects`. With a `basis`, only when nothing has changed
    /// since; without one, at whatever number is free.
    pub(crate) async fn make(
        &self,
        commit: Commit,
        subjects: &[Subject],
        basis: Option<Head>,
    ) -> Result<Made, StoreError> {
        if !self.store.is_shared() {
            return Ok(match committed(self.store.commit(commit).await)? {
                Committed::Done => Made::At(None),
                Committed::Lost(_) => Made::Lost,
            });
        }
        let mut known = self.turn.lock().await;
        let mut head = basis.unwrap_or(*known);
        for tries in 1..=TRIES {
            if basis.is_some() && head.version < known.version {
                return Ok(Made::Behind);
            }
            let next = self.after(head).await?;
            match committed(self.store.commit(numbered(&commit, subjects, head, next)).await)? {
                Committed::Done => {
                    *known = next;
                    return Ok(Made::At(Some(next)));
                }
                Committed::Lost(Some(newer)) => {
                    *known = newer;
                    head = if basis.is_some() { head } else { newer };
                }
                Committed::Lost(None) => return Ok(Made::Lost),
            }
            let_others_through(tries).await;
        }
        Err(StoreError::Unavailable { reason: "too many writers change tools and surfaces at once".to_owned() })
    }

    async fn after(&self, head: Head) -> Result<Head, StoreError> {
        let revision = match head.version {
            // Begun at the clock, it is ahead of every number a process of before counted in memory.
            0 => keys::score(self.store.now().await?),
            _ => head.revision + 1,
        };
        Ok(Head { version: head.version + 1, revision })
    }
}

/// What a store said to a commit.
enum Committed {
    Done,
    /// A compare or a log did not fit: with the newest head, when it was the count alone.
    Lost(Option<Head>),
}

fn committed(outcome: Result<CommitOutcome, StoreError>) -> Result<Committed, StoreError> {
    match outcome {
        Ok(CommitOutcome::Applied | CommitOutcome::Replayed) => Ok(Committed::Done),
        Ok(CommitOutcome::Lost { current }) => match current.as_slice() {
            [(key, found)] if *key == keys::count() => Ok(Committed::Lost(Some(Head::read(found.as_ref())?))),
            _ => Ok(Committed::Lost(None)),
        },
        // A log has an entry for each change of what it is about.
        Ok(CommitOutcome::Full { .. }) | Err(StoreError::SequenceGap { .. }) => Ok(Committed::Lost(None)),
        Err(error) => Err(error),
    }
}

fn numbered(commit: &Commit, subjects: &[Subject], head: Head, next: Head) -> Commit {
    let mut commit = commit.clone();
    commit.compare.push((keys::count(), head.expected()));
    let counted = serde_json::to_vec(&Counted { revision: next.revision }).unwrap_or_default();
    commit.writes.push(Write::Put { key: keys::count(), bytes: Bytes::from(counted) });
    let moved = subjects.iter().map(|subject| IndexOp::Put {
        index: keys::CHANGES.to_owned(),
        score: next.revision,
        member: keys::member(subject),
    });
    commit.index.extend(moved);
    commit.hints.push(Hint { topic: keys::CHANGES.to_owned(), body: Bytes::new() });
    commit
}
