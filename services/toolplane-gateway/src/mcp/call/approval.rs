//! Approvals, where the person at the client may give them.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::visible;

use super::form::Form;
use super::state::Question;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::upstream::Upstream;

/// Most characters of the input that are shown in a question.
const SHOWN: usize = 2_000;

/// What is to be done about an approval here.
pub(crate) enum Wanted {
    /// The person at this client is asked.
    Asked(Question, Form),
    /// It was answered just now: the call goes on, or ends.
    Nothing,
    /// Somebody else has to answer.
    Others,
}

/// What is to be done about the approval a call waits for.
pub(crate) async fn form(x: &Exchange, call: &v1::Invocation) -> Result<Wanted, Fault> {
    let id = call.approval_request_ref.clone();
    if id.is_empty() || x.upstream.never_approves() || !x.client.can.forms {
        return Ok(Wanted::Others);
    }
    let approval = match x
        .upstream
        .permissions()
        .get_approval(v1::GetApprovalRequest { approval_id: id, ..Default::default() })
        .await
    {
        Ok(answer) => answer.into_inner().approval.unwrap_or_default(),
        Err(status) if matches!(status.code(), Code::PermissionDenied | Code::NotFound) => return Ok(Wanted::Others),
        Err(status) => return Err(status.into()),
    };
    if approval.resolution.is_some() {
        return Ok(Wanted::Nothing);
    }
    if approval.options.is_empty() {
        return Ok(Wanted::Others);
    }
    let (ids, names): (Vec<_>, Vec<_>) =
        approval.options.iter().map(|option| (option.option_id.as_str(), option.name.as_str())).unzip();
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "title": "Decision", "enum": ids, "enumNames": names },
            "feedback": { "type": "string", "title": "What the agent is told", "maxLength": 1000 },
        },
        "required": ["decision"],
    });
    let question = Question::Approval(approval.approval_id.clone());
    Ok(Wanted::Asked(question, Form { message: message(&approval), schema: schema.to_string() }))
}

/// What a person is told before they decide.
fn message(approval: &v1::Approval) -> String {
    let input = match approval.permission_input.as_ref().and_then(|input| input.body.as_ref()) {
        Some(Body::Inline(input)) => String::from_utf8_lossy(input).into_owned(),
        _ => "(not shown)".to_owned(),
    };
    let input = visible::excerpt(&input, SHOWN);
    let why = approval.request.as_ref().and_then(|request| request.reason.as_ref());
    let why = why.map(|reason| reason.message.as_str()).unwrap_or_default();
    let why = if why.is_empty() { String::new() } else { format!("\n{}", visible::text(why)) };
    format!("May `{}` run with {input}?{why}", visible::line(&approval.tool_name))
}

/// The answer that was chosen in the form; nothing where it is none of those that were offered.
pub(crate) async fn chosen(
    upstream: &Upstream,
    approval: &str,
    content: Option<&RawValue>,
) -> Result<Option<v1::ResolveApprovalRequest>, Fault> {
    #[derive(Deserialize)]
    struct Chosen {
        decision: String,
        #[serde(default)]
        feedback: String,
    }
    let content = content.map(RawValue::get).unwrap_or("{}");
    let Ok(chosen) = serde_json::from_str::<Chosen>(content) else { return Ok(None) };
    let request = v1::GetApprovalRequest { approval_id: approval.to_owned(), ..Default::default() };
    let known = upstream.permissions().get_approval(request).await?.into_inner().approval.unwrap_or_default();
    let option = known.options.into_iter().find(|option| option.option_id == chosen.decision);
    Ok(option.map(|option| v1::ResolveApprovalRequest {
        approval_id: approval.to_owned(),
        option: option.kind,
        suggestion_id: option.suggestion_id,
        feedback: chosen.feedback,
        resolved_by: upstream.answers_as(),
        ..Default::default()
    }))
}

/// The answer of a person who declines to decide for it: a no, this once.
pub(crate) fn rejected(upstream: &Upstream, approval: &str) -> v1::ResolveApprovalRequest {
    v1::ResolveApprovalRequest {
        approval_id: approval.to_owned(),
        option: v1::PermissionOption::RejectOnce.into(),
        resolved_by: upstream.answers_as(),
        ..Default::default()
    }
}
