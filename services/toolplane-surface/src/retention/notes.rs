//! Noting that surfaces are used, in a record beside each.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_runtime::tasks;
use toolplane_store::{Commit, CommitOutcome, Expect, Store, StoreError, Versioned, Write};

use crate::cache::Held;
use crate::keys;

/// How often the use of a surface is noted at most.
pub(crate) const NOTED_EVERY: Duration = Duration::from_secs(12 * 60 * 60);

/// What is noted of the use of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Used {
    /// When it was noted, in milliseconds.
    at: u64,
}

impl Used {
    /// A use that is noted at that moment, as it is stored.
    fn stored(at: Timestamp) -> Bytes {
        // A number is always JSON.
        Bytes::from(serde_json::to_vec(&Self { at: keys::score(at) }).unwrap_or_default())
    }

    /// What is unreadable is a use now: the surface stays.
    pub(super) fn read(stored: &Versioned, now: Timestamp) -> Self {
        serde_json::from_slice(&stored.bytes).unwrap_or(Self { at: keys::score(now) })
    }

    pub(super) fn is_older_than(self, age: Duration, now: Timestamp) -> bool {
        keys::score(now).saturating_sub(self.at) >= u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Where the use of surfaces is noted. Cheap to clone.
#[derive(Clone)]
pub(crate) struct UseNotes {
    store: Arc<dyn Store>,
    /// Surfaces that nobody used for so long are deleted; none where absent, and then no use is noted.
    unused_after: Option<Duration>,
}

impl std::fmt::Debug for UseNotes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UseNotes").field("unused_after", &self.unused_after).finish_non_exhaustive()
    }
}

impl UseNotes {
    pub(crate) fn new(store: Arc<dyn Store>, unused_after: Option<Duration>) -> Self {
        Self { store, unused_after }
    }

    /// What is stored beside a surface that is made now.
    pub(crate) fn of_new(&self, tenant: &TenantId, id: &SurfaceId, now: Timestamp) -> Option<Write> {
        self.unused_after?;
        Some(Write::Put { key: keys::surface_use(tenant, id), bytes: Used::stored(now) })
    }

    /// Notes that a surface is used, in the background, if that is due.
    pub(crate) fn note(&self, tenant: &TenantId, held: &Arc<Held>) {
        if self.unused_after.is_none() || !held.claim_note(NOTED_EVERY) {
            return;
        }
        let (notes, tenant, held) = (self.clone(), tenant.clone(), Arc::clone(held));
        let id = held.view().indexed().id().clone();
        drop(tasks::spawn("use of a surface", async move {
            let noted = match notes.store.now().await {
                Ok(now) => notes.write(&tenant, &id, held.view().version(), now).await,
                Err(error) => Err(error),
            };
            match noted {
                Ok(true) => {}
                // The surface was changed meanwhile, or the store is away: the next use notes it.
                Ok(false) => held.give_note_back(),
                Err(error) => {
                    held.give_note_back();
                    tracing::debug!(%error, surface = %id, "the use of a surface is noted later");
                }
            }
        }));
    }

    /// Writes that the surface, as it is stored at `version`, is used now; whether that stands.
    pub(super) async fn write(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        version: u64,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = keys::surface_use(tenant, id);
        let found = self.store.get(&key).await?;
        if found.as_ref().is_some_and(|found| !Used::read(found, now).is_older_than(NOTED_EVERY, now)) {
            return Ok(true);
        }
        let known = found.map_or(Expect::Absent, |found| Expect::Version(found.version));
        // Of a surface that is deleted meanwhile nothing is to be left.
        let commit = Commit {
            compare: vec![(keys::surface(tenant, id), Expect::Version(version)), (key.clone(), known)],
            writes: vec![Write::Put { key, bytes: Used::stored(now) }],
            ..Commit::default()
        };
        Ok(matches!(self.store.commit(commit).await?, CommitOutcome::Applied | CommitOutcome::Replayed))
    }
}
