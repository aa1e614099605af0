//! The answer to a call that has not ended: what it waits for, and how to come back.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::InvocationStatus as Now;
use toolplane_records::visible;
use toolplane_runtime::draining;

use super::follow::Begun;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::tools::Builtin;

/// What else there is to know about a wait that ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Somebody said so.
    Said(String),
    /// This process is told to stop.
    Draining,
}

impl Why {
    fn text(&self) -> &str {
        match self {
            Self::Said(text) => text,
            Self::Draining => "This server is stopping; the call goes on",
        }
    }
}

/// What a client is answered that cannot wait longer. `why` says what else there is to know.
pub(crate) async fn reply(
    x: &Exchange,
    begun: &Begun,
    call: &v1::Invocation,
    why: Option<Why>,
) -> Result<Reply, Fault> {
    let text = said(call, why.as_ref().map(Why::text));
    // A client holds an answer that is no error to the output schema of its tool, and this one does not fit it.
    let has_schema = match x.front.listings.now(&x.upstream, &x.front.surface()).await?.of_tool(&call.tool_id) {
        Some(entry) => {
            let definition = x.front.definitions.of(&x.upstream, entry).await?;
            definition.is_some_and(|definition| definition.output_schema.is_some())
        }
        None => false,
    };
    let mut reply = Reply::new()
        .value("content", &json!([{ "type": "text", "text": text }]))
        .value("isError", &has_schema)
        .meta("toolplane/invocation_id", &begun.id)
        .meta("toolplane/status", &call.status);
    if why == Some(Why::Draining) {
        let (reason, retry_after_ms) = draining::cut_short();
        let told = json!({ "reason": reason, "retry_after_ms": retry_after_ms });
        reply = reply.meta("toolplane/cut_short", &told);
    }
    if !call.approval_request_ref.is_empty() {
        reply = reply.meta("toolplane/approval_ref", &call.approval_request_ref);
    }
    if !call.permission_decision_refs.is_empty() {
        reply = reply.meta("toolplane/decision_refs", &call.permission_decision_refs);
    }
    Ok(reply)
}

/// What the call waits for, in one line; also the status of a task.
pub(crate) fn waits_for(call: &v1::Invocation) -> String {
    match call.status_code() {
        Now::AwaitingApproval => {
            let approval = &call.approval_request_ref;
            format!("waits for the approval of a person, {approval} (`toolplane approvals approve {approval}`)")
        }
        Now::NeedsInput => {
            let asked = call.pending_input.as_ref().map(|open| open.prompt.as_str()).unwrap_or_default();
            let asked = visible::excerpt(asked, 500);
            format!("asks a person: {asked} (`toolplane input {}`)", call.invocation_id)
        }
        _ => format!("still runs ({})", call.status),
    }
}

fn said(call: &v1::Invocation, why: Option<&str>) -> String {
    let (id, builtin) = (&call.invocation_id, Builtin::Result.name());
    let mut text = format!("This call has not ended: it {}.", waits_for(call));
    if let Some(why) = why.filter(|why| !why.is_empty()) {
        text.push_str(&format!(" {}.", why.trim_end_matches('.')));
    }
    text.push_str(&format!(
        "\nIts result is to be had later: call `{builtin}` with {{\"invocation_id\": \"{id}\"}}. Do not make the call again: it would be another one."
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_waits_for_is_said_with_the_way_on() {
        let call = |status: Now| v1::Invocation {
            invocation_id: "inv_1".to_owned(),
            status_code: status.into(),
            status: "s".to_owned(),
            approval_request_ref: "appr_1".to_owned(),
            ..Default::default()
        };
        let text = said(&call(Now::AwaitingApproval), Some("you may not answer it."));
        assert!(
            text.contains("`toolplane approvals approve appr_1`") && text.contains("you may not answer it.\n"),
            "{text}"
        );
        assert!(text.contains(r#"`tool_result` with {"invocation_id": "inv_1"}"#), "{text}");
        assert!(said(&call(Now::NeedsInput), None).contains("toolplane input inv_1"));
        assert!(said(&call(Now::Running), None).contains("still runs"));
    }
}
