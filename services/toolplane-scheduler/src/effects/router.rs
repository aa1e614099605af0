//! One change of a call, passed on to the parts it concerns: in this process, and by hints to the others.

use std::sync::Arc;

use bytes::Bytes;
use toolplane_lifecycle::{Effect, Timer, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::invocation::Invocation;

use super::topics::{PLACE, QUARANTINE, READY, UPDATE, WORKER, hint, update_body};
use crate::account;
use crate::calls::{CachedCall, EffectHandler, Update};
use crate::cluster::Members;
use crate::dispatch::{Offers, Quarantine, ReadyQueues, Workers};
use crate::groups::ScopeBell;
use crate::storage::commit::Builder;
use crate::storage::keys::QueueName;
use crate::watch::Fanout;

/// The parts a change may concern. Passes on, and decides nothing.
pub(crate) struct Router {
    /// Other processes write to the store too.
    pub(crate) shared: bool,
    /// Who else may have to hear of it.
    pub(crate) members: Arc<Members>,
    /// Whose slots become free, and who is told to stop.
    pub(crate) workers: Arc<Workers>,
    /// What becomes ready.
    pub(crate) queues: Arc<ReadyQueues>,
    /// Which calls are refused for a while.
    pub(crate) quarantine: Arc<Quarantine>,
    /// Which scopes have to be settled.
    pub(crate) scopes: ScopeBell,
    /// Which calls were claimed for a worker.
    pub(crate) offers: Offers,
    /// Who watches the call.
    pub(crate) fanout: Arc<Fanout>,
}

impl EffectHandler for Router {
    fn announce(&self, builder: &mut Builder, transition: &Transition, queue: Option<&QueueName>) {
        if !self.shared {
            return;
        }
        let id = transition.key();
        // Before the news of the call itself: a caller that has heard of its end is not to try another like it.
        for effect in &transition.effects {
            if let Effect::Quarantine { key, until } = effect {
                builder.hint(hint(QUARANTINE, &key.to_string(), until.as_millis().to_string().into()));
            }
        }
        // No caller can wait at another scheduler for a call that is just being accepted.
        let is_new = transition.events.first().is_none_or(|first| first.seq == 1);
        // And no caller waits elsewhere when there is no other scheduler; one that has just come also looks by itself.
        if !is_new && !self.members.is_alone() {
            builder.hint(hint(UPDATE, &id.to_string(), update_body(transition)));
        }
        for effect in &transition.effects {
            match effect {
                Effect::Enqueue => {
                    let queue = queue.filter(|_| transition.invocation.lease.is_none());
                    if let Some(queue) = queue.filter(|queue| self.workers.free_slots(&queue.pool) == 0) {
                        builder.hint(hint(READY, &queue.pool, queue.to_string().into()));
                    }
                }
                Effect::ReturnPermit { index } if self.queues.waits_for(index) => {
                    builder.hint(hint(PLACE, index, Bytes::new()));
                }
                Effect::Tell(message) => {
                    let worker_id = &message.lease().holder.worker_id;
                    if !self.workers.is_here(worker_id)
                        && let Ok(body) = serde_json::to_vec(message)
                        && body.len() <= toolplane_store::commit::MAX_HINT_BYTES
                    {
                        builder.hint(hint(WORKER, worker_id.as_str(), body.into()));
                    }
                }
                _ => {}
            }
        }
    }

    fn carry_out(&self, call: &CachedCall, effects: &[Effect], queue: Option<&QueueName>, update: Update) {
        let record = &call.record;
        let id = record.key();
        if record.lease.is_none() {
            self.workers.unassign(&id);
        }
        for effect in effects {
            match effect {
                Effect::SetTimer(Timer::Lease, _) => self.offers.send_if_fresh(call),
                Effect::ReturnPermit { index } => self.queues.given_back(index),
                Effect::Quarantine { key, until } => self.quarantine.add(*key, *until),
                Effect::Settle(scope) => self.scopes.ring(scope.clone()),
                Effect::Tell(message) => {
                    self.workers.send(&message.lease().holder.worker_id, message.clone().into());
                }
                _ => {}
            }
        }
        let ended = record.status.is_terminal();
        let ready = effects.contains(&Effect::Enqueue) && record.lease.is_none() && !ended;
        if let Some(queue) = queue.filter(|_| ready) {
            self.queues.note(queue);
            self.queues.ring();
        } else if ended && !self.queues.is_empty() {
            self.queues.ring();
        }
        account::changed(call, effects, &update);
        self.fanout.publish(&id, update);
    }

    fn decided(&self, record: &Invocation, decisions: &[PermissionDecision]) {
        account::decided(record, decisions);
    }
}
