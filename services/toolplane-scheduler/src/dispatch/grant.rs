//! Granting leases: a free slot of a worker, a fence, and the places the call takes while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolplane_lifecycle::LeaseGrant;
use toolplane_records::ids::{InvocationKey, LeaseId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;

use super::workers::Workers;
use crate::cluster::Members;
use crate::environment::Environment;
use crate::limits::CallLimits;
use crate::plan::DispatchPlan;

/// Takes slots of workers. What is granted is only a plan until a commit says so.
#[derive(Debug)]
pub(crate) struct Grants {
    workers: Arc<Workers>,
    limits: Arc<CallLimits>,
    members: Arc<Members>,
    offer_ms: i64,
    environment: Environment,
    stopped: AtomicBool,
}

impl Grants {
    /// Grants slots of `workers`, with fences of `members`; an offer waits `offer_ms` for its receipt.
    pub(crate) fn new(
        workers: Arc<Workers>,
        limits: Arc<CallLimits>,
        members: Arc<Members>,
        offer_ms: i64,
        environment: Environment,
    ) -> Self {
        Self { workers, limits, members, offer_ms, environment, stopped: AtomicBool::new(false) }
    }

    /// Nothing is granted here any more.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Free slots of all workers that serve `pool`.
    pub(crate) fn free_slots(&self, pool: &str) -> usize {
        if self.stopped.load(Ordering::Acquire) { 0 } else { self.workers.free_slots(pool) }
    }

    /// Takes a slot for `record` at a worker, and says under which lease; `None` when no slot is free.
    pub(crate) fn reserve(
        &self,
        pool: &str,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        now: Timestamp,
    ) -> Option<LeaseGrant> {
        if self.stopped.load(Ordering::Acquire) {
            return None;
        }
        let lease_id = LeaseId::of(&record.tenant, &self.environment.uuid());
        let worker = self.workers.reserve(pool, record, &lease_id)?;
        Some(LeaseGrant {
            lease_id,
            fence: self.members.next_fence(now, record.last_fence),
            worker_id: worker.info.worker_id.clone(),
            incarnation: worker.info.incarnation.clone(),
            offer_ms: self.offer_ms,
            permits: plan.map(|plan| self.limits.permits(&record.tenant, plan)).unwrap_or_default(),
        })
    }

    /// The slot that was taken for `id` is free again.
    pub(crate) fn give_back(&self, id: &InvocationKey) {
        self.workers.unassign(id);
    }
}
