//! The plans calls are run by: stored once in each shard that needs them, remembered here.

use std::sync::Arc;

use crate::hash::{DashMap, DashSet};
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::Digest;

use crate::plan::DispatchPlan;
use crate::storage::{RecordError, Storage, keys};

/// Plans remembered at once; beyond it the memory starts anew.
const MAX_PLANS: usize = 20_000;

/// The stored plans, and those this process remembers. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    storage: Storage,
    known: Arc<DashMap<Digest, Arc<DispatchPlan>>>,
    /// Which are known to be stored, and in which shard.
    stored: Arc<DashSet<(usize, Digest)>>,
}

impl Plans {
    pub(crate) fn new(storage: Storage) -> Self {
        Self { storage, known: Arc::default(), stored: Arc::default() }
    }

    /// Whether the plan of this digest is known to be stored with `call`.
    pub(crate) fn knows(&self, call: &InvocationKey, digest: &Digest) -> bool {
        self.stored.contains(&(self.storage.shards().of_call(call), *digest))
    }

    /// Remembers a plan that is stored with `call`.
    pub(crate) fn keep(&self, call: &InvocationKey, digest: Digest, plan: Arc<DispatchPlan>) {
        if self.known.len() >= MAX_PLANS || self.stored.len() >= MAX_PLANS {
            self.known.clear();
            self.stored.clear();
        }
        self.stored.insert((self.storage.shards().of_call(call), digest));
        self.known.insert(digest, plan);
    }

    /// The plan of a call, from memory or from the store; `None` when the call has none. Returns an error when the store does, or when the
    /// stored plan is damaged.
    pub(crate) async fn of(&self, record: &Invocation) -> Result<Option<Arc<DispatchPlan>>, RecordError> {
        let Some(dispatch) = &record.dispatch else { return Ok(None) };
        if let Some(plan) = self.known.get(&dispatch.plan_digest) {
            return Ok(Some(plan.clone()));
        }
        let Some(stored) = self.storage.get(&keys::plan(&dispatch.plan_digest)).await? else { return Ok(None) };
        let plan: Arc<DispatchPlan> = Arc::new(serde_json::from_slice(&stored.bytes)?);
        // Where it was accepted, it was stored with it.
        self.keep(&record.key(), dispatch.plan_digest, plan.clone());
        Ok(Some(plan))
    }
}
