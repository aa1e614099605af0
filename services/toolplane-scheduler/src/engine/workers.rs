//! Connected workers: what they serve, how much they can take, and how to talk to them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use dashmap::DashMap;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use toolplane_lifecycle::{Holder, LeaseKey};
use toolplane_records::ids::{InvocationKey, LeaseId, WorkerId};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;

use super::message::Message;

/// A pool a worker does not serve although it has the code for it, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolGap {
    /// The pool.
    pub pool: String,
    /// Stable reason, e.g. `sandbox_unavailable`.
    pub reason_code: String,
    /// For people.
    pub message: String,
}

/// What a worker said of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WorkerInfo {
    /// Stable over restarts.
    pub worker_id: WorkerId,
    /// This start.
    pub incarnation: String,
    /// Its program's version.
    pub version: String,
    /// Calls it runs at once.
    pub slots: usize,
    /// Pools it serves.
    pub pools: Vec<String>,
    /// Native tools it serves, by name; see [`toolplane_records::profile::serves`].
    #[serde(default)]
    pub native_tools: Vec<String>,
    /// Pools it cannot serve.
    pub gaps: Vec<PoolGap>,
    /// What its sandbox holds, as it proved itself.
    pub posture: Option<JsonPayload>,
    /// When it connected.
    pub connected_at: Timestamp,
    /// Whose credential it showed: tenant and actor; nobody's without authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

impl WorkerInfo {
    /// Whether it serves calls of `pool`.
    pub fn serves(&self, pool: &str) -> bool {
        toolplane_records::profile::serves(&self.pools, &self.native_tools, pool)
    }
}

/// One connected worker.
#[derive(Debug)]
pub struct WorkerLink {
    /// What it said of itself.
    pub info: WorkerInfo,
    sender: mpsc::UnboundedSender<Message>,
    assigned: Mutex<HashMap<InvocationKey, LeaseKey>>,
    draining: AtomicBool,
    last_seen_millis: AtomicI64,
}

impl WorkerLink {
    /// A link that sends through `sender`. The number of its messages is bounded by the worker's slots.
    pub fn new(info: WorkerInfo, sender: mpsc::UnboundedSender<Message>) -> Self {
        let last_seen_millis = AtomicI64::new(info.connected_at.as_millis());
        Self { info, sender, assigned: Mutex::default(), draining: AtomicBool::new(false), last_seen_millis }
    }

    /// Whom this start of the worker speaks for.
    pub(crate) fn holder(&self) -> Holder {
        Holder { worker_id: self.info.worker_id.clone(), incarnation: Some(self.info.incarnation.clone()) }
    }

    /// Sends a message; a closed link drops it (its leases lapse or are reported anew).
    pub fn send(&self, message: Message) {
        let _ = self.sender.send(message);
    }

    /// Calls it runs right now.
    pub fn in_flight(&self) -> Vec<InvocationKey> {
        self.assigned.lock().keys().cloned().collect()
    }

    /// The leases of the calls it runs right now.
    pub(crate) fn leases(&self) -> Vec<LeaseKey> {
        self.assigned.lock().values().cloned().collect()
    }

    /// Whether it takes no new calls.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// When it last sent a report.
    pub fn last_seen(&self) -> Timestamp {
        Timestamp::from_millis(self.last_seen_millis.load(Ordering::Relaxed))
    }

    /// Notes a sign of life.
    pub fn seen(&self, now: Timestamp) {
        self.last_seen_millis.store(now.as_millis(), Ordering::Relaxed);
    }

    fn busy(&self) -> usize {
        self.assigned.lock().len()
    }

    /// Takes no new calls from now on.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Records a call the worker says it still runs.
    pub fn adopt(&self, lease: LeaseKey) {
        self.assigned.lock().insert(lease.call(), lease);
    }

    /// Frees the slot that was taken for `id`.
    pub(crate) fn give_back(&self, id: &InvocationKey) {
        self.assigned.lock().remove(id);
    }

    fn serves(&self, pool: &str) -> bool {
        !self.is_draining() && self.info.serves(pool)
    }

    fn take_slot(&self, id: &InvocationKey, lease: LeaseKey) -> bool {
        let mut assigned = self.assigned.lock();
        if assigned.len() >= self.info.slots {
            return false;
        }
        assigned.insert(id.clone(), lease);
        true
    }
}

/// What one worker serves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub(crate) struct Served {
    #[serde(default)]
    pub(crate) pools: Vec<String>,
    #[serde(default)]
    pub(crate) native_tools: Vec<String>,
}

/// Whether calls of a pool can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Some connected worker serves the pool.
    Served,
    /// Every connected worker that knows the pool says why it cannot serve it.
    Gap(PoolGap),
    /// No connected worker knows the pool; one may come.
    Nobody,
}

/// All connected workers.
#[derive(Debug, Default)]
pub struct Workers {
    links: DashMap<WorkerId, Arc<WorkerLink>>,
    assignments: DashMap<InvocationKey, Arc<WorkerLink>>,
}

impl Workers {
    /// Adds a worker; an earlier link of the same worker is replaced.
    pub fn connect(&self, link: Arc<WorkerLink>) {
        self.links.insert(link.info.worker_id.clone(), link);
    }

    /// The incarnation of a connected worker of this id that is not `incarnation`, when there is one.
    pub fn other_incarnation(&self, worker_id: &WorkerId, incarnation: &str) -> Option<String> {
        let link = self.links.get(worker_id)?;
        (link.info.incarnation != incarnation && !link.sender.is_closed()).then(|| link.info.incarnation.clone())
    }

    /// Removes a worker, unless a newer link took its place.
    pub fn disconnect(&self, link: &Arc<WorkerLink>) {
        self.links.remove_if(&link.info.worker_id, |_, current| Arc::ptr_eq(current, link));
        self.assignments.retain(|_, assigned| !Arc::ptr_eq(assigned, link));
    }

    /// Every connected worker, ordered by id.
    pub fn list(&self) -> Vec<Arc<WorkerLink>> {
        let mut links: Vec<_> = self.links.iter().map(|entry| entry.value().clone()).collect();
        links.sort_by(|a, b| a.info.worker_id.cmp(&b.info.worker_id));
        links
    }

    /// Whether calls of `pool` can be run.
    pub fn placement(&self, pool: &str) -> Placement {
        let mut gap = None;
        for entry in &self.links {
            if entry.info.serves(pool) {
                return Placement::Served;
            }
            gap = gap.or_else(|| entry.info.gaps.iter().find(|gap| gap.pool == pool).cloned());
        }
        gap.map_or(Placement::Nobody, Placement::Gap)
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
        let mut links: Vec<_> =
            self.links.iter().filter(|entry| entry.serves(pool)).map(|entry| entry.value().clone()).collect();
        links.sort_by_key(|link| link.busy());
        let link = links.into_iter().find(|link| link.take_slot(&id, lease(link)))?;
        self.assignments.insert(id, link.clone());
        Some(link)
    }

    /// Records that `link` still runs a call.
    pub fn adopt(&self, link: &Arc<WorkerLink>, lease: LeaseKey) {
        self.assignments.insert(lease.call(), link.clone());
        link.adopt(lease);
    }

    /// Frees the slot of a call that is no longer leased.
    pub(crate) fn unassign(&self, id: &InvocationKey) {
        if let Some((_, link)) = self.assignments.remove(id) {
            link.give_back(id);
        }
    }

    pub(crate) fn send(&self, worker_id: &WorkerId, message: Message) {
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
        self.links.get(worker_id).filter(|link| !link.sender.is_closed()).map(|link| link.value().clone())
    }

    /// Whether the worker is connected to this process.
    pub(crate) fn is_here(&self, worker_id: &WorkerId) -> bool {
        self.here(worker_id).is_some()
    }

    /// Every lease a slot is taken for.
    pub(crate) fn assigned(&self) -> Vec<LeaseKey> {
        self.links.iter().flat_map(|entry| entry.leases()).collect()
    }

    /// The worker the lease with this secret was given to, when it is connected here.
    pub(crate) fn holder_of(&self, lease_id: &str) -> Option<WorkerId> {
        let holds = |link: &WorkerLink| link.assigned.lock().values().any(|lease| lease.lease_id.as_str() == lease_id);
        self.links.iter().find(|entry| holds(entry.value())).map(|entry| entry.info.worker_id.clone())
    }

    /// Frees the slot of exactly this lease.
    pub(crate) fn unassign_lease(&self, lease: &LeaseKey) {
        let held = |_: &InvocationKey, link: &Arc<WorkerLink>| {
            link.assigned.lock().get(&lease.call()).is_some_and(|assigned| assigned.is_same_lease(lease))
        };
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

    /// Tells every worker to go elsewhere, e.g. to one of these `schedulers`.
    pub fn go_away(&self, schedulers: &[String]) {
        for entry in &self.links {
            entry.drain();
            entry.send(Message::GoAway { schedulers: schedulers.to_vec() });
        }
    }
}
