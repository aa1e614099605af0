//! Dispatch plans: everything a worker needs to run calls of one tool version, fixed at acceptance.

use serde::{Deserialize, Serialize};
use toolplane_catalog::Registration;
use toolplane_matching::ToolFacts;
use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::{ExecutionBinding, ExecutionProfile, PermissionProfile};
use toolplane_records::result::CONTENT_CLASSES;
use toolplane_records::retention::keep_ms;
use toolplane_records::vocabulary::{AccessKind, ExecutionKind, RiskLevel, ToolKind};

/// How calls of one version of one tool are executed. Stored once under its digest and shared by all its calls, so that
/// a later change of the declaration does not change calls that were already accepted.
///
/// It is stored flat, in the order in which the fields stand here and in the parts: the digest is made over that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchPlan {
    /// The tool, and the version of it.
    #[serde(flatten)]
    pub tool: PlannedTool,
    /// What the executor does.
    #[serde(flatten)]
    pub execution: PlannedExecution,
    /// How much of a result is kept inline.
    #[serde(flatten)]
    pub inline: InlineLimits,
    /// Whether a running execution can be canceled.
    pub supports_cancel: bool,
    /// Whether what the tool returns as context modifiers may be kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_context_modifiers: bool,
    /// What the matchers of hooks look at.
    #[serde(flatten)]
    pub matching: PlannedMatching,
    /// JSON Schema its structured output is checked against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<JsonPayload>,
    /// What else the tool declares of what it gives.
    #[serde(flatten)]
    pub declared: PlannedOutput,
}

/// What a tool declares of what it gives, while it runs and at its end; what it does not declare is not taken. Plans of earlier versions
/// say nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedOutput {
    /// It says how far it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_progress: bool,
    /// It shows what it has so far.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_partial_results: bool,
    /// It can go on where an earlier execution stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_resume: bool,
    /// It leaves artifacts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_artifacts: bool,
    /// Its calls may go on while nobody waits for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supports_background: bool,
    /// Classes of content it may give; any where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_types: Vec<String>,
    /// Artifacts it is expected to leave: patterns of their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_expectations: Vec<String>,
    /// What is said where its content cannot be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_summary: Option<String>,
    /// How its results want to be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendering: Option<JsonPayload>,
    /// How its outputs are kept, when not as usual: a word of [`toolplane_catalog::PERSISTENCE_POLICIES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence_policy: Option<String>,
    /// For how long its outputs are kept, milliseconds; as usual when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_ms: Option<i64>,
    /// All values that cleaning knows are taken out of its outputs, or they are withheld.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redaction_required: bool,
    /// What else is taken out of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redaction_rules: Vec<String>,
}

impl PlannedOutput {
    /// What `registration` declares.
    pub(crate) fn of(registration: &Registration) -> Self {
        let profile = registration.execution_profile.as_deref();
        let contract = registration.declaration.output_contract.as_ref();
        let interface = registration.interface.as_ref();
        let permission = registration.permission_profile.as_ref();
        let says = |flag: fn(&ExecutionProfile) -> bool| profile.is_some_and(flag);
        // Earlier versions took any word: such a list says nothing.
        let known = |words: &Vec<String>| words.iter().all(|word| CONTENT_CLASSES.contains(&word.as_str()));
        Self {
            supports_progress: says(|profile| profile.supports_progress),
            supports_partial_results: says(|profile| profile.supports_partial_results),
            supports_resume: says(|profile| profile.supports_resume),
            supports_artifacts: says(|profile| profile.supports_artifacts),
            supports_background: says(|profile| profile.supports_background),
            content_types: contract.map(|contract| contract.content_types.clone()).filter(known).unwrap_or_default(),
            artifact_expectations: contract.map(|contract| contract.artifact_expectations.clone()).unwrap_or_default(),
            fallback_summary: contract.and_then(|contract| contract.fallback_summary.clone()),
            rendering: interface
                .and_then(|interface| interface.rendering.clone())
                .or_else(|| contract.and_then(|contract| contract.rendering_boundary.clone())),
            persistence_policy: interface
                .and_then(|interface| interface.persistence_policy_ref.clone())
                .or_else(|| contract.and_then(|contract| contract.persistence_policy_ref.clone())),
            redaction_required: permission.is_some_and(|profile| profile.redaction_required == Some(true)),
            redaction_rules: contract.map(|contract| contract.redaction_rules.clone()).unwrap_or_default(),
            keep_ms: permission
                .and_then(|profile| profile.retention_hint.as_deref())
                .and_then(|hint| keep_ms(hint).ok().flatten()),
        }
    }
}

/// The tool of a plan, and the version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    #[serde(rename = "tool_name")]
    pub full_name: String,
    /// The version of its registration.
    pub declaration_digest: Digest,
}

/// What the executor does, and within which bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedExecution {
    /// Kind of executor.
    #[serde(rename = "execution_kind")]
    pub kind: ExecutionKind,
    /// What the executor does.
    pub binding: ExecutionBinding,
    /// Must run in a sandbox.
    pub sandboxed: bool,
    /// Which one.
    pub sandbox_profile: Option<String>,
    /// Wall time of one execution, milliseconds.
    pub timeout_ms: u64,
}

/// How much of a result is kept inline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlineLimits {
    /// Most characters.
    #[serde(rename = "max_inline_chars")]
    pub max_chars: u64,
    /// Most bytes.
    #[serde(rename = "max_inline_bytes")]
    pub max_bytes: u64,
}

/// What the matchers of hooks look at, beside the name of the tool. Plans of earlier versions have only some of it, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedMatching {
    /// Every other name of the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Kind of capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_kind: Option<ToolKind>,
    /// What the tool touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_kinds: Vec<AccessKind>,
    /// The namespace of the tool; empty when it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// What patterns in brackets are compared with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub permission_matcher: String,
    /// The input fields they look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_matching_fields: Vec<String>,
}

impl PlannedMatching {
    /// What is kept of a tool for matchers.
    pub(crate) fn of(facts: &ToolFacts) -> Self {
        let fields = facts.profile.as_ref().map(|profile| profile.rule_matching_fields.clone());
        Self {
            aliases: facts.aliases.clone(),
            tool_kind: facts.kind,
            access_kinds: facts.access_kinds().unwrap_or_default().to_vec(),
            namespace: facts.namespace.clone(),
            permission_matcher: facts.permission_matcher.clone(),
            rule_matching_fields: fields.unwrap_or_default(),
        }
    }
}

impl DispatchPlan {
    /// The tool, as matchers know it.
    pub(crate) fn facts(&self) -> ToolFacts {
        let (tool, matching) = (&self.tool, &self.matching);
        let own = tool.full_name.rsplit_once('.').map_or("", |(namespace, _)| namespace);
        let namespace = if matching.namespace.is_empty() { own } else { &matching.namespace };
        let mut profile = PermissionProfile::new(ProfileId::from_trusted("plan"), RiskLevel::Low);
        profile.access_kinds.clone_from(&matching.access_kinds);
        profile.rule_matching_fields.clone_from(&matching.rule_matching_fields);
        ToolFacts {
            aliases: matching.aliases.clone(),
            kind: matching.tool_kind,
            permission_matcher: matching.permission_matcher.clone(),
            profile: Some(profile),
            ..ToolFacts::named(tool.tool_id.clone(), &tool.full_name, namespace)
        }
    }

    /// The plan's stored form and the digest it is stored under. Fails with a [`serde_json::Error`] only when a JSON
    /// value in the plan, such as its output schema, is not JSON.
    pub fn encode(&self) -> Result<(Vec<u8>, Digest), serde_json::Error> {
        let bytes = serde_json::to_vec(self)?;
        let digest = Digest::of(&bytes);
        Ok((bytes, digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan with every field, and one as earlier versions stored them.
    const STORED: [&str; 2] = [
        concat!(
            r#"{"tool_id":"tool_1","tool_name":"demo.sh","#,
            r#""declaration_digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","#,
            r#""execution_kind":"local_process","binding":{"type":"process","argv":["sh","{command}"],"stdin":"none","env":{"A":"1"},"json_output":true},"#,
            r#""sandboxed":true,"sandbox_profile":"strict","timeout_ms":18446744073709551615,"max_inline_chars":30000,"#,
            r#""max_inline_bytes":65536,"supports_cancel":true,"supports_context_modifiers":true,"#,
            r#""aliases":["demo__sh","sh"],"tool_kind":"shell_command","access_kinds":["file_read"],"namespace":"demo","#,
            r#""permission_matcher":"shell_pattern","rule_matching_fields":["command"],"#,
            r#""output_schema":{"type":"object","maximum":123456789012345678901234567890}}"#,
        ),
        concat!(
            r#"{"tool_id":"tool_1","tool_name":"demo.sh","#,
            r#""declaration_digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","#,
            r#""execution_kind":"embedded_runtime","binding":{"type":"native","name":"echo"},"sandboxed":false,"#,
            r#""sandbox_profile":null,"timeout_ms":1000,"max_inline_chars":1,"max_inline_bytes":2,"supports_cancel":false}"#,
        ),
    ];

    /// A plan is found under the digest of its bytes, so the same plan must always be the same bytes.
    #[test]
    fn a_stored_plan_reads_back_as_the_same_bytes() {
        for stored in STORED {
            let plan: DispatchPlan = serde_json::from_str(stored).unwrap();
            let (bytes, digest) = plan.encode().unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap(), stored);
            assert_eq!(digest, Digest::of(stored.as_bytes()));
        }
    }
}
