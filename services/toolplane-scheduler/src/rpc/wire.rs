//! Leases and messages to workers, as they travel.

use toolplane_lifecycle::{Holder, LeaseKey, LeaseMessage};
use toolplane_proto::convert::{ConvertError, field};
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::ids::{InvocationId, LeaseId};

use crate::dispatch::WorkerMessage;

/// The lease a report is about; none for reports about the worker itself.
pub(super) fn lease_of(report: &Report) -> Option<&v1::LeaseRef> {
    match report {
        Report::Received(report) => report.lease.as_ref(),
        Report::StartRequested(report) => report.lease.as_ref(),
        Report::Progress(report) => report.lease.as_ref(),
        Report::Partial(report) => report.lease.as_ref(),
        Report::Done(report) => report.lease.as_ref(),
        Report::CancelAcknowledged(report) => report.lease.as_ref(),
        Report::Released(report) => report.lease.as_ref(),
        Report::InputRequested(report) => report.lease.as_ref(),
        Report::Hello(_)
        | Report::Ready(_)
        | Report::Heartbeat(_)
        | Report::Goodbye(_)
        | Report::ProviderChanged(_)
        | Report::Credentials(_) => None,
    }
}

/// The name of a report, as the contract has it.
pub(super) fn name_of(report: &Report) -> &'static str {
    match report {
        Report::Hello(_) => "hello",
        Report::Ready(_) => "ready",
        Report::Received(_) => "received",
        Report::StartRequested(_) => "start_requested",
        Report::Progress(_) => "progress",
        Report::Partial(_) => "partial",
        Report::Done(_) => "done",
        Report::CancelAcknowledged(_) => "cancel_acknowledged",
        Report::Heartbeat(_) => "heartbeat",
        Report::Released(_) => "released",
        Report::Goodbye(_) => "goodbye",
        Report::InputRequested(_) => "input_requested",
        Report::ProviderChanged(_) => "provider_changed",
        Report::Credentials(_) => "credentials",
    }
}

/// Reads a lease reference that `holder` sent.
pub(super) fn lease_key(lease: Option<v1::LeaseRef>, holder: &Holder) -> Result<LeaseKey, ConvertError> {
    let lease = lease.ok_or_else(|| ConvertError::missing("lease"))?;
    let lease_id: LeaseId = field::id("lease.lease_id", &lease.lease_id)?;
    Ok(LeaseKey {
        tenant: lease_id.tenant(),
        invocation_id: field::id::<InvocationId>("lease.invocation_id", &lease.invocation_id)?,
        lease_no: lease.lease_no,
        lease_id,
        holder: holder.clone(),
    })
}

/// A lease reference to send.
pub(super) fn lease_ref(lease: &LeaseKey) -> Option<v1::LeaseRef> {
    Some(v1::LeaseRef {
        invocation_id: lease.invocation_id.to_string(),
        lease_no: lease.lease_no,
        lease_id: lease.lease_id.to_string(),
    })
}

/// A message to a worker, on the wire.
pub(crate) fn command(message: WorkerMessage) -> v1::WorkerCommand {
    use v1::worker_command::Command as Wire;
    let command = match message {
        WorkerMessage::Offer { record, plan, input, shown, traceparent, queued_ms, asked } => {
            Wire::Offer(super::offer::offer(&record, &plan, &input, shown.as_ref(), traceparent, queued_ms, asked))
        }
        WorkerMessage::StartGranted { lease } => Wire::StartGranted(v1::StartGranted { lease: lease_ref(&lease) }),
        WorkerMessage::StartRefused { lease, reason } => {
            Wire::StartRefused(v1::StartRefused { lease: lease_ref(&lease), reason })
        }
        WorkerMessage::Lease(message) => about_lease(message),
        WorkerMessage::DoneAcknowledged { lease } => {
            Wire::DoneAcknowledged(v1::DoneAcknowledged { lease: lease_ref(&lease) })
        }
        WorkerMessage::ReportRefused { lease, report, field, rule } => {
            Wire::ReportRefused(v1::ReportRefused { lease, report: report.to_owned(), field, rule })
        }
        WorkerMessage::GoAway { schedulers } => {
            Wire::GoAway(v1::GoAway { reason: "the scheduler is stopping".to_owned(), schedulers })
        }
    };
    v1::WorkerCommand { command: Some(command) }
}

fn about_lease(message: LeaseMessage) -> v1::worker_command::Command {
    use v1::worker_command::Command as Wire;
    match message {
        LeaseMessage::Cancel { lease, abort_reason } => Wire::Cancel(v1::CancelExecution {
            lease: lease_ref(&lease),
            abort_reason: abort_reason.as_str().to_owned(),
            abort_reason_code: v1::AbortReason::from(abort_reason).into(),
            message: String::new(),
        }),
        LeaseMessage::Fenced { lease } => Wire::Fenced(v1::LeaseFenced { lease: lease_ref(&lease) }),
        LeaseMessage::Input { lease, input_id, input, expired } => Wire::InputProvided(v1::InputProvided {
            lease: lease_ref(&lease),
            input_id,
            declined: input.is_none() && !expired,
            input: input.as_ref().map(Into::into),
            expired,
        }),
    }
}
