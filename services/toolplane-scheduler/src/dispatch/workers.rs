//! The workers connected to this process: which pools they serve, and who runs which call.

use std::sync::Arc;

use dashmap::DashMap;
use toolplane_lifecycle::LeaseKey;
use toolplane_records::SmolStr;
use toolplane_records::ids::{InvocationKey, LeaseId, WorkerId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;

use super::link::{PoolGap, WorkerLink};
use super::message::WorkerMessage;
use crate::cluster::Served;

/// Whether calls of a pool can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Some connected worker serves the pool.
    Served,
    /// Every connected worker that knows the pool says why it cannot serve it.
    Gap(PoolGap),
    /// No connected worker knows the pool; one may come.
    NoWorker,
}

/// All connected workers.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    links: DashMap<WorkerId, Arc<WorkerLink>>,
    assignments: DashMap<InvocationKey, Arc<WorkerLink>>,
}

impl Workers {
    /// Adds a worker; an earlier link of the same worker is replaced.
    pub(crate) fn connect(&self, link: Arc<WorkerLink>) {
        self.links.insert(link.info.worker_id.clone(), link);
    }

    /// The incarnation of a connected worker of this id that is not `incarnation`, when there is one.
    pub(crate) fn other_incarnation(&self, worker_id: &WorkerId, incarnation: &str) -> Option<SmolStr> {
        let link = self.links.get(worker_id)?;
        (link.info.incarnation != incarnation && !link.is_closed()).then(|| link.info.incarnation.clone())
    }

    /// Removes a worker, unless a newer link took its place.
    pub(crate) fn disconnect(&self, link: &Arc<WorkerLink>) {
        self.links.remove_if(&link.info.worker_id, |_, current| Arc::ptr_eq(current, link));
        self.assignments.retain(|_, assigned| !Arc::ptr_eq(assigned, link));
    }

    /// Every connected worker, ordered by id.
    pub(crate) fn list(&self) -> Vec<Arc<WorkerLink>> {
        let mut links: Vec<_> = self.links.iter().map(|entry| entry.value().clone()).collect();
        links.sort_by(|a, b| a.info.worker_id.cmp(&b.info.worker_id));
        links
    }

    /// Whether calls of `pool` can be run.
    pub(crate) fn placement(&self, pool: &str) -> Placement {
        let mut gap = None;
        for entry in &self.links {
            if entry.info.serves(pool) {
                return Placement::Served;
            }
            gap = gap.or_else(|| entry.info.gaps.iter().find(|gap| gap.pool == pool).cloned());
        }
        gap.map_or(Placement::NoWorker, Placement::Gap)
    }

    /// Free slots of all workers that serve `pool`.
    pub(crate) fn free_slots(&self, pool: &str) -> usize {
        let free = |link: &WorkerLink| link.info.slots.saturating_sub(link.busy());
        self.links.iter().filter(|entry| entry.serves(pool)).map(|entry| free(entry.value())).sum()
    }

    /// Takes a slot for `record`, which gets the lease `lease_id` next, at the least busy worker of `pool`.
    pub(crate) fn reserve(&self, pool: &str, record: &Invocation, lease_id: &LeaseId) -> Option<Arc<WorkerLink>> {
        let id = record.key();
        if self.assignments.contains_key(&id) {
            return None;
        }
        let lease = |link: &WorkerLink| LeaseKey {
            tenant: id.tenant.clone(),
            invocation_id: id.id.clone(),
            lease_no: record.lease_no + 1,
            lease_id: lease_id.clone(),
            holder: link.holder(),
        };
        // Of equally busy ones the first by id. Who is full meanwhile is passed over with the next look.
        let link = loop {
            let free = self.links.iter().filter(|entry| entry.serves(pool) && entry.has_room());
            let link = free.min_by(|one, other| one.precedence().cmp(&other.precedence()))?.value().clone();
            if link.take_slot(&id, lease(&link)) {
                break link;
            }
        };
        self.assignments.insert(id, link.clone());
        Some(link)
    }

    /// Records that `link` still runs a call.
    pub(crate) fn adopt(&self, link: &Arc<WorkerLink>, lease: LeaseKey) {
        self.assignments.insert(lease.call(), link.clone());
        link.adopt(lease);
    }

    /// Frees the slot of a call that is no longer leased.
    pub(crate) fn unassign(&self, id: &InvocationKey) {
        if let Some((_, link)) = self.assignments.remove(id) {
            link.give_back(id);
        }
    }

    pub(crate) fn send(&self, worker_id: &WorkerId, message: WorkerMessage) {
        if let Some(link) = self.links.get(worker_id) {
            link.send(message);
        }
    }

    /// Notes a sign of life of this start of a worker, if it is connected here.
    pub(crate) fn seen(&self, worker_id: &WorkerId, incarnation: &str, now: Timestamp) {
        if let Some(link) = self.links.get(worker_id).filter(|link| link.info.incarnation == incarnation) {
            link.seen(now);
        }
    }

    /// The worker of this id that is connected to this process.
    pub(crate) fn here(&self, worker_id: &WorkerId) -> Option<Arc<WorkerLink>> {
        self.links.get(worker_id).filter(|link| !link.is_closed()).map(|link| link.value().clone())
    }

    /// Whether the worker is connected to this process.
    pub(crate) fn is_here(&self, worker_id: &WorkerId) -> bool {
        self.here(worker_id).is_some()
    }

    /// Every lease a slot is taken for.
    pub(crate) fn assigned(&self) -> Vec<LeaseKey> {
        {
            let mut leases: Vec<LeaseKey> = self.links.iter().flat_map(|entry| entry.leases()).collect();
            leases.sort_by_key(LeaseKey::call);
            leases
        }
    }

    /// The worker the lease with this secret was given to, when it is connected here.
    pub(crate) fn holder_of(&self, lease_id: &str) -> Option<WorkerId> {
        let holds = |link: &WorkerLink| link.leases().iter().any(|lease| lease.lease_id.as_str() == lease_id);
        self.links.iter().find(|entry| holds(entry.value())).map(|entry| entry.info.worker_id.clone())
    }

    /// Frees the slot of exactly this lease.
    pub(crate) fn unassign_lease(&self, lease: &LeaseKey) {
        let held = |_: &InvocationKey, link: &Arc<WorkerLink>| link.runs(lease);
        if let Some((id, link)) = self.assignments.remove_if(&lease.call(), held) {
            link.give_back(&id);
        }
    }

    /// What connected workers serve, each as it said.
    pub(crate) fn served(&self) -> Vec<Served> {
        let said =
            |link: &WorkerLink| Served { pools: link.info.pools.clone(), native_tools: link.info.native_tools.clone() };
        let mut served: Vec<Served> = self.links.iter().map(|entry| said(entry.value())).collect();
        served.sort_unstable();
        served.dedup();
        served
    }
}
