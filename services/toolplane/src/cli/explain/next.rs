//! What can be done about a call now; pure.

use toolplane_proto::v1;
use toolplane_records::codes::Code;

use crate::cli::get::invocation::asked_of_result;

/// What to do next, best first.
pub(super) fn of(call: &v1::Invocation, result: Option<&v1::ToolResult>, trail: &v1::InvocationTrail) -> Vec<String> {
    let id = &call.invocation_id;
    if let Some(asked) = &call.pending_input {
        return vec![format!("answer its question: toolplane input {id}"), format!("it asks: {}", asked.prompt)];
    }
    if call.status == "awaiting_approval" {
        let approval = &call.approval_request_ref;
        return vec![format!("toolplane approvals show {approval}, then approve or reject it")];
    }
    if call.status == "post_hooks_running"
        && let Some(approval) = asked_of_result(call).last()
    {
        return vec![
            format!("toolplane approvals show {approval}: its result waits for the answer"),
            "approve it to give the result out as it is, reject it to give it out masked".to_owned(),
        ];
    }
    let Some(result) = result else {
        return vec![format!("toolplane watch {id} follows it, toolplane cancel {id} asks it to stop")];
    };
    let mut lines = Vec::new();
    if let Some(error) = &result.error {
        if let Some(code) = Code::find(&error.error_code) {
            let own = error.recovery_suggestion.as_deref().filter(|own| !own.trim().is_empty());
            lines.push(format!("{} ({})", own.unwrap_or(code.entry().cure), code.place()));
        }
        if let Some(ms) = error.retry_after_ms {
            lines.push(format!("it may be tried again after {ms} ms"));
        }
    }
    let kept = trail.persistence.iter().filter_map(|kept| kept.persisted_ref.as_ref()).next();
    if let Some(kept) = kept {
        lines.push(format!("toolplane fetch {id} reads the whole output ({} bytes)", kept.size_bytes));
    }
    lines
}
