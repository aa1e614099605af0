//! Parked questions to people: what an `ask` decision leaves until it is answered (ours).

use serde::{Deserialize, Serialize};

use crate::decision::PermissionDecision;
use crate::ids::{ApprovalId, InvocationId, TenantId, ToolId};
use crate::payload::{Digest, JsonPayload};
use crate::time::Timestamp;
use crate::vocabulary::ApprovalState;

/// One question about one exact call. It has one final answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: String,
    /// Identifier of the question.
    pub approval_id: ApprovalId,
    /// Who owns the call.
    pub tenant: TenantId,
    /// The call.
    pub invocation_id: InvocationId,
    /// The tool.
    pub tool_id: ToolId,
    /// The name the caller used.
    pub tool_name: String,
    /// Digest of the declaration the question is about.
    pub declaration_digest: Digest,
    /// Digest of the input the question is about.
    pub input_digest: Digest,
    /// The input people are shown.
    pub permission_input: JsonPayload,
    /// Who asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub actor_ref: String,
    /// The decision that asked.
    pub request: PermissionDecision,
    /// Where it stands.
    pub state: ApprovalState,
    /// The decision that answered, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<PermissionDecision>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resolved_by: String,
    /// What the answerer said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub feedback: String,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it becomes a refusal by itself.
    pub expires_at: Timestamp,
    /// When it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
}
