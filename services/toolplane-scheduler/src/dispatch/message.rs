//! What a worker is told.

use std::sync::Arc;

use toolplane_lifecycle::{LeaseKey, LeaseMessage};
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;

use crate::plan::DispatchPlan;

/// A message to a worker.
#[derive(Clone, Debug)]
pub(crate) enum WorkerMessage {
    /// A call to run.
    Offer {
        /// The call; its lease is current.
        record: Arc<Invocation>,
        /// How to run it.
        plan: Arc<DispatchPlan>,
        /// With which input.
        input: JsonPayload,
        /// What of it hooks may see, where that is less.
        shown: Option<JsonPayload>,
        /// Within which trace.
        traceparent: Option<String>,
        /// How long it was queued, milliseconds.
        queued_ms: u64,
        /// Hooks are asked about its ending.
        asked: bool,
    },
    /// The first effect may happen.
    StartGranted {
        /// Of this lease.
        lease: LeaseKey,
    },
    /// The first effect must not happen.
    StartRefused {
        /// Of this lease.
        lease: LeaseKey,
        /// Why.
        reason: String,
    },
    /// About a lease it holds, or held.
    Lease(LeaseMessage),
    /// The report is stored; the worker may forget it.
    DoneAcknowledged {
        /// This execution.
        lease: LeaseKey,
    },
    /// A report could not be read and changed nothing.
    ReportRefused {
        /// The lease it was about, as it was given.
        lease: Option<v1::LeaseRef>,
        /// Which report.
        report: &'static str,
        /// The field that is wrong.
        field: String,
        /// The rule it breaks.
        rule: String,
    },
    /// The scheduler stops; go elsewhere.
    GoAway {
        /// Where other schedulers can be reached, as far as this one knows.
        schedulers: Vec<String>,
    },
}

impl From<LeaseMessage> for WorkerMessage {
    fn from(message: LeaseMessage) -> Self {
        Self::Lease(message)
    }
}
