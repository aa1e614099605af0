//! Batches: which calls may run, which are canceled for a failed sibling, and whose results are released.

pub(crate) mod policy;
mod siblings;

pub use policy::{is_unordered, max_parallel};

use std::collections::BTreeMap;

use toolplane_records::batch::{Batch, BatchMember};
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{AbortReason, Hold, InvocationStatus as Status, OrderingPolicy, QueueState};

use crate::command::Command;
use crate::scope::{Known, Scope};
use crate::transition::{Effect, Transition};

/// What settling a batch comes to. All of it is stored in one atomic commit, or none.
#[derive(Clone, Debug)]
pub struct BatchStep {
    /// The batch as it is from now on.
    pub batch: Batch,
    /// The changes of its calls: at most one transition per call.
    pub transitions: Vec<Transition>,
    /// Calls whose records are needed to decide. While this is not empty nothing may be stored: read them and settle again.
    pub missing: Vec<InvocationId>,
}

/// Decides everything that can be decided about `batch` now.
///
/// `records` holds what was read of its calls, at least of those named by the entries being settled. Settling the same
/// again gives the same; settling the outcome gives no further change. Effects that ask to settle this very batch are left
/// out of the transitions, because that has been done.
pub fn settle(batch: &Batch, records: &Known, now: Timestamp) -> BatchStep {
    let mut work = Work { batch: batch.clone(), records, changes: BTreeMap::new(), missing: Vec::new(), now };
    work.note_ends();
    siblings::cancel(&mut work);
    work.release();
    work.yield_results();
    debug_assert_eq!(crate::invariant::check_batch(&work.batch), Ok(()), "after settling {}", batch.batch_id);
    work.finish()
}

struct Work<'a> {
    batch: Batch,
    records: &'a Known,
    changes: BTreeMap<usize, Transition>,
    missing: Vec<InvocationId>,
    now: Timestamp,
}

impl Work<'_> {
    /// The record of a call as it is in this step. `None` when it was not read, or no longer exists.
    fn record(&self, index: usize) -> Option<&Invocation> {
        if let Some(change) = self.changes.get(&index) {
            return Some(&change.invocation);
        }
        self.records.get(&self.batch.members[index].invocation_id)?.as_ref()
    }

    /// Whether the record of a call has been read, or is known not to exist; otherwise it is asked for.
    fn is_known(&mut self, index: usize) -> bool {
        let id = &self.batch.members[index].invocation_id;
        let known = self.records.contains_key(id);
        if !known && !self.missing.contains(id) {
            self.missing.push(id.clone());
        }
        known
    }

    /// Applies a command to a call; false when it does not apply to the call in its present state.
    fn apply(&mut self, index: usize, command: Command) -> bool {
        let Some(Ok(next)) = self.record(index).map(|record| crate::apply(record, command, self.now)) else {
            return false;
        };
        let change = match self.changes.remove(&index) {
            Some(earlier) => earlier.then(next),
            None => next,
        };
        self.changes.insert(index, change);
        self.note_end(index);
        true
    }

    fn note_ends(&mut self) {
        for index in 0..self.batch.members.len() {
            self.note_end(index);
        }
    }

    fn note_end(&mut self, index: usize) {
        let gone = matches!(self.records.get(&self.batch.members[index].invocation_id), Some(None));
        let (ended, discarded, sibling) = match self.record(index) {
            Some(record) if record.status.is_terminal() => (
                record.status,
                record.queue_state == Some(QueueState::Discarded),
                record.cancel.as_ref().is_some_and(|cancel| cancel.abort_reason == AbortReason::SiblingError),
            ),
            // A record that retention took had ended; its result cannot be released any more.
            None if gone => (self.batch.members[index].ended.unwrap_or(Status::Failed), true, true),
            _ => return,
        };
        let member = &mut self.batch.members[index];
        member.ended = Some(ended);
        member.discarded = discarded && member.yield_seq.is_none();
        // A call that ended by itself before the cancellation reached it was not canceled: no source is named.
        if ended != Status::Canceled || !sibling {
            member.canceled_by = None;
        }
    }

    /// Lets calls run: in their order, as many at once as the policy allows, and none before what it depends on has ended.
    fn release(&mut self) {
        let serial = self.batch.policy.ordering_policy == Some(OrderingPolicy::Serial);
        let mut free = max_parallel(&self.batch.policy).saturating_sub(self.batch.members.iter().filter(runs).count());
        for index in 0..self.batch.members.len() {
            let member = &self.batch.members[index];
            if member.ended.is_some() {
                continue;
            }
            if !member.released && free > 0 && self.may_start(index) && self.let_run(index) {
                self.batch.members[index].released = true;
                free -= 1;
            }
            if serial {
                break;
            }
        }
    }

    fn may_start(&self, index: usize) -> bool {
        let ended = |before: &u32| self.batch.members.get(*before as usize).is_none_or(|member| member.ended.is_some());
        self.batch.members[index].depends_on.iter().all(ended)
    }

    /// Takes the batch's hold from a queued call. A call that waits for approval is not queued: it comes later.
    fn let_run(&mut self, index: usize) -> bool {
        if !self.is_known(index) {
            return false;
        }
        match self.record(index) {
            Some(record) if record.holds.contains(&Hold::Batch) => {
                self.apply(index, Command::Unhold { hold: Hold::Batch, fence: None })
            }
            Some(record) => record.status == Status::Queued,
            None => false,
        }
    }

    fn yield_results(&mut self) {
        let unordered = is_unordered(&self.batch.policy);
        for index in 0..self.batch.members.len() {
            let member = &self.batch.members[index];
            let waited_for = !unordered && !member.background;
            if is_through(member) {
                continue;
            }
            if member.ended.is_some() && self.is_known(index) {
                let yield_seq = self.batch.yields + 1;
                if self.apply(index, Command::Yield { yield_seq }) {
                    self.batch.members[index].yield_seq = Some(yield_seq);
                    self.batch.yields = yield_seq;
                    continue;
                }
            }
            if waited_for {
                self.ask_for_ended(index);
                break;
            }
        }
        let first_left = self.batch.members.iter().position(|member| !is_through(member));
        self.batch.next_yield = u32::try_from(first_left.unwrap_or(self.batch.members.len())).unwrap_or(u32::MAX);
        if first_left.is_none() && self.batch.ended_at.is_none() {
            self.batch.ended_at = Some(self.now);
        }
    }

    /// Where a result cannot be given out because its record is not known, those that follow it are asked for at the same time: else each
    /// would cost a settling of its own.
    fn ask_for_ended(&mut self, from: usize) {
        if self.missing.is_empty() {
            return;
        }
        for index in from..self.batch.members.len() {
            let member = &self.batch.members[index];
            if member.ended.is_some() && !is_through(member) {
                self.is_known(index);
            }
        }
    }

    fn finish(self) -> BatchStep {
        let own = Effect::Settle(scope_of(&self.batch));
        let mut transitions: Vec<Transition> = self.changes.into_values().collect();
        for transition in &mut transitions {
            transition.effects.retain(|effect| *effect != own);
        }
        BatchStep { batch: self.batch, transitions, missing: self.missing }
    }
}

fn runs(member: &&BatchMember) -> bool {
    member.released && member.ended.is_none()
}

/// Whether readers have got the result, or never will.
fn is_through(member: &BatchMember) -> bool {
    member.yield_seq.is_some() || member.discarded
}

/// What the calls of `batch` share.
pub fn scope_of(batch: &Batch) -> Scope {
    Scope::Batch { tenant: batch.tenant.clone(), id: batch.batch_id.clone() }
}
