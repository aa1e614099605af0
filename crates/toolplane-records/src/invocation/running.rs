//! Facts of a call that is out at a worker: its lease, the question it asks, and its cancellation.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{LeaseId, WorkerId};
use crate::payload::JsonPayload;
use crate::time::Timestamp;
use crate::vocabulary::AbortReason;

/// The current lease of an invocation. It is the fence: reports under any other lease change nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lease {
    /// Grows by one with every lease of this invocation, never given back.
    pub lease_no: u32,
    /// Random name of this lease.
    pub lease_id: LeaseId,
    /// Strictly increasing over all leases of the store; handed to tools as their fence.
    pub fence: u64,
    /// Who holds it.
    pub worker_id: WorkerId,
    /// Which start of that worker.
    pub incarnation: SmolStr,
    /// When it ends unless renewed, by the store's clock.
    pub expires_at: Timestamp,
    /// The worker has confirmed receipt.
    pub confirmed: bool,
    /// Names of the permit indexes this lease occupies a place in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permits: Vec<SmolStr>,
}

/// An execution that has ended and whose ending waits for the hooks after the call. Nothing of it is in the log or in a result
/// before they were asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PostHooks {
    /// When another scheduler asks the hooks, should the one that asks now go silent.
    pub due_at: Timestamp,
    /// How often asking them was begun, this time included.
    pub tries: u32,
}

/// A question a running tool asks, and that a person has to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PendingInput {
    /// Identifier of the question, unique within its call.
    pub input_id: String,
    /// The question, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// JSON Schema the answer has to fit, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<JsonPayload>,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// When the tool is told that there was no answer.
    pub expires_at: Timestamp,
    /// The answer, once there is one: kept, and repeated to the worker, until the execution asks again or ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<InputAnswer>,
}

/// The one answer to a tool's question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputAnswer {
    /// What was answered; absent when the person chose not to, or there was no answer.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub input: Option<JsonPayload>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provided_by: String,
    /// There was no answer in time.
    #[serde(default)]
    pub expired: bool,
    /// When it was answered.
    pub answered_at: Timestamp,
}

/// The four facts of a cancellation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelFacts {
    /// When a caller asked.
    pub requested_at: Timestamp,
    /// Who asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub requested_by: String,
    /// Why, in the caller's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Why the execution is to stop.
    pub abort_reason: AbortReason,
    /// When the executor acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_at: Option<Timestamp>,
    /// Why the cancellation did not happen, when it did not (`unsupported`, `completed_first`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
