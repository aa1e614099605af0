//! What can be done about a call now; pure.

use toolplane_proto::v1;
use toolplane_records::codes::Code;

use crate::cli::advised;
use crate::cli::get::invocation::asked_of_result;
use crate::cli::kept::{self, KeptOutputs};
use crate::cli::output::instant;

/// What to do next, best first.
pub(super) fn of(call: &v1::Invocation, result: Option<&v1::ToolResult>, outputs: &KeptOutputs) -> Vec<String> {
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
    lines.extend(kept::first(result).map(|first| read(first, id, outputs)));
    lines
}

/// How the first output that is kept by reference is read, or that it is gone.
fn read(first: &v1::PayloadRef, id: &str, outputs: &KeptOutputs) -> String {
    let size = first.size_bytes;
    if let Some(since) = outputs.gone_since(first) {
        return format!("its output ({size} bytes) is not kept any more since {}", instant(Some(&since)));
    }
    let fetch = outputs.fetch(first, id);
    match outputs.cut_from(first) {
        Some(all) => format!("{fetch} reads the beginning of the output ({size} of {all} bytes)"),
        None => format!("{fetch} reads the whole output ({size} bytes)"),
    }
}
