//! Changing several invocations in one commit: all of it happens, or nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolplane_lifecycle::Transition;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_store::{Commit, Expect};

use super::cache::{CacheEntry, CachedCall};
use super::handle::Calls;
use crate::storage::commit::{Builder, Extras};
use crate::storage::keys::QueueName;
use crate::storage::{RecordError, Written, keys};

/// The records a decision about several invocations is made on; those that do not exist are missing.
pub(crate) type CallsById = BTreeMap<InvocationKey, Arc<Invocation>>;

/// What was decided about several invocations at once.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    /// At most one transition of each invocation, all of them among those that were read.
    pub(crate) transitions: Vec<Transition>,
    /// What else belongs to the commit: compares, writes, index changes.
    pub(crate) rest: Commit,
}

/// The outcome of a joint change.
#[derive(Debug)]
pub(crate) enum Together {
    /// All of it is stored, or there was nothing to store.
    Done,
    /// Something that was read had changed meanwhile; nothing was written. Read again and decide again.
    Lost,
}

/// A call whose claim is decided, under its locked entry.
pub(crate) struct Claimed {
    /// Which call.
    pub(crate) id: InvocationKey,
    /// Its record before the claim.
    pub(crate) entry: CacheEntry,
    /// The queue it is in.
    pub(crate) queue: QueueName,
    /// The decided claim.
    pub(crate) transition: Transition,
}

impl Calls {
    /// Reads the invocations `ids`, lets `decide` make something of them, and stores that in one commit.
    ///
    /// The commit is lost when any of the invocations read has changed, whether or not `decide` changes it. Invocations
    /// that are being changed by others are waited for; the order of locking is that of the ids, so no two wait for each other.
    /// `None` of `decide` writes nothing. Returns an error as `decide` does, and when the store does.
    pub(crate) async fn change_together(
        &self,
        ids: &[InvocationKey],
        decide: impl FnOnce(&CallsById, Timestamp) -> Result<Option<Joint>, RecordError>,
    ) -> Result<Together, RecordError> {
        let mut entries = self.lock_all(ids).await;
        let read = self.read_again(&mut entries).await;
        if let Err(error) = read {
            self.release(entries);
            return Err(error);
        }
        let records: CallsById =
            entries.iter().filter_map(|(id, entry)| Some((id.clone(), entry.as_ref()?.record.clone()))).collect();
        let decided = match self.now().await {
            Ok(now) => decide(&records, now),
            Err(error) => Err(error),
        };
        let joint = match decided {
            Ok(Some(joint)) => joint,
            other => {
                self.release(entries);
                return other.map(|_| Together::Done);
            }
        };
        match self.commit_joint(&entries, joint).await {
            Ok(Some(stored)) => {
                self.settle_all(entries, stored);
                Ok(Together::Done)
            }
            outcome => {
                for (id, entry) in entries {
                    self.forget(&id, entry);
                }
                outcome.map(|_| Together::Lost)
            }
        }
    }

    async fn lock_all(&self, ids: &[InvocationKey]) -> Vec<(InvocationKey, CacheEntry)> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut entries = Vec::with_capacity(ids.len());
        for id in ids {
            let entry = self.lock(&id).await;
            entries.push((id, entry));
        }
        entries
    }

    /// Reads what is not cached; of a store that others change too, nothing counts as cached.
    async fn read_again(&self, entries: &mut [(InvocationKey, CacheEntry)]) -> Result<(), RecordError> {
        let shared = self.storage().is_shared();
        let absent: Vec<usize> = (0..entries.len()).filter(|at| shared || entries[*at].1.is_none()).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = absent.iter().map(|at| keys::invocation(&entries[*at].0)).collect();
        let found = self.storage().get_many(&wanted).await?;
        for (at, stored) in absent.into_iter().zip(found) {
            let entry = &mut entries[at].1;
            **entry = match (stored, entry.take()) {
                (None, _) => None,
                // What is cached beside the record is worth keeping.
                (Some(stored), Some(call)) if call.version == stored.version => Some(call),
                (Some(stored), _) => Some(CachedCall::read(&stored)?),
            };
        }
        Ok(())
    }

    /// Reads records that are not cached. What is cached may be old where others write too: then what is decided on it is lost.
    /// A damaged record stays absent, and stops no other. Returns an error when the store does.
    pub(crate) async fn read_absent(&self, entries: &mut [(InvocationKey, CacheEntry)]) -> Result<(), RecordError> {
        let absent: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].1.is_none()).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = absent.iter().map(|at| keys::invocation(&entries[*at].0)).collect();
        for (at, stored) in absent.into_iter().zip(self.storage().readable(&wanted).await?) {
            *entries[at].1 = stored.and_then(|stored| CachedCall::read(&stored).ok());
        }
        Ok(())
    }

    /// One try to store several claims in one commit. Returns an error when the store does.
    pub(crate) async fn try_claims(&self, claims: &[Claimed]) -> Result<Written, RecordError> {
        let mut builder = Builder::default();
        for claim in claims {
            let Some(call) = claim.entry.as_ref() else { continue };
            let expect = Expect::Version(call.version);
            builder.transition(&claim.transition, expect, Some(&claim.queue), Extras::default())?;
            self.0.effects.announce(&mut builder, &claim.transition, None);
        }
        self.storage().write(builder.done(true)).await
    }

    /// What follows claims that are stored.
    pub(crate) fn settle_claims(&self, claims: Vec<Claimed>) {
        for Claimed { id, mut entry, transition, .. } in claims {
            let Some(call) = entry.take() else { continue };
            debug_assert_eq!(id, call.record.key());
            self.settle(&mut entry, call, transition, None);
        }
    }

    /// Stores a joint change; `None` when it was lost.
    async fn commit_joint(
        &self,
        entries: &[(InvocationKey, CacheEntry)],
        joint: Joint,
    ) -> Result<Option<Vec<(Transition, Option<QueueName>)>>, RecordError> {
        let mut builder = Builder::with(joint.rest);
        let mut stored = Vec::with_capacity(joint.transitions.len());
        for transition in joint.transitions {
            let entry = entries.iter().find(|(id, _)| *id == transition.key());
            let Some(call) = entry.and_then(|(_, entry)| entry.as_ref()) else { return Err(RecordError::NotFound) };
            let queue = self.queue_for(&transition).await?;
            builder.transition(&transition, Expect::Version(call.version), queue.as_ref(), Extras::default())?;
            self.0.effects.announce(&mut builder, &transition, queue.as_ref());
            stored.push((transition, queue));
        }
        for (id, entry) in entries {
            let expect = entry.as_ref().map_or(Expect::Absent, |call| Expect::Version(call.version));
            builder.compare(keys::invocation(id), expect);
        }
        match self.storage().write(builder.done(true)).await? {
            Written::Applied => Ok(Some(stored)),
            Written::Lost(_) => Ok(None),
            Written::Full(index) => Err(RecordError::Full { index }),
        }
    }

    fn settle_all(&self, entries: Vec<(InvocationKey, CacheEntry)>, stored: Vec<(Transition, Option<QueueName>)>) {
        let mut stored: BTreeMap<InvocationKey, _> =
            stored.into_iter().map(|change| (change.0.key(), change)).collect();
        for (id, mut entry) in entries {
            let Some(call) = entry.take() else {
                self.forget(&id, entry);
                continue;
            };
            match stored.remove(&id) {
                Some((transition, queue)) => drop(self.settle(&mut entry, call, transition, queue.as_ref())),
                None => self.keep(&mut entry, &id, call),
            }
        }
    }
}
