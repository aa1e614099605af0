//! What a call waits for before it begins: a slot, the permission to start, and a lease that is in force.

use tokio::sync::SemaphorePermit;

use super::Runner;
use crate::assignments::{Assignment, Moment};

impl Runner {
    /// A slot for a call that may begin; nothing when it is to stop before.
    pub(super) async fn admitted(&self, assignment: &Assignment) -> Option<SemaphorePermit<'_>> {
        let slot = match self.slots.try_acquire() {
            Ok(slot) => slot,
            Err(_) => {
                self.outbox.received(assignment.lease.clone());
                tokio::select! {
                    slot = self.slots.acquire() => slot.ok()?,
                    () = assignment.stop.given() => return None,
                }
            }
        };
        if assignment.traits.idempotent {
            self.outbox.receipt(assignment.lease.clone());
        } else {
            let grant = assignment.grant.expect();
            self.outbox.start_requested(assignment.lease.clone());
            tokio::select! {
                granted = grant => granted.ok()?,
                () = assignment.stop.given() => return None,
            }
        }
        self.certain(assignment).await.then_some(slot)
    }

    /// Waits until the lease is certain to be in force; false when the call is to stop before.
    async fn certain(&self, assignment: &Assignment) -> bool {
        loop {
            let renewed = assignment.renewal.next();
            let silent = assignment.silent_for(Moment::now());
            if !assignment.must_be_renewed_first() && !self.terms.too_doubtful_to_start(silent) {
                return true;
            }
            self.assignments.want_renewal();
            tokio::select! {
                () = renewed => {}
                () = assignment.stop.given() => return false,
            }
        }
    }
}
