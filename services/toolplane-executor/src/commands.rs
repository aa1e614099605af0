//! What a scheduler says, wherever it says it, and what the worker does about it.

use std::sync::Arc;

use toolplane_proto::convert::word;
use toolplane_proto::v1;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::{CancelExecution, GoAway, InputProvided, LeaseRef, Offer, Welcome};
use toolplane_records::vocabulary::AbortReason;

use crate::execution;
use crate::executor::Core;
use crate::leases::Taken;
use crate::seat::{Nature, Seat, Stop};

/// Does what the scheduler says; gives its wish back when it asks the worker to leave.
pub(crate) fn obey(core: &Arc<Core>, command: Command) -> Option<GoAway> {
    match command {
        Command::Offer(offer) => take(core, offer),
        Command::StartGranted(granted) => {
            if let Some(seat) = granted.lease.and_then(|lease| core.leases.get(&lease)) {
                seat.granted();
            }
        }
        Command::StartRefused(refused) => lose(core, refused.lease, &refused.reason),
        Command::Fenced(fenced) => lose(core, fenced.lease, "fenced"),
        Command::Cancel(cancel) => stop(core, cancel),
        Command::DoneAcknowledged(done) => {
            if let Some(lease) = done.lease {
                core.leases.forget(&lease);
                core.journal.settle(&lease);
            }
        }
        Command::GoAway(away) => {
            tracing::info!(reason = away.reason, "the scheduler asks to leave");
            core.outbox.want_calls(false);
            return Some(away);
        }
        Command::ReportRefused(refused) => {
            let v1::ReportRefused { report, field, rule, .. } = refused;
            tracing::error!(report, field, rule, "the scheduler cannot read a report of this worker");
        }
        Command::InputProvided(provided) => answer(core, provided),
        Command::Welcome(welcome) => welcomed(core, &welcome),
    }
    None
}

/// Takes the terms of a scheduler.
pub(crate) fn welcomed(core: &Core, welcome: &Welcome) {
    if welcome.max_inline_bytes > 0 {
        core.set_inline_bytes(welcome.max_inline_bytes);
    }
    core.terms.set(welcome.heartbeat_ms, welcome.lease_ms);
    core.connected.send_replace(true);
    // Whoever was away for long wants its leases renewed now, and the terms may be others than before.
    core.beat_now.notify_one();
    tracing::info!(
        lease_ms = welcome.lease_ms,
        heartbeat_ms = welcome.heartbeat_ms,
        held = core.leases.len(),
        "connected to the scheduler"
    );
}

fn take(core: &Arc<Core>, offer: Offer) {
    let (Some(lease), Some(dispatch)) = (offer.lease, offer.dispatch) else {
        tracing::warn!("an offer without a lease or a call");
        return;
    };
    let known = core.leases.get(&lease).is_some();
    if core.is_draining() && !known {
        return core.outbox.released(lease, "draining");
    }
    // A well-behaved scheduler is at most a few cancels ahead of us; one that is not gets the rest back.
    if core.leases.busy() >= core.leases.slots().saturating_mul(2) && !known {
        return core.outbox.released(lease, "no_free_slot");
    }
    let seat = Arc::new(Seat::new(lease, Nature::of(&dispatch)));
    match core.leases.seat(seat.clone()) {
        Taken::Seated { earlier } => {
            if let Some(earlier) = earlier {
                fenced(core, &earlier, "offered anew");
            }
            core.runtime.spawn(execution::run(core.clone(), seat, dispatch));
        }
        // Whoever offers again has not heard the answer.
        Taken::Again(seat) if seat.awaits_grant() => core.outbox.start_requested(seat.lease.clone()),
        Taken::Again(seat) => core.outbox.received(seat.lease.clone()),
        Taken::Over(done) => core.outbox.done(*done),
        Taken::Stale => {}
    }
}

/// The lease is not ours: what runs under it is killed, and nobody hears of it.
pub(crate) fn lose(core: &Core, lease: Option<LeaseRef>, reason: &str) {
    if let Some(seat) = lease.and_then(|lease| core.leases.forget(&lease)) {
        fenced(core, &seat, reason);
    }
}

fn fenced(core: &Core, seat: &Seat, reason: &str) {
    tracing::info!(invocation_id = seat.lease.invocation_id, lease_no = seat.lease.lease_no, reason, "lease lost");
    seat.stop(Stop::Fenced);
    core.journal.settle(&seat.lease);
}

/// Stops an execution, or says that it cannot be stopped. May be said again and again.
pub(crate) fn stop(core: &Core, cancel: CancelExecution) {
    let open = cancel.lease.filter(|lease| core.leases.is_open(lease));
    let Some(seat) = open.and_then(|lease| core.leases.get(&lease)) else { return };
    let running = core.leases.is_running(&seat.lease);
    // What has not begun can always be stopped.
    let supported = seat.nature.supports_cancel || !running;
    core.outbox.cancel_acknowledged(seat.lease.clone(), supported);
    if supported {
        let reason = word::optional_open("abort_reason", &cancel.abort_reason, cancel.abort_reason_code);
        seat.stop(Stop::Cancel(reason.ok().flatten().unwrap_or(AbortReason::UserInterruption)));
    }
}

/// Hands an answer to the tool that asked.
pub(crate) fn answer(core: &Core, provided: InputProvided) {
    let seat = provided.lease.as_ref().and_then(|lease| core.leases.get(lease));
    if let Some(seat) = seat {
        seat.questions.answer(provided, core.options.max_message_bytes);
    }
}
