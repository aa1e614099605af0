//! Dispatch plans: everything a worker needs to run calls of one tool version, fixed at acceptance.

use serde::{Deserialize, Serialize};
use toolplane_matching::ToolFacts;
use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::{ExecutionBinding, PermissionProfile};
use toolplane_records::vocabulary::{AccessKind, ExecutionKind, RiskLevel, ToolKind};

/// How calls of one version of one tool are executed. Stored once under its digest and shared by all its calls, so that
/// a later change of the declaration does not change calls that were already accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchPlan {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub tool_name: String,
    /// The version of its registration.
    pub declaration_digest: Digest,
    /// Kind of executor.
    pub execution_kind: ExecutionKind,
    /// What the executor does.
    pub binding: ExecutionBinding,
    /// Must run in a sandbox.
    pub sandboxed: bool,
    /// Which one.
    pub sandbox_profile: Option<String>,
    /// Wall time of one execution, milliseconds.
    pub timeout_ms: u64,
    /// Most characters of a result kept inline.
    pub max_inline_chars: u64,
    /// Most bytes of a result kept inline.
    pub max_inline_bytes: u64,
    /// Whether a running execution can be canceled.
    pub supports_cancel: bool,
    /// Whether what the tool returns as context modifiers may be kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_context_modifiers: bool,
    /// Every other name of the tool, for the matchers of hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Kind of capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<ToolKind>,
    /// What the tool touches, for the matchers of hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_kinds: Vec<AccessKind>,
    /// The namespace of the tool, for the matchers of hooks; empty in plans of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// What patterns in brackets are compared with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub permission_matcher: String,
    /// The input fields they look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_matching_fields: Vec<String>,
    /// JSON Schema its structured output is checked against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<JsonPayload>,
}

impl DispatchPlan {
    /// The tool, as matchers know it.
    pub(crate) fn facts(&self) -> ToolFacts {
        let own = self.tool_name.rsplit_once('.').map_or("", |(namespace, _)| namespace);
        let namespace = if self.namespace.is_empty() { own } else { &self.namespace };
        let mut facts = ToolFacts::named(self.tool_id.clone(), &self.tool_name, namespace);
        facts.aliases.clone_from(&self.aliases);
        facts.kind = self.tool_kind;
        facts.permission_matcher.clone_from(&self.permission_matcher);
        let mut profile = PermissionProfile::new(ProfileId::from_trusted("plan"), RiskLevel::Low);
        profile.access_kinds.clone_from(&self.access_kinds);
        profile.rule_matching_fields.clone_from(&self.rule_matching_fields);
        facts.profile = Some(profile);
        facts
    }

    /// The plan's stored form and the digest it is stored under. Fails with a [`serde_json::Error`] only when a JSON
    /// value in the plan, such as its output schema, is not JSON.
    pub fn encode(&self) -> Result<(Vec<u8>, Digest), serde_json::Error> {
        let bytes = serde_json::to_vec(self)?;
        let digest = Digest::of(&bytes);
        Ok((bytes, digest))
    }
}
