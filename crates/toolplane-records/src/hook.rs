//! Hook records (contracts/hooks-and-input-mutation).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{InvocationId, ToolId};
use crate::payload::JsonPayload;
use crate::time::Timestamp;
use crate::vocabulary::{Behavior, HookEvent};

/// A permission hint of a hook; it never loosens a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookPermission {
    /// What the hook would do.
    pub behavior: Behavior,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// A hook's wish to stop the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookStop {
    /// Why.
    pub reason: String,
}

/// One run of one hook at one point of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolHook {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the hook.
    pub hook_id: String,
    /// Where it ran.
    pub hook_event: HookEvent,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<InvocationId>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_id: Option<ToolId>,
    /// What the hook listens to; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub matcher: Option<JsonPayload>,
    /// Messages and progress; objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::Object>"))]
    pub outputs: Vec<JsonPayload>,
    /// Permission hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_result: Option<HookPermission>,
    /// Replacement input.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<JsonPayload>,
    /// Context to append; objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema::Object>"))]
    pub additional_context: Vec<JsonPayload>,
    /// Wish to stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<HookStop>,
    /// Replacement output.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub updated_output: Option<JsonPayload>,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}
