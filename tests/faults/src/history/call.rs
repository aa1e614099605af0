//! A call and a batch as the cluster shows them at the end.

use serde::{Deserialize, Serialize};

/// A call at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalCall {
    /// The call.
    pub invocation: String,
    /// Its idempotency key.
    pub key: String,
    /// Owner.
    pub tenant: String,
    /// Its priority band.
    #[serde(default)]
    pub band: String,
    /// Its status.
    pub status: String,
    /// Its recorded changes of status.
    pub steps: Vec<Step>,
    /// Its whole log.
    pub events: Vec<FinalEvent>,
    /// The last sequence, as the record says.
    pub last_seq: u64,
    /// Leases granted.
    pub lease_no: u32,
    /// A lease is still held.
    pub leased: bool,
    /// Its one result.
    pub result: Option<FinalResult>,
    /// When it was accepted.
    pub created_ms: u64,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// A caller asked to cancel it.
    #[serde(default)]
    pub cancel_asked: bool,
    /// Number of its lock ticket.
    #[serde(default)]
    pub ticket: Option<u64>,
    /// When its locks were granted.
    #[serde(default)]
    pub granted_ms: Option<u64>,
}

impl FinalCall {
    /// It has ended.
    pub fn is_terminal(&self) -> bool {
        matches!(
            self.status.as_str(),
            "schema_parse_failed"
                | "validation_failed"
                | "denied"
                | "blocked"
                | "succeeded"
                | "failed"
                | "canceled"
                | "timed_out"
        )
    }

    /// The code of its error.
    pub fn error_code(&self) -> &str {
        self.result.as_ref().map_or("", |result| result.error_code.as_str())
    }

    /// It is not known whether its effect happened.
    pub fn outcome_unknown(&self) -> bool {
        self.error_code() == "exec.outcome_unknown"
    }

    /// Executions it was given, each with its lease, its worker and when.
    pub fn starts(&self) -> impl Iterator<Item = &FinalEvent> {
        self.events.iter().filter(|event| event.class == "tool.invocation.started")
    }
}

/// A change of status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Before; empty for the first.
    pub from: String,
    /// After.
    pub to: String,
    /// The log event it belongs to.
    pub seq: u64,
}

/// An event of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalEvent {
    /// Its place.
    pub seq: u64,
    /// Its class.
    pub class: String,
    /// When.
    pub at_ms: u64,
    /// The lease it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_no: Option<u32>,
    /// The worker it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The reason it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalResult {
    /// Digest of the whole of it.
    pub digest: String,
    /// How it ended.
    pub status: String,
    /// Code of its error; empty when there is none.
    #[serde(default)]
    pub error_code: String,
    /// Class of its error.
    #[serde(default)]
    pub error_class: String,
    /// Its error's message.
    #[serde(default)]
    pub message: String,
    /// What the test's own tool says of the execution that made it.
    #[serde(default)]
    pub report: Option<Report>,
}

/// What the test's own tool says of its execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The lease it ran under.
    pub lease_no: u32,
    /// Its fence.
    pub fence: u64,
    /// The worker.
    pub worker: String,
}

/// A batch at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalBatch {
    /// The batch.
    pub batch: String,
    /// Results are handed out in declared order.
    pub ordered: bool,
    /// A failure cancels the siblings.
    pub cancels_siblings: bool,
    /// Its calls in declared order.
    pub members: Vec<Member>,
}

/// A call of a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The call.
    pub invocation: String,
    /// Its place among the results handed out, from 1.
    pub yield_seq: Option<u64>,
}
