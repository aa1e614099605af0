//! One connected worker: what it said of itself, which calls it runs, and how to talk to it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use toolplane_lifecycle::{Holder, LeaseKey};
use toolplane_records::SmolStr;
use toolplane_records::evidence::ExecutionSite;
use toolplane_records::ids::{InvocationKey, WorkerId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::{ExecutionBinding, native_tool_of};
use toolplane_records::time::Timestamp;

use super::message::WorkerMessage;
use super::posture::sandbox_of;

/// Most of the version of a worker that the evidence of its calls repeats.
const MAX_VERSION_CHARS: usize = 128;

/// A pool a worker does not serve although it has the code for it, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PoolGap {
    /// The pool.
    pub(crate) pool: String,
    /// Stable reason, e.g. `sandbox_unavailable`.
    pub(crate) reason_code: String,
    /// For people.
    pub(crate) message: String,
}

/// What a worker said of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkerInfo {
    /// Stable over restarts.
    pub(crate) worker_id: WorkerId,
    /// This start.
    pub(crate) incarnation: SmolStr,
    /// Its program's version.
    pub(crate) version: String,
    /// Calls it runs at once.
    pub(crate) slots: usize,
    /// Pools it serves.
    pub(crate) pools: Vec<String>,
    /// Native tools it serves, by name; see [`toolplane_records::profile::serves`].
    #[serde(default)]
    pub(crate) native_tools: Vec<String>,
    /// Credentials it can put into calls, as it said last; nothing when it never said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<Vec<String>>,
    /// Pools it cannot serve.
    pub(crate) gaps: Vec<PoolGap>,
    /// What its sandbox holds, as it proved itself.
    pub(crate) posture: Option<JsonPayload>,
    /// Image it runs in, as its operator names it; empty when that is not said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) image: String,
    /// When it connected.
    pub(crate) connected_at: Timestamp,
    /// Whose credential it showed: tenant and actor; absent without authentication.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) actor: Option<String>,
}

impl WorkerInfo {
    /// The pools whose calls it serves: those it names, and one for each of its native tools.
    pub(crate) fn served_pools(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let shared = self.pools.iter().filter(|pool| self.serves(pool)).map(|pool| Cow::Borrowed(pool.as_str()));
        let bindings = self.native_tools.iter().map(|tool| ExecutionBinding::Native { name: tool.clone() });
        let own = bindings.map(|binding| binding.pool()).filter(|pool| native_tool_of(pool).is_some());
        shared.chain(own)
    }

    /// Whether it serves calls of `pool`.
    pub(crate) fn serves(&self, pool: &str) -> bool {
        toolplane_records::profile::serves(&self.pools, &self.native_tools, pool)
    }
}

/// One connected worker.
#[derive(Debug)]
pub(crate) struct WorkerLink {
    /// What it said of itself in its hello.
    pub(crate) info: WorkerInfo,
    sender: mpsc::UnboundedSender<WorkerMessage>,
    assigned: Mutex<BTreeMap<InvocationKey, LeaseKey>>,
    draining: AtomicBool,
    last_seen_millis: AtomicI64,
    /// Credentials it told of after its hello.
    credentials: Mutex<Option<Vec<String>>>,
    /// Where its calls run, as their evidence tells it.
    site: Arc<ExecutionSite>,
}

impl WorkerLink {
    /// A link that sends through `sender`. The number of its messages is bounded by the worker's slots.
    pub(crate) fn new(info: WorkerInfo, sender: mpsc::UnboundedSender<WorkerMessage>) -> Self {
        let last_seen_millis = AtomicI64::new(info.connected_at.as_millis());
        let site = ExecutionSite {
            worker_id: info.worker_id.clone(),
            incarnation: info.incarnation.clone(),
            worker_version: info.version.chars().take(MAX_VERSION_CHARS).collect::<String>().into(),
            image: info.image.as_str().into(),
            sandbox: info.posture.as_ref().and_then(sandbox_of),
        };
        Self {
            site: Arc::new(site),
            info,
            sender,
            assigned: Mutex::default(),
            draining: AtomicBool::new(false),
            last_seen_millis,
            credentials: Mutex::default(),
        }
    }

    /// What it said of itself, with what it told since its hello.
    pub(crate) fn info_now(&self) -> WorkerInfo {
        let told = self.credentials.lock().clone();
        WorkerInfo { credentials: told.or_else(|| self.info.credentials.clone()), ..self.info.clone() }
    }

    /// Where its calls run: what it said of itself, for their evidence.
    pub(crate) fn site(&self) -> Arc<ExecutionSite> {
        Arc::clone(&self.site)
    }

    /// It has these credentials from now on.
    pub(crate) fn has_credentials(&self, names: Vec<String>) {
        *self.credentials.lock() = Some(names);
    }

    /// Whom this start of the worker speaks for.
    pub(crate) fn holder(&self) -> Holder {
        Holder { worker_id: self.info.worker_id.clone(), incarnation: Some(self.info.incarnation.clone()) }
    }

    /// Resolves when nobody reads what is sent any more: the worker's stream is gone.
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Sends a message; a closed link drops it (its leases lapse or are reported anew).
    pub(crate) fn send(&self, message: WorkerMessage) {
        let _ = self.sender.send(message);
    }

    /// Whether its messages are not read any more.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Whether it runs a call under exactly this lease.
    pub(super) fn runs(&self, lease: &LeaseKey) -> bool {
        self.assigned.lock().get(&lease.call()).is_some_and(|assigned| assigned.is_same_lease(lease))
    }

    /// The lease under which it runs a call.
    pub(super) fn lease_of(&self, call: &InvocationKey) -> Option<LeaseKey> {
        self.assigned.lock().get(call).cloned()
    }

    /// Calls it runs right now.
    pub(crate) fn in_flight(&self) -> Vec<InvocationKey> {
        self.assigned.lock().keys().cloned().collect()
    }

    /// The leases of the calls it runs right now.
    pub(crate) fn leases(&self) -> Vec<LeaseKey> {
        self.assigned.lock().values().cloned().collect()
    }

    /// Whether it takes no new calls.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// When it last sent a report.
    pub(crate) fn last_seen(&self) -> Timestamp {
        Timestamp::from_millis(self.last_seen_millis.load(Ordering::Relaxed))
    }

    /// Notes a sign of life.
    pub(crate) fn seen(&self, now: Timestamp) {
        self.last_seen_millis.store(now.as_millis(), Ordering::Relaxed);
    }

    pub(super) fn has_room(&self) -> bool {
        self.busy() < self.info.slots
    }

    /// Who is given a call first: the least busy one.
    pub(super) fn precedence(&self) -> (usize, &WorkerId) {
        (self.busy(), &self.info.worker_id)
    }

    pub(super) fn busy(&self) -> usize {
        self.assigned.lock().len()
    }

    /// Takes no new calls from now on.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Records a call the worker says it still runs.
    pub(crate) fn adopt(&self, lease: LeaseKey) {
        self.assigned.lock().insert(lease.call(), lease);
    }

    /// Frees the slot that was taken for `id`.
    pub(crate) fn give_back(&self, id: &InvocationKey) {
        self.assigned.lock().remove(id);
    }

    pub(super) fn serves(&self, pool: &str) -> bool {
        !self.is_draining() && self.info.serves(pool)
    }

    pub(super) fn take_slot(&self, id: &InvocationKey, lease: LeaseKey) -> bool {
        let mut assigned = self.assigned.lock();
        if assigned.len() >= self.info.slots {
            return false;
        }
        assigned.insert(id.clone(), lease);
        true
    }
}
