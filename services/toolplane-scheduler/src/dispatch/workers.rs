//! The workers connected to this process: which pools they serve, and who runs which call.

use std::sync::Arc;

use crate::hash::DashMap;
use dashmap::mapref::entry::Entry;
use toolplane_lifecycle::LeaseKey;
use toolplane_metrics::{names, table};
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

/// The open streams of one worker. Usually there is one; a worker that was not answered in time opens another, and it is
/// not known which of them it reads: the hello of a stream it has given up may be the one that is taken last.
#[derive(Debug)]
struct Streams {
    newest: Arc<WorkerLink>,
    earlier: Vec<Arc<WorkerLink>>,
}

impl Streams {
    /// The one calls are sent through: the newest whose messages are still read.
    fn in_use(&self) -> &Arc<WorkerLink> {
        let open = [&self.newest].into_iter().chain(self.earlier.iter().rev()).find(|link| !link.is_closed());
        open.unwrap_or(&self.newest)
    }

    /// Takes out one that ended; false when it was the last.
    fn end(&mut self, link: &Arc<WorkerLink>) -> bool {
        self.earlier.retain(|earlier| !Arc::ptr_eq(earlier, link));
        if !Arc::ptr_eq(&self.newest, link) {
            return true;
        }
        match self.earlier.pop() {
            Some(earlier) => self.newest = earlier,
            None => return false,
        }
        true
    }
}

/// All connected workers.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    streams: DashMap<WorkerId, Streams>,
    assignments: DashMap<InvocationKey, Arc<WorkerLink>>,
}

impl Workers {
    /// Adds a stream of a worker, through which its calls are sent from now on. Earlier ones of this start of the worker are kept
    /// until they end.
    pub(crate) fn connect(&self, link: Arc<WorkerLink>) {
        let same_start =
            |earlier: &WorkerLink| earlier.info.incarnation == link.info.incarnation && !earlier.is_closed();
        match self.streams.entry(link.info.worker_id.clone()) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                let replaced = std::mem::replace(&mut known.newest, link.clone());
                known.earlier.push(replaced);
                known.earlier.retain(|earlier| same_start(earlier));
            }
            Entry::Vacant(place) => drop(place.insert(Streams { newest: link, earlier: Vec::new() })),
        }
    }

    /// The incarnation of a connected worker of this id that is not `incarnation`, when there is one.
    pub(crate) fn other_incarnation(&self, worker_id: &WorkerId, incarnation: &str) -> Option<SmolStr> {
        let link = self.here(worker_id)?;
        (link.info.incarnation != incarnation).then(|| link.info.incarnation.clone())
    }

    /// Removes a stream that ended. When the worker has another one that is open, what it was given through this one counts for that.
    pub(crate) fn disconnect(&self, link: &Arc<WorkerLink>) {
        self.streams.remove_if_mut(&link.info.worker_id, |_, streams| !streams.end(link));
        let heir = self.here(&link.info.worker_id);
        self.assignments.retain(|call, assigned| {
            let lease = Arc::ptr_eq(assigned, link).then(|| link.lease_of(call));
            match (lease, &heir) {
                (None, _) => true,
                (Some(Some(lease)), Some(heir)) => {
                    heir.adopt(lease);
                    *assigned = heir.clone();
                    true
                }
                (Some(_), _) => false,
            }
        });
    }

    /// What connected workers say of themselves, and how to talk to each.
    fn in_use(&self) -> impl Iterator<Item = Arc<WorkerLink>> + '_ {
        self.streams.iter().map(|streams| streams.in_use().clone())
    }

    /// Every connected worker, ordered by id.
    pub(crate) fn list(&self) -> Vec<Arc<WorkerLink>> {
        let mut links: Vec<_> = self.in_use().collect();
        links.sort_by(|a, b| a.info.worker_id.cmp(&b.info.worker_id));
        links
    }

    /// Whether calls of `pool` can be run.
    pub(crate) fn placement(&self, pool: &str) -> Placement {
        let mut gap = None;
        for streams in &self.streams {
            let info = &streams.newest.info;
            if info.serves(pool) {
                return Placement::Served;
            }
            gap = gap.or_else(|| info.gaps.iter().find(|gap| gap.pool == pool).cloned());
        }
        gap.map_or(Placement::NoWorker, Placement::Gap)
    }

    /// Sets the levels of pools, as workers are connected now. A worker has its slots in each of its pools.
    pub(crate) fn tell_levels(&self) {
        let (mut workers, mut slots) = (Vec::new(), Vec::new());
        for link in self.in_use() {
            let busy = link.busy().min(link.info.slots);
            let level = |slots: usize| i64::try_from(slots).unwrap_or(i64::MAX);
            for pool in link.info.served_pools() {
                let pool = names::POOLS.name(&pool);
                workers.push(([pool], 1));
                slots.push(([pool, "busy"], level(busy)));
                slots.push(([pool, "free"], level(link.info.slots - busy)));
            }
        }
        table::POOL_WORKERS.replace(workers);
        table::POOL_SLOTS.replace(slots);
    }

    /// Free slots of all workers that serve `pool`.
    pub(crate) fn free_slots(&self, pool: &str) -> usize {
        let free = |link: &WorkerLink| link.info.slots.saturating_sub(link.busy());
        self.in_use().filter(|link| link.serves(pool)).map(|link| free(&link)).sum()
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
            let free = self.in_use().filter(|link| link.serves(pool) && link.has_room());
            let link = free.min_by(|one, other| one.precedence().cmp(&other.precedence()))?;
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
        if let Some(streams) = self.streams.get(worker_id) {
            streams.in_use().send(message);
        }
    }

    /// Notes a sign of life of this start of a worker, if it is connected here.
    pub(crate) fn seen(&self, worker_id: &WorkerId, incarnation: &str, now: Timestamp) {
        let streams = self.streams.get(worker_id);
        if let Some(streams) = streams.filter(|streams| streams.newest.info.incarnation == incarnation) {
            streams.in_use().seen(now);
        }
    }

    /// The worker of this id that is connected to this process.
    pub(crate) fn here(&self, worker_id: &WorkerId) -> Option<Arc<WorkerLink>> {
        self.streams.get(worker_id).map(|streams| streams.in_use().clone()).filter(|link| !link.is_closed())
    }

    /// Whether the worker is connected to this process.
    pub(crate) fn is_here(&self, worker_id: &WorkerId) -> bool {
        self.here(worker_id).is_some()
    }

    /// Every lease a slot is taken for.
    pub(crate) fn assigned(&self) -> Vec<LeaseKey> {
        let mut leases: Vec<LeaseKey> = self.in_use().flat_map(|link| link.leases()).collect();
        leases.sort_by_key(LeaseKey::call);
        leases
    }

    /// The worker the lease with this secret was given to, when it is connected here.
    pub(crate) fn holder_of(&self, lease_id: &str) -> Option<WorkerId> {
        let holds = |link: &WorkerLink| link.leases().iter().any(|lease| lease.lease_id.as_str() == lease_id);
        self.in_use().find(|link| holds(link)).map(|link| link.info.worker_id.clone())
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
        let mut served: Vec<Served> = self.in_use().map(|link| said(&link)).collect();
        served.sort_unstable();
        served.dedup();
        served
    }
}
