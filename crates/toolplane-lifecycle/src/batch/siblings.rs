//! What the end of one call means for the others of its batch.

use toolplane_records::batch::Batch;
use toolplane_records::vocabulary::{InvocationStatus as Status, SiblingFailurePolicy as Policy};

use super::Work;
use crate::command::{Command, SiblingCause};

/// Cancels whatever must not run, or must stop, because of calls that have ended.
pub(super) fn cancel(work: &mut Work<'_>) {
    // A cancellation can be the end of a call others depend on, so this goes on until nothing changes.
    while (0..work.batch.members.len()).any(|emitter| cancel_for(work, emitter)) {}
}

/// Cancels what the end of `emitter` cancels; true when something was.
fn cancel_for(work: &mut Work<'_>, emitter: usize) -> bool {
    let Some(status) = work.batch.members[emitter].ended else { return false };
    let member = &work.batch.members[emitter];
    let cause = SiblingCause {
        invocation_id: member.invocation_id.clone(),
        index: u32::try_from(emitter).unwrap_or(u32::MAX),
        tool_name: member.tool_name.clone().into(),
        status,
    };
    let mut changed = false;
    for target in targets(&work.batch, emitter, status) {
        if work.is_known(target) && work.apply(target, Command::CancelSibling { cause: cause.clone() }) {
            work.batch.members[target].canceled_by = Some(cause.index);
            work.note_end(target);
            changed = true;
        }
    }
    changed
}

/// The calls that have not ended and that the end of `emitter` as `status` cancels.
pub(crate) fn targets(batch: &Batch, emitter: usize, status: Status) -> Vec<usize> {
    let policy = policy_of(batch, emitter);
    let failed = matches!(status, Status::Failed | Status::TimedOut);
    let dependents = match status {
        Status::Succeeded => vec![false; batch.members.len()],
        _ => dependents(batch, emitter),
    };
    let is_target = |index: &usize| {
        let member = &batch.members[*index];
        let unaffected = member.sibling_failure_policy == Some(Policy::Ignore);
        let meant = match policy {
            Policy::Ignore => false,
            Policy::CancelDependent => dependents[*index],
            Policy::CancelSiblings => (failed || dependents[*index]) && !unaffected,
        };
        *index != emitter && member.ended.is_none() && meant
    };
    (0..batch.members.len()).filter(is_target).collect()
}

/// What a failure of the call does: its own word, or that of the batch, or nothing.
fn policy_of(batch: &Batch, index: usize) -> Policy {
    batch.members[index].sibling_failure_policy.or(batch.policy.sibling_failure_policy).unwrap_or(Policy::Ignore)
}

/// Which calls depend on `root`, directly or through others. Edges go to earlier calls only, so one pass is enough.
fn dependents(batch: &Batch, root: usize) -> Vec<bool> {
    let mut found = vec![false; batch.members.len()];
    for index in root + 1..batch.members.len() {
        let edges = &batch.members[index].depends_on;
        found[index] = edges.iter().any(|edge| {
            let edge = *edge as usize;
            edge == root || found.get(edge).copied().unwrap_or(false)
        });
    }
    found
}
