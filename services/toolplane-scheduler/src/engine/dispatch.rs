//! From ready queues to workers with free slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use toolplane_lifecycle::{Command, LeaseGrant, LeaseKey, Transition};
use toolplane_records::ids::{InvocationId, LeaseId};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::QueueState;
use toolplane_store::ScoreRange;

use super::hot::Hot;
use super::workers::{Message, WorkerLink};
use super::{Engine, EngineError, is_race, keys};

/// Calls taken from one queue in one round.
const ROUND: usize = 256;

/// Wakes the dispatcher: something became ready, or a slot became free. A ring is a hint; the dispatcher also looks by
/// itself once a second.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    notify: Notify,
    /// Calls seen waiting in queues by the last round: while there are any, nobody may overtake them.
    waiting: AtomicUsize,
    /// A round is looking right now, so `waiting` is about to change.
    looking: AtomicBool,
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.notify.notify_one();
    }

    /// Whether a slot that was just freed may be wanted by a waiting call. Calls that are claimed with their acceptance
    /// never wait, and while there are only those, their ends need not wake the dispatcher.
    ///
    /// A round says that it looks before it counts free slots, and what it found before it stops looking: whoever frees
    /// a slot and then reads "nobody" was either seen by the round, or nobody waits.
    pub(crate) fn may_have_waiting(&self) -> bool {
        self.looking.load(Ordering::SeqCst) || self.waiting.load(Ordering::SeqCst) > 0
    }
}

impl Engine {
    pub(crate) async fn dispatch_loop(&self) {
        loop {
            self.0.dispatch.looking.store(true, Ordering::SeqCst);
            match self.dispatch_round().await {
                Ok(waiting) => {
                    self.0.dispatch.waiting.store(waiting, Ordering::SeqCst);
                    self.0.dispatch.looking.store(false, Ordering::SeqCst);
                }
                Err(error) => tracing::warn!(%error, "dispatch failed; trying again"),
            }
            let _ = tokio::time::timeout(Duration::from_secs(1), self.0.dispatch.notify.notified()).await;
        }
    }

    /// Offers as many waiting calls as there are free slots; returns how many still wait.
    async fn dispatch_round(&self) -> Result<usize, EngineError> {
        let mut left = 0;
        for queue in self.0.store.indexes(keys::QUEUES).await? {
            let Some(pool) = pool_of(&queue) else { continue };
            let free = self.0.workers.free_slots(pool).min(ROUND);
            let mut claimed = 0;
            if free > 0 {
                let heads = self.0.store.scan(&queue, ScoreRange::all(), free).await?;
                let claims = heads.iter().map(|head| self.claim(pool, &head.member));
                claimed = futures_util::future::join_all(claims).await.into_iter().filter(|done| *done).count();
            }
            let length = usize::try_from(self.0.store.index_len(&queue).await?).unwrap_or(usize::MAX);
            left += length;
            if length > 0 && claimed > 0 && self.0.workers.free_slots(pool) > 0 {
                self.0.dispatch.ring();
            }
        }
        Ok(left)
    }

    /// Claims one waiting call for a worker; false when it could not be claimed now.
    async fn claim(&self, pool: &str, id: &str) -> bool {
        let Ok(id) = InvocationId::parse(id) else {
            tracing::error!(queue_member = id, "a queue holds something that is not an invocation id");
            return false;
        };
        let lease_id = new_lease_id();
        let Some(worker) = self.0.workers.reserve(pool, &id, &provisional(&id, &lease_id)) else { return false };
        let fence = self.next_fence();
        let outcome =
            self.command(&id, Vec::new(), |_| Command::Claim(self.grant(&worker, lease_id.clone(), fence))).await;
        match outcome {
            Ok(_) => true,
            Err(error) => {
                self.0.workers.unassign(&id);
                if !matches!(&error, EngineError::Refused { refusal, .. } if is_race(refusal)) {
                    tracing::warn!(invocation_id = %id, %error, "could not claim a call");
                }
                false
            }
        }
    }

    /// Refuses a call that would wait behind too many of its tenant's. Exact only as far as calls do not race for the last
    /// places: the bound protects the cluster, it is not a quota.
    pub(crate) async fn check_room(&self, record: &Invocation) -> Result<(), EngineError> {
        let max = self.0.options.max_waiting;
        let Some(dispatch) = record.dispatch.as_ref().filter(|_| record.queue_state == Some(QueueState::Queued)) else {
            return Ok(());
        };
        // Cheap while queues are short, as they are nearly always.
        if (self.0.dispatch.waiting.load(Ordering::Relaxed) as u64) < max / 2 {
            return Ok(());
        }
        let waiting = self.0.store.index_len(&keys::queue(&dispatch.pool, &record.tenant)).await?;
        if waiting < max { Ok(()) } else { Err(EngineError::QueueFull { tenant: record.tenant.clone(), waiting }) }
    }

    fn grant(&self, worker: &WorkerLink, lease_id: LeaseId, fence: u64) -> LeaseGrant {
        LeaseGrant {
            lease_id,
            fence,
            worker_id: worker.info.worker_id.clone(),
            incarnation: worker.info.incarnation.clone(),
            offer_ms: self.0.options.offer_ms,
        }
    }

    /// Claims a call in the very commit that accepts it, when a slot is free and nobody waits before it.
    pub(crate) fn express_claim(&self, transition: &mut Transition, now: Timestamp) -> bool {
        self.try_express_claim(transition, now).is_some()
    }

    fn try_express_claim(&self, transition: &mut Transition, now: Timestamp) -> Option<()> {
        let record = &transition.invocation;
        if record.queue_state != Some(QueueState::Queued) || self.0.dispatch.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let pool = &record.dispatch.as_ref()?.pool;
        let id = record.invocation_id.clone();
        let lease_id = new_lease_id();
        let worker = self.0.workers.reserve(pool, &id, &provisional(&id, &lease_id))?;
        let grant = self.grant(&worker, lease_id, self.next_fence());
        match toolplane_lifecycle::apply(record, Command::Claim(grant), now) {
            Ok(claimed) => {
                transition.invocation = claimed.invocation;
                transition.events.extend(claimed.events);
                transition.effects.extend(claimed.effects);
                Some(())
            }
            Err(_) => {
                self.0.workers.unassign(&id);
                None
            }
        }
    }

    /// Sends the offer of a lease that was just granted. Renewals of a confirmed lease send nothing.
    pub(crate) fn offer_if_fresh(&self, hot: &Hot) {
        let Some(lease) = &hot.record.lease else { return };
        if lease.confirmed {
            return;
        }
        match (&hot.plan, &hot.input) {
            (Some(plan), Some(input)) => {
                self.0.workers.send(&lease.worker_id, offer(hot, plan.clone(), input.clone()));
            }
            _ => {
                let (engine, hot) = (self.clone(), hot.clone());
                tokio::spawn(async move { engine.offer_from_store(hot).await });
            }
        }
    }

    /// Reads what the offer needs and sends it; when it cannot be read, the offer lapses and is made again.
    async fn offer_from_store(&self, hot: Hot) {
        let Some(worker_id) = hot.record.lease.as_ref().map(|lease| lease.worker_id.clone()) else { return };
        match self.read_dispatch(&hot).await {
            Ok(Some((plan, input))) => self.0.workers.send(&worker_id, offer(&hot, plan, input)),
            Ok(None) => {
                tracing::error!(invocation_id = %hot.record.invocation_id, "a queued call has no plan or input")
            }
            Err(error) => tracing::warn!(invocation_id = %hot.record.invocation_id, %error, "could not read a call"),
        }
    }

    async fn read_dispatch(&self, hot: &Hot) -> Result<Option<(Arc<super::DispatchPlan>, JsonPayload)>, EngineError> {
        let record = &hot.record;
        let Some((dispatch, call)) = record.dispatch.as_ref().zip(record.inputs.call.as_ref()) else {
            return Ok(None);
        };
        let wanted = [keys::plan(&dispatch.plan_digest), keys::payload(&record.invocation_id, &call.digest)];
        let [Some(plan), Some(input)] = &self.0.store.get_many(&wanted).await?[..] else { return Ok(None) };
        Ok(Some((Arc::new(serde_json::from_slice(&plan.bytes)?), JsonPayload::from_checked(input.bytes.clone()))))
    }
}

fn offer(hot: &Hot, plan: Arc<super::DispatchPlan>, input: JsonPayload) -> Message {
    // A call that waited long, or through a restart, continues the trace of its own record.
    let of_record = || {
        let position = hot.record.telemetry_refs.first()?;
        Some(format!("00-{}-{}-01", position.trace_id, position.span_id))
    };
    let traceparent = hot.traceparent.clone().or_else(of_record);
    Message::Offer { record: hot.record.clone(), plan, input, traceparent }
}

fn new_lease_id() -> LeaseId {
    LeaseId::from_trusted(format!("lease_{}", uuid::Uuid::new_v4().simple()))
}

fn provisional(id: &InvocationId, lease_id: &LeaseId) -> LeaseKey {
    LeaseKey { invocation_id: id.clone(), lease_no: 0, lease_id: lease_id.clone() }
}

/// The pool in a queue's name: `queue/<pool>/<tenant>`.
pub(crate) fn pool_of(queue: &str) -> Option<&str> {
    queue.strip_prefix(keys::QUEUES)?.split_once('/').map(|(pool, _)| pool)
}
