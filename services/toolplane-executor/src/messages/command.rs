//! What a scheduler tells a worker.

use std::time::Duration;

use toolplane_execution::Answer;
use toolplane_records::vocabulary::AbortReason;

use super::call::OfferedCall;
use super::lease::Lease;

/// One command.
#[derive(Debug)]
pub(crate) enum SchedulerCommand {
    /// The terms of the stream; first on each.
    Welcome(Welcome),
    /// A call to run.
    Offer { lease: Lease, call: OfferedCall },
    /// The execution may start.
    StartGranted(Lease),
    /// The lease is not this worker's, or no longer: stop, and report nothing.
    Lost { lease: Lease, reason: String },
    /// Stop an execution.
    Cancel { lease: Lease, reason: AbortReason },
    /// The final answer to a question of a tool.
    Answer { lease: Lease, input_id: String, answer: Answer },
    /// The report of an ending is durable.
    Acknowledged(Lease),
    /// A report could not be read; said again it would not be either.
    ReportRefused { report: String, field: String, rule: String },
    /// Finish what is held, take no more, and connect to another scheduler, e.g. one of these.
    GoAway { reason: String, schedulers: Vec<String> },
}

/// The terms of a stream. What is absent stays as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Welcome {
    /// Time between two heartbeats.
    pub(crate) heartbeat: Option<Duration>,
    /// Length of a lease.
    pub(crate) lease: Option<Duration>,
    /// Most bytes of one text or JSON value in a report.
    pub(crate) inline_bytes: Option<u64>,
}
