//! Batches: calls that were accepted together and are scheduled under one policy (ours).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{BatchId, InvocationId, TenantId};
use crate::payload::Digest;
use crate::scheduling::SchedulerPolicy;
use crate::time::Timestamp;
use crate::vocabulary::{InterruptBehavior, InvocationStatus, SiblingFailurePolicy};

/// The place of a call in its batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchPlace {
    /// The batch.
    pub batch_id: BatchId,
    /// Position in the declared order, from 0.
    pub index: u32,
}

/// A batch as the store keeps it. Its members' own records stay the truth about them; what is noted of them here is what
/// the batch has acted upon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the batch.
    pub batch_id: BatchId,
    /// Owner.
    pub tenant: TenantId,
    /// The policy that applies.
    pub policy: SchedulerPolicy,
    /// The session its calls belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<String>,
    /// Where the locks of its calls apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_domain: Option<String>,
    /// Digest of what the caller asked for; the same key with another digest is a mistake.
    pub request_digest: Digest,
    /// The caller's idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// Its calls, in the declared order.
    #[serde(default)]
    pub members: Vec<BatchMember>,
    /// The first position whose result has not been released.
    #[serde(default)]
    pub next_yield: u32,
    /// Results released so far; the sequence of the last one.
    #[serde(default)]
    pub yields: u64,
    /// When the last result was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// One call of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchMember {
    /// The call.
    pub invocation_id: InvocationId,
    /// The name the caller used.
    pub tool_name: String,
    /// Positions of earlier calls that must succeed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<u32>,
    /// What a failure of this call does to the others, when it is not what the batch's policy says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sibling_failure_policy: Option<SiblingFailurePolicy>,
    /// What the agent's runtime does about this call when its user interrupts.
    pub interrupt_behavior: InterruptBehavior,
    /// Its caller does not wait for it: no other result does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The batch lets it run.
    #[serde(default)]
    pub released: bool,
    /// How it ended, once the batch has taken note of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<InvocationStatus>,
    /// When its result was released, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yield_seq: Option<u64>,
    /// Position of the call whose failure canceled this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canceled_by: Option<u32>,
    /// Its result will never be released.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
}
