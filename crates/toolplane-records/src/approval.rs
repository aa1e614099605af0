//! Parked questions to people: what an `ask` decision leaves until it is answered (ours).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::decision::PermissionDecision;
use crate::ids::{ApprovalId, InvocationId, SurfaceId, TenantId, ToolId};
use crate::payload::{Digest, JsonPayload};
use crate::time::Timestamp;
use crate::vocabulary::{ApprovalState, PermissionOption, RiskLevel};

/// One question about one exact call. It has one final answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
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
    /// Its status.
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
    /// Digest of what the executor will get if the answer is yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_input_digest: Option<Digest>,
    /// What may be answered, in the order to offer it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ApprovalOption>,
    /// Who should look at it: `approvals`, or `review` when the agent itself was not sure.
    #[serde(default = "default_queue")]
    pub queue: String,
    /// The session of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<String>,
    /// The surface of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface_id: Option<SurfaceId>,
    /// The authenticated caller; empty without authentication.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caller_ref: String,
    /// Risk of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// The option that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_option: Option<PermissionOption>,
    /// Input the answerer put in place of the one that was shown.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<JsonPayload>,
    /// The registration `declaration_digest` is made over, as JSON.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub tool_registration: Option<JsonPayload>,
    /// The rule that would have allowed the call, had the tool not been registered in another way since.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outdated_rule: String,
    /// What has changed since that rule was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub definition_changes: Vec<DefinitionChange>,
}

/// One difference between two registrations of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DefinitionChange {
    /// Where, e.g. `declaration/description`.
    pub field: String,
    /// What was there; empty when nothing did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// What is there now; empty when nothing does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub after: String,
}

/// The queue of ordinary questions.
pub const APPROVALS: &str = "approvals";
/// The queue of questions the agent itself was not sure about.
pub const REVIEW: &str = "review";

/// The source of a decision that asks whether the result of a call is given out as it is. It is about no input.
pub const OF_RESULT: &str = "result";

impl Approval {
    /// Whether it is about the result of the call, and not about the call.
    pub fn is_about_result(&self) -> bool {
        self.request.source.as_deref() == Some(OF_RESULT)
    }
}

fn default_queue() -> String {
    APPROVALS.to_owned()
}

/// One answer that may be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalOption {
    /// Identifier, unique within its approval.
    pub option_id: String,
    /// For people.
    pub name: String,
    /// Kind of answer.
    pub kind: PermissionOption,
    /// The suggested update an `always` accepts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suggestion_id: String,
}
