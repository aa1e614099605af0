//! The short way: a call that finds a free slot and nobody before it is claimed by the commit that accepts it.

use std::sync::atomic::Ordering;

use toolplane_lifecycle::{Command, Transition};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::QueueState;

use super::Engine;
use super::plan::DispatchPlan;
use super::standing::Moment;

impl Engine {
    /// Claims a call in the very commit that accepts it, when a slot is free and nobody waits before it.
    ///
    /// `None` when it cannot be; otherwise what the transition was before, where a bound may still stand against the claim.
    pub(crate) fn express_claim(
        &self,
        accepted: &mut Transition,
        plan: Option<&DispatchPlan>,
        decided: Option<Moment>,
        now: Timestamp,
    ) -> Option<Option<Transition>> {
        let record = &accepted.invocation;
        let ready = record.queue_state == Some(QueueState::Queued) && record.holds.is_empty();
        if !ready || self.0.draining.load(Ordering::Acquire) {
            return None;
        }
        let pool = &record.dispatch.as_ref()?.pool;
        if !self.0.backlog.is_clear(pool) {
            return None;
        }
        if self.kept_out(record, now).is_some() || !self.may_start(record, plan, decided, now) {
            return None;
        }
        let grant = self.reserve(pool, record, plan, now)?;
        let bounded = !grant.permits.is_empty();
        match toolplane_lifecycle::apply(record, Command::Claim(grant), now) {
            Ok(claimed) => {
                let before = bounded.then(|| accepted.clone());
                accepted.invocation = claimed.invocation;
                accepted.events.extend(claimed.events);
                accepted.effects.extend(claimed.effects);
                Some(before)
            }
            Err(_) => {
                self.0.workers.unassign(&record.key());
                None
            }
        }
    }
}
