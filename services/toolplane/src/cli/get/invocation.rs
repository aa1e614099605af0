//! One call for people: its status, what was decided, what changed its input, and its result.

use toolplane_proto::v1;

use super::pages::{self, left_out};
use crate::cli::calls::called_by;
use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::{Output, instant, payload_text, readable};
use crate::cli::result::Beside;
use crate::cli::spelled::{behavior, word};
use crate::cli::{hooks, result};

/// Shows a call; `inputs` with all four inputs rather than the arguments alone.
pub(super) async fn show(
    id: String,
    inputs: bool,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::GetInvocationRequest {
        invocation_id: id,
        view: v1::RecordView::Json.into(),
        include_inputs: inputs,
        ..Default::default()
    };
    let answer = connection.invocations().get_invocation(request).await?.into_inner();
    if out.json() {
        out.payload(answer.json)?;
        return Ok(CommandOutcome::Done);
    }
    let call = answer.invocation.ok_or_else(|| Failure::Answer("the invocation is missing".to_owned()))?;
    print(&call, out)?;
    story(&call, connection, out).await?;
    match inputs {
        true => all_inputs(&call, out)?,
        false => arguments(answer.json.as_ref(), out)?,
    }
    if let Some(outcome) = &answer.result {
        out.gap()?;
        result::show(outcome, Beside::OwnLines, connection, out).await?;
    }
    Ok(CommandOutcome::Done)
}

fn print(call: &v1::Invocation, out: &mut Output) -> Result<(), Failure> {
    out.line(format!("{}  {}", call.invocation_id, call.status))?;
    out.line(format!("  tool      {} ({})", call.tool_name, call.tool_id))?;
    let moment = call.surface_moment.iter().map(|moment| format!("  as of moment {moment}")).collect::<String>();
    out.line(format!("  surface   {}{moment}", call.surface_id))?;
    let caller = called_by(call);
    let credential = call.caller_ref.as_deref().filter(|credential| !caller.starts_with(credential));
    if !caller.is_empty() {
        let by = credential.map(|credential| format!(", by {credential}")).unwrap_or_default();
        out.line(format!("  caller    {caller}{by}"))?;
    }
    if let Some(mode) = &call.permission_mode {
        out.line(format!("  mode      {mode}"))?;
    }
    out.line(format!("  attempts  {}", call.attempt))?;
    if let Some(lease) = &call.lease {
        out.line(format!("  worker    {} (fence {})", lease.worker_id, lease.fence))?;
    }
    if !call.approval_request_ref.is_empty() {
        out.line(format!("  approval  {}", call.approval_request_ref))?;
    }
    for approval in asked_of_result(call) {
        out.line(format!("  result    asked about in {approval}"))?;
    }
    for trace in &call.telemetry_refs {
        out.line(format!("  trace     {} {}", trace.trace_id, trace.span_id))?;
    }
    for step in &call.status_transitions {
        out.line(format!("  {}  {:<20} {}", instant(step.at.as_ref()), step.to, step.cause))?;
    }
    Ok(())
}

/// What was decided, what hooks did, and what changed the input.
async fn story(call: &v1::Invocation, connection: &Connection, out: &mut Output) -> Result<(), Failure> {
    let id = &call.invocation_id;
    let found = pages::decisions(id.clone(), v1::RecordView::Basic, connection).await?;
    for decision in &found.decisions {
        out.line(format!("  decision  {}", described(decision)))?;
    }
    left_out("decisions", found.left_out, out)?;
    for change in pages::mutations(id.clone(), v1::RecordView::Basic, connection).await?.mutations {
        let source = word(change.source_type().as_str_name(), "MUTATION_SOURCE_");
        let fields = change.changed_fields.join(", ");
        out.line(format!("  change    {source} {}  {fields}  {}", change.source_ref, change.reason))?;
    }
    if !call.hook_refs.is_empty() {
        out.line("  hooks")?;
        let found = pages::hooks(id.clone(), connection).await?;
        hooks::table(&found.hooks, out)?;
        left_out("hook runs", found.left_out, out)?;
    }
    Ok(())
}

/// The questions whether results of the call are given out as they are.
pub(crate) fn asked_of_result(call: &v1::Invocation) -> impl Iterator<Item = &str> {
    call.evidence_refs.iter().filter_map(|said| said.strip_prefix("ask:question:"))
}

/// A decision in one line: what, by whom, why.
pub(crate) fn described(decision: &v1::PermissionDecision) -> String {
    let reason = decision.reason.clone().unwrap_or_default();
    let by = reason.rule_ref.as_deref().or(decision.source.as_deref()).unwrap_or(&reason.r#type);
    format!("{}  {} by {by}: {}", decision.decision_id, behavior(decision.behavior()), reason.message)
}

/// The arguments as every caller may see them: what is sensitive is shown by `--inputs` alone.
fn arguments(record: Option<&v1::JsonPayload>, out: &mut Output) -> Result<(), Failure> {
    #[derive(serde::Deserialize)]
    struct Shown {
        observable_input: Option<Box<serde_json::value::RawValue>>,
        model_input: Option<Box<serde_json::value::RawValue>>,
    }
    let shown = payload_text(record).and_then(|text| serde_json::from_str::<Shown>(&text).ok());
    match shown.and_then(|shown| shown.observable_input.or(shown.model_input)) {
        Some(input) => {
            out.line("  arguments:")?;
            out.block(&readable(input.get()))
        }
        None => out.line("  arguments: not shown; `--inputs` asks for them"),
    }
}

/// What the model said, what others see of it, what rules look at, and what the tool gets.
fn all_inputs(call: &v1::Invocation, out: &mut Output) -> Result<(), Failure> {
    let inputs = [
        ("model_input", &call.model_input, &call.model_input_ref),
        ("observable_input", &call.observable_input, &call.observable_input_ref),
        ("permission_input", &call.permission_input, &call.permission_input_ref),
        ("call_input", &call.call_input, &call.call_input_ref),
    ];
    for (name, value, kept) in inputs {
        let Some(kept) = kept else { continue };
        out.line(format!("  {name}  {}", kept.digest))?;
        match payload_text(value.as_ref()) {
            Some(text) => out.block(&readable(&text))?,
            None => out.line("(not shown to this caller)")?,
        }
    }
    Ok(())
}
