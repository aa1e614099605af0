//! What a hook is told.

use std::sync::Arc;

use toolplane_records::decision::PermissionDecision;
use toolplane_records::decision_request::CallerContext;
use toolplane_records::error::ToolError;
use toolplane_records::ids::InvocationId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::tool_facts::ToolFacts;

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
    /// The provider's id of the call; may be empty.
    pub native_call_id: String,
    /// Who calls, and from where.
    pub caller: CallerContext,
    /// The tool, with every name that leads to it.
    pub tool: Arc<ToolFacts>,
    /// The input as hooks may see it: sensitive fields are [`REDACTED`](toolplane_records::payload::REDACTED).
    pub input: JsonPayload,
    /// The decision so far, at `permission_request` and `permission_decision`.
    pub decision: Option<PermissionDecision>,
    /// What the tool gave, after the call.
    pub outcome: Option<HookOutcome>,
}

impl HookInput {
    /// A point before the call of which nothing else is known.
    pub fn new(
        invocation_id: InvocationId,
        caller: CallerContext,
        tool: impl Into<Arc<ToolFacts>>,
        input: JsonPayload,
    ) -> Self {
        Self {
            invocation_id,
            native_call_id: String::new(),
            caller,
            tool: tool.into(),
            input,
            decision: None,
            outcome: None,
        }
    }
}
