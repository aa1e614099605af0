//! What a worker tells a scheduler.

use std::sync::Arc;
use std::time::Duration;

use toolplane_execution::ChangedProvider;
use toolplane_records::payload::JsonPayload;
use toolplane_records::progress::ToolProgress;
use toolplane_records::result::ContentBlock;

use super::ended::Ended;
use super::lease::Lease;
use crate::worker::Introduction;

/// One report.
#[derive(Clone, Debug)]
pub(crate) enum WorkerReport {
    /// First on each stream.
    Hello(Box<Hello>),
    /// Calls are wanted: so many in all.
    Ready { free_slots: u32 },
    /// An offer arrived.
    Received(Lease),
    /// The execution is ready to start.
    StartRequested(Lease),
    /// How far an execution is.
    Progress { lease: Lease, progress: Box<ToolProgress> },
    /// What an execution has given so far, after what was shown before.
    Partial { lease: Lease, content: Vec<ContentBlock> },
    /// How an execution ended.
    Ended(Arc<Ended>),
    /// Whether an execution can be stopped.
    CancelAcknowledged { lease: Lease, supported: bool },
    /// A sign of life, which renews these leases.
    Heartbeat { leases: Vec<Lease>, free_slots: u32 },
    /// A call is given back.
    Released { lease: Lease, reason: ReleaseReason },
    /// A tool asks a question.
    InputRequested(InputRequest),
    /// A server of a provider says that its tools have changed.
    ProviderChanged(ChangedProvider),
    /// The credentials the worker has now, by name.
    Credentials(Vec<String>),
    /// Last on a stream that ends in order.
    Goodbye,
}

/// Who the worker is, and what it has held since an earlier stream.
#[derive(Clone, Debug)]
pub(crate) struct Hello {
    pub(crate) introduction: Arc<Introduction>,
    /// The credentials the worker has, by name.
    pub(crate) credentials: Vec<String>,
    /// Leases whose calls have not ended.
    pub(crate) held: Vec<Lease>,
    /// Endings that were not acknowledged.
    pub(crate) finished: Vec<Arc<Ended>>,
    /// Not all of those fit into this message: the others follow as reports, and until then leases of earlier starts of this
    /// worker must go on.
    pub(crate) endings_follow: bool,
}

/// Why a call is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReleaseReason {
    Canceled,
    /// The worker ends, or leaves this scheduler.
    Draining,
    LeaseInDoubt,
    NoFreeSlot,
}

impl ReleaseReason {
    /// The word that the contract uses.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::Draining => "draining",
            Self::LeaseInDoubt => "lease_in_doubt",
            Self::NoFreeSlot => "no_free_slot",
        }
    }
}

/// A question of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InputRequest {
    pub(crate) lease: Lease,
    /// Unique within its call.
    pub(crate) input_id: String,
    /// For people.
    pub(crate) prompt: String,
    /// JSON Schema the answer has to fit, when there is one.
    pub(crate) schema: Option<JsonPayload>,
    /// How long to wait for an answer; as long as the scheduler allows when absent.
    pub(crate) ttl: Option<Duration>,
}
