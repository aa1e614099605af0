//! What is said under each heading of a story; pure. Every line may hold texts of others: it is printed as one line.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_proto::v1;
use toolplane_records::visible::excerpt;

use crate::cli::advised;
use crate::cli::calls::called_by;
use crate::cli::get::invocation::described;
use crate::cli::hooks;
use crate::cli::kept::KeptOutputs;
use crate::cli::output::{bytes, instant, payload_text};
use crate::cli::spelled::word;

/// Most characters of what was said and given.
const EXCERPT: usize = 160;

/// Who called, from where, in which mode, and what others call it.
pub(super) fn who(call: &v1::Invocation) -> Vec<String> {
    let given = |name: &str, value: &str| (!value.is_empty()).then(|| format!("{name} {value}"));
    let caller = called_by(call);
    let by = call.caller_ref.as_deref().filter(|credential| !caller.starts_with(credential)).unwrap_or_default();
    let caller = [given("caller", if caller.is_empty() { "nobody said" } else { &caller }), given("by", by)];
    let place = [
        given("tenant", &call.tenant),
        given("session", call.session_ref.as_deref().unwrap_or_default()),
        given("surface", &call.surface_id),
        given("moment", call.surface_moment.as_deref().unwrap_or_default()),
        given("mode", call.permission_mode.as_deref().unwrap_or_default()),
    ];
    let trace = call.telemetry_refs.iter().map(|trace| format!("trace {}", trace.trace_id)).next();
    let native = call.native_ids.as_ref().map(named).filter(|ids| !ids.is_empty());
    let provider = call.native_call_id.as_deref().and_then(|id| given("native_call_id", id));
    let lines = [joined(caller), joined(place), native, joined([provider, trace])];
    lines.into_iter().flatten().filter(|line| !line.is_empty()).collect()
}

/// Parts of a line that are there.
fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("  "))
}

/// Native ids as one line.
fn named(ids: &v1::NativeIds) -> String {
    let ids = toolplane_records::evidence::NativeIds::from(ids.clone());
    let given = ids.named().into_iter().filter(|(_, id)| !id.is_empty());
    given.map(|(name, id)| format!("{name} {id}")).collect::<Vec<_>>().join("  ")
}

/// The arguments, as every caller may see them, and the digest of what the model said.
pub(super) fn said(call: &v1::Invocation, record: Option<&v1::JsonPayload>) -> Vec<String> {
    #[derive(Deserialize)]
    struct Shown {
        observable_input: Option<Box<RawValue>>,
        model_input: Option<Box<RawValue>>,
    }
    let shown = payload_text(record).and_then(|text| serde_json::from_str::<Shown>(&text).ok());
    let input = shown.and_then(|shown| shown.observable_input.or(shown.model_input));
    let kept = call.model_input_ref.as_ref().map(|kept| format!("{}  {}", kept.digest, bytes(kept.size_bytes)));
    let input = input.map(|input| excerpt(input.get(), EXCERPT));
    // Of arguments that no tool took, nobody knows which fields are sensitive: they are not shown unasked.
    let get = || advised::command(format_args!("get {} --inputs", call.invocation_id));
    let unseen = || format!("(not shown here; `{}` asks for it)", get());
    input.or_else(|| kept.as_ref().map(|_| unseen())).into_iter().chain(kept).collect()
}

/// What changed the input on its way.
pub(super) fn changed(trail: &v1::InvocationTrail) -> Vec<String> {
    let line = |change: &v1::InputMutation| {
        let source = word(change.source_type().as_str_name(), "MUTATION_SOURCE_");
        format!("{source} {}  {}  {}", change.source_ref, change.changed_fields.join(", "), change.reason)
    };
    trail.mutations.iter().map(line).collect()
}

/// What was decided, by whom and why; with what people answered.
pub(super) fn decided(trail: &v1::InvocationTrail, approvals: &[v1::Approval]) -> Vec<String> {
    let mut lines: Vec<String> = trail.decisions.iter().map(described).collect();
    for asked in approvals {
        let state = word(asked.state().as_str_name(), "APPROVAL_STATE_");
        let by = if asked.resolved_by.is_empty() { String::new() } else { format!(" by {}", asked.resolved_by) };
        let when = asked.resolved_at.as_ref().or(asked.created_at.as_ref());
        let word = if asked.feedback.is_empty() { String::new() } else { format!(": {}", asked.feedback) };
        lines.push(format!("{}  {state}{by}  {}{word}", asked.approval_id, instant(when)));
    }
    lines
}

/// What hooks did.
pub(super) fn hooks(trail: &v1::InvocationTrail) -> Vec<String> {
    let line = |hook: &v1::ToolHook| {
        let at = word(hook.hook_event().as_str_name(), "HOOK_EVENT_");
        format!("{}  {at}  {}  {}", hook.hook_id, hooks::took(hook), hooks::did(hook).join("; "))
    };
    trail.hooks.iter().map(line).collect()
}

/// Where it ran: each execution that ended with a report, and workers that were lost.
pub(super) fn ran(call: &v1::Invocation, trail: &v1::InvocationTrail) -> Vec<String> {
    let mut lines = Vec::new();
    for execution in &trail.executions {
        let site = execution.site.clone().unwrap_or_default();
        let given = |name: &str, value: &str| (!value.is_empty()).then(|| format!("{name} {value}"));
        lines.extend(joined([
            Some(format!("attempt {}", execution.attempt)),
            given("on", &site.worker_id),
            given("version", &site.worker_version),
            given("image", &site.image),
            Some(execution.status.clone()),
        ]));
        if let Some(tool) = &execution.tool {
            lines.push(format!("{}  {}  {}", tool.execution_kind, tool.declaration_digest, sandbox(tool, &site)));
        }
        lines.extend(execution.native_ids.as_ref().map(named).filter(|ids| !ids.is_empty()));
        lines.extend(payload_text(execution.detail.as_ref()).map(|detail| excerpt(&detail, EXCERPT)));
        if !execution.detail_left_out.is_empty() {
            lines.push(format!("what its worker says of it is not kept: {}", execution.detail_left_out));
        }
    }
    if let Some(lease) = &call.lease {
        lines.push(format!("now on {} (fence {})", lease.worker_id, lease.fence));
    }
    lines.extend(call.lost_workers.iter().map(|worker| format!("{worker} was lost with it")));
    lines
}

fn sandbox(tool: &v1::ExecutedTool, site: &v1::ExecutionSite) -> String {
    let probed = site.sandbox.clone().unwrap_or_default();
    let missing = match probed.missing.as_slice() {
        [] => String::new(),
        missing => format!(" without {}", missing.join(", ")),
    };
    match (tool.sandboxed, probed.backend.as_str()) {
        (false, _) => "not in a sandbox".to_owned(),
        (true, "") => "in a sandbox its worker does not describe".to_owned(),
        (true, backend) => format!("in {backend}, {} layers hold{missing}", probed.held.len()),
    }
}

/// What came of it.
pub(super) fn did(result: Option<&v1::ToolResult>) -> Vec<String> {
    let Some(result) = result else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(error) = &result.error {
        lines.push(format!("{}  {}", error.error_code, error.message));
        lines.extend(error.side_effects.as_ref().map(|known| format!("side effects: {known}")));
        lines.extend(error.field_violations.iter().map(|wrong| format!("{}: {}", wrong.field, wrong.description)));
        lines.extend(error.evidence_refs.iter().cloned());
    }
    let summary = if result.summary.is_empty() { &result.ui_facing_summary } else { &result.summary };
    if result.error.is_none() && !summary.is_empty() {
        lines.push(excerpt(summary, EXCERPT));
    }
    let kinds = result.content.len();
    let structured = result.structured_content.as_ref().map(|_| " and structured content").unwrap_or_default();
    lines.push(format!("{}  {kinds} blocks{structured}", result.status));
    lines.extend(result.artifact_refs.iter().map(|made| format!("artifact {}  {}", made.artifact_id, made.uri)));
    lines
}

/// How outputs are kept.
pub(super) fn kept(trail: &v1::InvocationTrail, outputs: &KeptOutputs) -> Vec<String> {
    let line = |kept: &v1::ResultPersistence| {
        let strategy = word(kept.strategy().as_str_name(), "PERSISTENCE_STRATEGY_");
        let place = |at: &v1::PayloadRef| {
            let until = outputs.until(at).map(|until| format!("  {until}")).unwrap_or_default();
            format!("  {}  {}{until}", at.uri, at.digest)
        };
        let place = kept.persisted_ref.as_ref().map(place).unwrap_or_default();
        format!("{strategy}  {}  {}{place}", bytes(kept.original_size_bytes), kept.reason)
    };
    trail.persistence.iter().map(line).collect()
}

/// Until when it is kept, by class, and what says so.
pub(super) fn stays(trail: &v1::InvocationTrail) -> Vec<String> {
    let line = |stay: &v1::KeptUntil| {
        let what = if stay.class == "calls" { "the call" } else { &stay.class };
        match (&stay.removed_at, stay.held.as_str()) {
            (Some(at), _) => format!("{what} removed at {}  ({})", instant(Some(at)), stay.rule),
            (None, "") => format!("{what} until {}  ({})", instant(stay.until.as_ref()), stay.rule),
            (None, held) => format!("{what} as long as the hold is on it: {held}"),
        }
    };
    trail.kept_until.iter().map(line).collect()
}

/// What was taken out of inputs and outputs.
pub(super) fn masked(
    call: &v1::Invocation,
    result: Option<&v1::ToolResult>,
    trail: &v1::InvocationTrail,
) -> Vec<String> {
    let digest = |kept: &Option<v1::PayloadRef>| kept.as_ref().map(|kept| kept.digest.clone());
    let differs =
        call.observable_input_ref.is_some() && digest(&call.observable_input_ref) != digest(&call.model_input_ref);
    let input =
        differs.then(|| "input: hooks, people and this screen see another text than the model wrote".to_owned());
    let found = result.into_iter().flat_map(|result| &result.evidence_refs).filter_map(|found| {
        let mut parts = found.strip_prefix("cleaning:")?.splitn(3, ':');
        let (treatment, rule, places) = (parts.next()?, parts.next()?, parts.next()?);
        Some(format!("output: {rule} in {places} places ({treatment})"))
    });
    let state = result.map(|result| word(result.redaction_state().as_str_name(), "REDACTION_STATE_"));
    let state = state.filter(|state| state == "redacted" && !trail.hooks.is_empty());
    let state = state.map(|_| "output: something was taken out or replaced, see hooks".to_owned());
    input.into_iter().chain(found).chain(state).collect()
}

/// What this story does not have.
pub(super) fn left_out(call: &v1::Invocation, trail: &v1::InvocationTrail) -> Vec<String> {
    let counted = [("decisions", call.decisions_left_out), ("hook runs", call.hooks_left_out)];
    let counted = counted.into_iter().filter(|(_, count)| *count > 0);
    let counted =
        counted.map(|(what, count)| format!("{count} {what} between the first and the newest; the log names them"));
    let late =
        (call.late_reports > 0).then(|| format!("{} reports came too late; the log has them", call.late_reports));
    let cut = trail.cut.iter().map(|list| format!("{list}: not all of them fit the answer"));
    counted.chain(late).chain(cut).collect()
}
