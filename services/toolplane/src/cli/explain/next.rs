//! What can be done about a call now.

use toolplane_proto::v1;
use toolplane_records::codes::Code;
use toolplane_runtime::clock;

use crate::cli::advised;
use crate::cli::get::invocation::asked_of_result;

/// What to do next, best first.
pub(super) fn of(call: &v1::Invocation, result: Option<&v1::ToolResult>, trail: &v1::InvocationTrail) -> Vec<String> {
    let id = &call.invocation_id;
    if let Some(asked) = &call.pending_input {
        let answer = advised::command(format_args!("input {id}"));
        return vec![format!("answer its question: {answer}"), format!("it asks: {}", asked.prompt)];
    }
    if call.status == "awaiting_approval" {
        let approval = &call.approval_request_ref;
        let show = advised::command(format_args!("approvals show {approval}"));
        return vec![format!("{show}, then approve or reject it")];
    }
    if call.status == "post_hooks_running"
        && let Some(approval) = asked_of_result(call).last()
    {
        return vec![
            format!("{}: its result waits for the answer", advised::command(format_args!("approvals show {approval}"))),
            "approve it to give the result out as it is, reject it to give it out masked".to_owned(),
        ];
    }
    let Some(result) = result else {
        let [watch, cancel] = ["watch", "cancel"].map(|what| advised::command(format_args!("{what} {id}")));
        return vec![format!("{watch} follows it, {cancel} asks it to stop")];
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
    let is_there = |kept: &&v1::ResultPersistence| !is_over(kept) && !are_removed(trail);
    if let Some(kept) = trail.persistence.iter().filter(is_there).find_map(|kept| kept.persisted_ref.as_ref()) {
        let fetch = advised::command(format_args!("fetch {id}"));
        lines.push(format!("{fetch} reads what is kept of the output ({} bytes)", kept.size_bytes));
    }
    lines
}

/// Whether the time of an output has come, by this machine's clock.
pub(super) fn is_over(kept: &v1::ResultPersistence) -> bool {
    let seconds = kept.expires_at.as_ref().and_then(|at| u64::try_from(at.seconds).ok());
    seconds.is_some_and(|seconds| seconds < clock::since_epoch().as_secs())
}

fn are_removed(trail: &v1::InvocationTrail) -> bool {
    trail.kept_until.iter().any(|stay| stay.class == "outputs" && stay.removed_at.is_some())
}
