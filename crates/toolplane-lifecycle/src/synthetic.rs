//! Results the scheduler makes itself, when no execution produced one.

use toolplane_records::error::ToolError;
use toolplane_records::invocation::Invocation;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::time::Timestamp;
use toolplane_records::visible;
use toolplane_records::vocabulary::ResultStatus;

use crate::draft::result_id;

/// Stable `error_code`s of the lifecycle.
pub mod codes {
    /// An execution may or may not have had its effect; nobody can tell.
    pub const OUTCOME_UNKNOWN: &str = "exec.outcome_unknown";
    /// Every allowed execution was lost or failed.
    pub const ATTEMPTS_EXHAUSTED: &str = "exec.attempts_exhausted";
    /// The worker did not report the timeout it should have enforced.
    pub const TIMEOUT_UNACKNOWLEDGED: &str = "exec.timeout_unacked";
    /// The caller's deadline passed.
    pub const DEADLINE: &str = "lifecycle.deadline_exceeded";
    /// Canceled before it started.
    pub const CANCELED: &str = "cancel.requested";
    /// Canceled, and the worker was lost before it could say so.
    pub const CANCEL_WORKER_LOST: &str = "cancel.worker_lost";
    /// Canceled, and the worker never said that it stopped.
    pub const CANCEL_UNACKNOWLEDGED: &str = "cancel.unacknowledged";
    /// The tool completed, and its output is too large to be kept whole: not a failure of the tool.
    pub const RESULT_TOO_LARGE: &str = "result.too_large";
    /// Workers kept dying of this call.
    pub const POISON: &str = "exec.poison_quarantined";
    /// Another call of its batch ended so that this one was canceled.
    pub const SIBLING_CANCELED: &str = "sibling.canceled";
    /// A person said no.
    pub const APPROVAL_REJECTED: &str = "approval.rejected";
    /// Nobody answered in time.
    pub const APPROVAL_EXPIRED: &str = "approval.expired";
    /// A person said yes to an input that the tool cannot take.
    pub const APPROVAL_EDIT: &str = "approval.edit_invalid";
    /// A call that waited may not run any more.
    pub const PERMISSION_REVOKED: &str = "permission.revoked";
}

/// Most characters of a summary for people.
const MAX_SUMMARY: usize = 1_000;

/// A summary as people are shown it, whoever wrote it: one line of which nothing can act on their screen.
pub(crate) fn for_people(summary: &str) -> String {
    visible::excerpt(summary, MAX_SUMMARY)
}

/// A failure in the words of its result.
pub(crate) fn says(error: &ToolError) -> ContentBlock {
    ContentBlock::Text { text: format!("{} [{}]", error.message, error.error_code) }
}

/// A result for `invocation` that consists of `error`.
pub(crate) fn failure(invocation: &Invocation, status: ResultStatus, error: ToolError, now: Timestamp) -> ToolResult {
    let said = vec![says(&error)];
    ToolResult {
        schema_version: toolplane_records::schema_version(),
        result_id: result_id(invocation),
        invocation_id: invocation.invocation_id.clone(),
        status,
        is_error: true,
        content: said.clone(),
        structured_content: None,
        model_facing_content: said,
        ui_facing_summary: for_people(&error.message),
        resource_refs: Vec::new(),
        artifact_refs: Vec::new(),
        evidence_refs: error.evidence_refs.clone(),
        policy_refs: error.policy_refs.clone(),
        telemetry_refs: Vec::new(),
        persistence_refs: Vec::new(),
        summary: for_people(&error.message),
        redaction_state: None,
        error: Some(error),
        created_at: now,
        context_modifiers: Vec::new(),
    }
}
