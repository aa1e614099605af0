//! One line of the log for each call that ended and each decision, by the logging contract. The targets are `toolplane::calls` and
//! `toolplane::decisions`, so `log.filter` can leave them out (`info,toolplane::calls=off`).
//!
//! No argument, no output and no message is in them: names, ids, words and numbers.

use toolplane_records::decision::PermissionDecision;
use toolplane_records::invocation::Invocation;
use toolplane_records::provider::provider_of;
use toolplane_records::result::ToolResult;

use super::measures::{between, execution_of};
use super::tool_name;

/// How callers say which round of their loop a call belongs to, among its runtime refs: `iteration:3`.
const ITERATION: &str = "iteration:";
/// How evidence begins that tells of something that was cleaned.
const CLEANED: &str = "cleaning:";

/// A call has ended with this result.
pub(super) fn ended(record: &Invocation, result: &ToolResult) {
    if !tracing::enabled!(target: "toolplane::calls", tracing::Level::INFO) {
        return;
    }
    let names = Names::of(record);
    let duration_ms = record.ended_at.map(|ended| millis(between(record.created_at, ended)));
    let error = result.error.as_ref();
    tracing::info!(
        target: "toolplane::calls",
        event = "agent_tool_done",
        tenant = record.tenant.as_str(),
        session_id = names.session_id,
        request_id = names.request_id,
        iteration = names.iteration,
        invocation_id = record.invocation_id.as_str(),
        tool = names.tool,
        status = if result.is_error { "error" } else { "completed" },
        ended_as = record.status.as_str(),
        duration_ms,
        execution_ms = execution_of(record).map(millis),
        attempt = record.attempt,
        error_class = error.map(|error| error.error_class.as_str()),
        error_code = error.map(|error| error.error_code.as_str()),
        warnings_count = result.evidence_refs.iter().filter(|evidence| evidence.starts_with(CLEANED)).count(),
        provider = provider_of(&record.tool_id).map(|(provider, _)| provider),
        // Every result is one of an execution of its call.
        cache_hit = false,
        trace_id = names.trace_id,
    );
}

/// A decision about a call is stored.
pub(super) fn decided(record: &Invocation, decision: &PermissionDecision) {
    if !tracing::enabled!(target: "toolplane::decisions", tracing::Level::INFO) {
        return;
    }
    let names = Names::of(record);
    let reason = decision.reason.as_ref();
    tracing::info!(
        target: "toolplane::decisions",
        event = "agent_tool_decided",
        tenant = record.tenant.as_str(),
        session_id = names.session_id,
        request_id = names.request_id,
        iteration = names.iteration,
        invocation_id = record.invocation_id.as_str(),
        decision_id = decision.decision_id.as_str(),
        tool = names.tool,
        status = decision.behavior.as_str(),
        source = decision.source.as_deref(),
        reason_type = reason.map(|reason| reason.reason_type.as_str()),
        approval_id = decision.approval_request_ref.as_ref().map(|approval| approval.as_str()),
        cache_hit = decision.reused_from.is_some(),
        trace_id = names.trace_id,
    );
}

/// What every line about a call names it by: exactly, so that no two names look alike. The log spells out what would act in a line.
struct Names<'a> {
    tool: &'a str,
    session_id: Option<&'a str>,
    request_id: Option<&'a str>,
    iteration: Option<u64>,
    trace_id: Option<&'a str>,
}

impl<'a> Names<'a> {
    fn of(record: &'a Invocation) -> Self {
        let iteration = record.runtime_refs.iter().find_map(|known| known.strip_prefix(ITERATION)?.parse().ok());
        Self {
            tool: tool_name(record),
            session_id: record.session_ref.as_deref(),
            request_id: record.native_call_id.as_deref(),
            iteration,
            trace_id: record.telemetry_refs.first().map(|position| position.trace_id.as_str()),
        }
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
