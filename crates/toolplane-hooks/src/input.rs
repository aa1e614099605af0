//! What a hook is told.

use serde::{Deserialize, Serialize};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{AccessKind, ExecutionKind, ToolKind};

/// The tool of a call, as far as matchers and hooks need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// Every other name that leads to it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What kind of capability it is; absent when nobody says.
    #[serde(default)]
    pub kind: Option<ToolKind>,
    /// How it is run; absent when nobody says.
    #[serde(default)]
    pub execution_kind: Option<ExecutionKind>,
    /// What it touches; empty when nobody says.
    #[serde(default)]
    pub access_kinds: Vec<AccessKind>,
}

/// What a tool gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookOutcome {
    /// Content blocks in order.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// Machine-readable output.
    #[serde(default)]
    pub structured_content: Option<JsonPayload>,
    /// The failure, when it failed.
    #[serde(default)]
    pub error: Option<ToolError>,
    /// How long it worked, in milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// It was stopped by somebody.
    #[serde(default)]
    pub interrupted: bool,
}

/// One point of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookInput {
    /// The call.
    pub invocation_id: InvocationId,
    /// Its owner.
    #[serde(default)]
    pub tenant: String,
    /// Who calls; empty when nobody says.
    #[serde(default)]
    pub actor_ref: String,
    /// The session of the call; may be empty.
    #[serde(default)]
    pub session_ref: String,
    /// The surface of the call; may be empty.
    #[serde(default)]
    pub surface_id: String,
    /// The provider's id of the call; may be empty.
    #[serde(default)]
    pub native_call_id: String,
    /// Permission mode in force; empty is the default mode.
    #[serde(default)]
    pub permission_mode: String,
    /// The tool.
    pub tool: HookTool,
    /// The input as hooks may see it: sensitive fields are [`REDACTED`](crate::REDACTED).
    pub input: JsonPayload,
    /// The decision so far, at `permission_request` and `permission_decision`.
    #[serde(default)]
    pub decision: Option<PermissionDecision>,
    /// What the tool gave, after the call.
    #[serde(default)]
    pub outcome: Option<HookOutcome>,
}

impl HookInput {
    /// A point before the call of which nothing else is known.
    pub fn new(invocation_id: InvocationId, tool: HookTool, input: JsonPayload) -> Self {
        Self {
            invocation_id,
            tenant: String::new(),
            actor_ref: String::new(),
            session_ref: String::new(),
            surface_id: String::new(),
            native_call_id: String::new(),
            permission_mode: String::new(),
            tool,
            input,
            decision: None,
            outcome: None,
        }
    }
}

impl HookTool {
    /// A tool of which only its names are known.
    pub fn named(tool_id: ToolId, name: impl Into<String>) -> Self {
        Self {
            tool_id,
            name: name.into(),
            aliases: Vec::new(),
            kind: None,
            execution_kind: None,
            access_kinds: Vec::new(),
        }
    }
}
