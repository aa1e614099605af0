//! What a mutant does wrong. Only development builds have mutants, and only those that are asked for one: tests of the fault
//! tests use them, to see that each broken promise is noticed.

use toolplane_faultpoint::{Mutant, mutant};
use toolplane_lifecycle::{Command, LeaseKey, Transition};
use toolplane_records::invocation::Invocation;

/// [`Mutant::DropFence`]: a report under an old lease is taken as one under the current lease.
pub(crate) fn fence(mut command: Command, record: &Invocation) -> Command {
    if mutant(Mutant::DropFence)
        && let Some(current) = &record.lease
        && let Command::Start { lease, .. }
        | Command::Receive { lease }
        | Command::Renew { lease, .. }
        | Command::Complete { lease, .. }
        | Command::AwaitHooks { lease, .. } = &mut command
    {
        *lease = LeaseKey::of(record, current);
    }
    command
}

/// [`Mutant::RerunNonIdempotent`]: a call that must not run twice is accepted as one that may.
pub(crate) fn admission(transition: &mut Transition) {
    if mutant(Mutant::RerunNonIdempotent) {
        transition.invocation.safety.is_idempotent = true;
        if let Some(dispatch) = &mut transition.invocation.dispatch {
            dispatch.max_attempts = dispatch.max_attempts.max(3);
        }
    }
}

/// [`Mutant::LeakPermit`]: the permits of a call are kept when it ends.
pub(crate) fn leaks_permits() -> bool {
    mutant(Mutant::LeakPermit)
}

/// [`Mutant::HostClockLeases`]: leases are called over without having been watched for long.
pub(crate) fn watches_always() -> bool {
    mutant(Mutant::HostClockLeases)
}
