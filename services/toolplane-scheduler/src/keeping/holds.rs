//! Legal holds: what may not be removed, whoever asks and however old it is.

use serde::{Deserialize, Serialize};
use toolplane_records::SmolStr;
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_store::{Expect, RecordKey};

use crate::storage::commit::Builder;
use crate::storage::{RecordError, Storage, Written, keys};

/// Most holds of one tenant: their record is read for every call that is removed.
pub(crate) const MOST: usize = 1_000;

/// What a hold is on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HoldScope {
    /// Every call of the tenant.
    Tenant,
    /// Every call of one session.
    Session(SmolStr),
    /// One call.
    Invocation(InvocationId),
}

/// One hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LegalHold {
    pub(crate) scope: HoldScope,
    /// Why, in the words of who set it.
    pub(crate) reason: String,
    pub(crate) set_by: String,
    pub(crate) set_at: Timestamp,
}

impl LegalHold {
    fn is_on(&self, record: &Invocation) -> bool {
        match &self.scope {
            HoldScope::Tenant => true,
            HoldScope::Session(session) => record.session_ref.as_ref() == Some(session),
            HoldScope::Invocation(id) => record.invocation_id == *id,
        }
    }
}

/// All holds of one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HoldsOfTenant {
    pub(crate) holds: Vec<LegalHold>,
}

impl HoldsOfTenant {
    /// The first hold that is on `record`, when one is.
    pub(crate) fn on(&self, record: &Invocation) -> Option<&LegalHold> {
        self.holds.iter().find(|hold| hold.is_on(record))
    }
}

/// Sets, clears and tells holds. Cheap to clone.
///
/// Each shard has the holds of every tenant once, so that a commit that removes a call can compare them. A hold counts when all have it.
#[derive(Clone, Debug)]
pub(crate) struct Holds {
    storage: Storage,
}

impl Holds {
    pub(crate) fn new(storage: Storage) -> Self {
        Self { storage }
    }

    /// The holds of `tenant`, as shard `shard` has them, and what a commit there compares.
    pub(super) async fn in_shard(
        &self,
        tenant: &TenantId,
        shard: usize,
    ) -> Result<(HoldsOfTenant, (RecordKey, Expect)), RecordError> {
        let key = keys::holds(shard, tenant);
        Ok(match self.storage.get(&key).await? {
            Some(stored) => (serde_json::from_slice(&stored.bytes)?, (key, Expect::Version(stored.version))),
            None => (HoldsOfTenant::default(), (key, Expect::Absent)),
        })
    }

    /// The hold that is on `record`, when one is.
    pub(crate) async fn on(&self, record: &Invocation) -> Result<Option<LegalHold>, RecordError> {
        let shard = self.storage.shards().of_call(&record.key());
        Ok(self.in_shard(&record.tenant, shard).await?.0.on(record).cloned())
    }

    /// The holds of `tenant`.
    pub(crate) async fn of(&self, tenant: &TenantId) -> Result<Vec<LegalHold>, RecordError> {
        Ok(self.in_shard(tenant, 0).await?.0.holds)
    }

    /// Sets a hold; one on the same that is there already stays as it is. False when the tenant has as many as there may be.
    pub(crate) async fn set(&self, tenant: &TenantId, hold: &LegalHold) -> Result<bool, RecordError> {
        let is_there = |holds: &HoldsOfTenant| holds.holds.iter().any(|known| known.scope == hold.scope);
        let changed = self.change(tenant, |holds| {
            if !is_there(holds) && holds.holds.len() < MOST {
                holds.holds.push(hold.clone());
            }
            is_there(holds)
        });
        changed.await
    }

    /// Clears the hold on `scope`. False when there is none.
    pub(crate) async fn clear(&self, tenant: &TenantId, scope: &HoldScope) -> Result<bool, RecordError> {
        let changed = self.change(tenant, |holds| {
            let before = holds.holds.len();
            holds.holds.retain(|hold| hold.scope != *scope);
            holds.holds.len() < before
        });
        changed.await
    }

    /// Changes the holds of `tenant` in every shard; whether `change` says so of any. The first shard is the last: it is what is told, and
    /// a change that broke off is made again by who asks again.
    async fn change(
        &self,
        tenant: &TenantId,
        change: impl Fn(&mut HoldsOfTenant) -> bool,
    ) -> Result<bool, RecordError> {
        let mut any = false;
        for shard in (0..self.storage.shards().count()).rev() {
            loop {
                let (mut holds, (key, expect)) = self.in_shard(tenant, shard).await?;
                let before = holds.clone();
                any |= change(&mut holds);
                if holds == before {
                    break;
                }
                let mut builder = Builder::default();
                builder.compare(key.clone(), expect);
                builder.put_json(key, &holds)?;
                // Lost when somebody else changed them just now.
                if matches!(self.storage.write(builder.done(true)).await?, Written::Applied) {
                    break;
                }
            }
        }
        Ok(any)
    }
}
