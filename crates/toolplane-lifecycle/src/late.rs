//! Reports that come too late: they change nothing, and are kept as evidence of what happened.

use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;

use crate::command::{LeaseKey, ReportedOutcome};
use crate::data::data;
use crate::draft::Draft;
use crate::transition::Transition;

/// Most late reports kept of one call: a worker that repeats itself must not fill the log.
const MAX_LATE_REPORTS: u32 = 8;

/// Whether the ending reported under `lease` is kept already and waits for its hooks.
pub fn is_kept(invocation: &Invocation, lease: &LeaseKey) -> bool {
    invocation.post_hooks.is_some() && lease.lease_no == invocation.lease_no
}

/// Whether the ending reported under `lease` is taken already: it ended the call, or waits for its hooks. Once more, it changes nothing.
pub fn is_taken(invocation: &Invocation, lease: &LeaseKey) -> bool {
    let ended_by_it = invocation.status.is_terminal()
        && lease.lease_no == invocation.lease_no
        && invocation
            .status_transitions
            .last()
            .is_some_and(|last| ["execute", "post_hooks"].contains(&last.cause.as_str()));
    ended_by_it || is_kept(invocation, lease)
}

/// The log entry of a report that came under an old lease or after the end, as a transition that changes nothing else.
///
/// `None` when there is nothing to keep: the lease is the current one, the report is a repetition of the one that ended the
/// call, no such lease was ever granted, or enough was kept already.
pub fn late_report(
    invocation: &Invocation,
    lease: &LeaseKey,
    outcome: &ReportedOutcome,
    now: Timestamp,
) -> Option<Transition> {
    // A sender that reports under the current lease and is not believed is not its holder.
    let current = invocation.lease.as_ref().is_some_and(|held| lease.lease_no == held.lease_no);
    let granted = (1..=invocation.lease_no).contains(&lease.lease_no);
    let repeated = is_taken(invocation, lease);
    let foreign = lease.call() != invocation.key();
    if current || !granted || repeated || foreign || invocation.late_reports >= MAX_LATE_REPORTS {
        return None;
    }
    let mut draft = Draft::of(invocation.clone(), now);
    draft.invocation.late_reports += 1;
    draft.event(
        EventClass::ExtLateReport,
        data! { "lease_no": lease.lease_no,
            "status": outcome.status,
            "summary": crate::synthetic::for_people(&outcome.ui_facing_summary),
            "error_class": outcome.error.as_ref().map(|error| error.error_class),
            "error_code": outcome.error.as_ref().map(|error| &error.error_code),
            "persisted_ref": outcome.persistence.first().and_then(|kept| kept.persisted_ref.as_ref()).map(|kept| &kept.uri), },
    );
    Some(draft.done())
}
