//! What a hook is told.

use toolplane_matching::ToolFacts;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::ids::InvocationId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;

/// What a tool gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookOutcome {
    /// Content blocks in order.
    pub content: Vec<ContentBlock>,
    /// Machine-readable output.
    pub structured_content: Option<JsonPayload>,
    /// The failure, when it failed.
    pub error: Option<ToolError>,
    /// How long it worked, in milliseconds.
    pub duration_ms: u64,
    /// It was stopped on request.
    pub interrupted: bool,
}

/// One point of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct HookInput {
    /// The call.
    pub invocation_id: InvocationId,
    /// Its owner.
    pub tenant: String,
    /// Who calls; empty when it is not said.
    pub actor_ref: String,
    /// The session of the call; may be empty.
    pub session_ref: String,
    /// The surface of the call; may be empty.
    pub surface_id: String,
    /// The provider's id of the call; may be empty.
    pub native_call_id: String,
    /// Permission mode in force; empty is the default mode.
    pub permission_mode: String,
    /// The tool, as matchers know it.
    pub tool: ToolFacts,
    /// The input as hooks may see it: sensitive fields are [`REDACTED`](toolplane_records::payload::REDACTED).
    pub input: JsonPayload,
    /// The decision so far, at `permission_request` and `permission_decision`.
    pub decision: Option<PermissionDecision>,
    /// What the tool gave, after the call.
    pub outcome: Option<HookOutcome>,
}

impl HookInput {
    /// A point before the call of which nothing else is known.
    pub fn new(invocation_id: InvocationId, tool: ToolFacts, input: JsonPayload) -> Self {
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
