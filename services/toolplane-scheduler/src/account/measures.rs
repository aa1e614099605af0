//! Numbers of a change.

use std::time::Duration;

use serde::Deserialize;
use toolplane_lifecycle::Effect;
use toolplane_metrics::{names, table};
use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::invocation::{Invocation, StatusTransition};
use toolplane_records::result::{Cleaned, ToolResult};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status};

use super::tool_name;
use crate::calls::{CachedCall, Update};

/// Why a call is back in its queue, in words of the lifecycle. A worker that gives a call back says why in its own words.
const REASONS: [&str; 6] =
    [WORKER_GONE, LEASE_EXPIRED, "timeout", "outcome_unknown", "dependency_unavailable", "rate_limited"];
const GIVEN_BACK: &str = "given_back";
const WORKER_GONE: &str = "worker_gone";
const LEASE_EXPIRED: &str = "lease_expired";

/// The trace that shows a measured value: `(trace id, span id, when)`.
type ShownBy = Option<(u128, u64, i64)>;

pub(super) fn begin() {
    table::LEASE_LOSSES.begin([WORKER_GONE]);
    table::LEASE_LOSSES.begin([LEASE_EXPIRED]);
}

/// Everything but the end of a call. `first_seq` is the first entry of its log that is new.
pub(super) fn change(call: &CachedCall, first_seq: u64, effects: &[Effect], update: &Update) {
    let record = &*call.record;
    let tool = names::TOOLS.name(tool_name(record));
    if first_seq == 1 {
        table::CALLS_ACCEPTED.add([tool], 1);
    }
    let steps = &record.status_transitions;
    for new in steps.iter().position(|step| step.seq >= first_seq).unwrap_or(steps.len())..steps.len() {
        step(call, tool, &steps[..new], &steps[new], update);
    }
    update.events.iter().for_each(|event| entry(tool, event));
    for effect in effects {
        if let Effect::Quarantine { .. } = effect {
            table::QUARANTINES.add([tool], 1);
        }
    }
}

/// One new status after those `before` it.
fn step(call: &CachedCall, tool: &'static str, before: &[StatusTransition], step: &StatusTransition, update: &Update) {
    match step.to {
        // A call also runs again when its question was answered.
        Status::Running if step.cause == "execute" => {
            let queued = before.iter().rev().find(|earlier| earlier.to == Status::Queued);
            if let Some(queued) = queued {
                let waited = between(queued.at, step.at);
                table::CALL_QUEUE_WAIT.record_with([tool], waited, shown_by(call, step.at));
            }
            if step.attempt > 1 {
                table::CALL_RETRIES.add([tool], 1);
            }
        }
        to => {
            if let Some(asked) = before.last().filter(|earlier| earlier.to == Status::AwaitingApproval) {
                let waited = between(asked.at, step.at);
                table::CALL_APPROVAL_WAIT.record_with([tool, answer(to, update)], waited, shown_by(call, step.at));
            }
        }
    }
    if step.to.is_terminal() {
        let canceled = code_of(update) == codes::CANCEL_WORKER_LOST.as_str();
        lost(if canceled { WORKER_GONE } else { &step.cause });
    }
}

/// One new entry of the log.
fn entry(tool: &'static str, event: &LogEvent) {
    match event.class {
        EventClass::ExtRequeued => {
            let reason = read::<Requeued>(event).map(|told| told.reason).unwrap_or_default();
            let reason = REASONS.into_iter().find(|known| *known == reason).unwrap_or(GIVEN_BACK);
            table::CALLS_REQUEUED.add([tool, reason], 1);
            lost(reason);
        }
        EventClass::ExtLateReport => table::LATE_REPORTS.add([tool], 1),
        EventClass::ResultRedacted => {
            for found in read::<Redacted>(event).map(|told| told.cleaned).unwrap_or_default() {
                let (class, treatment) = (names::WORDS.name(&found.class), names::WORDS.name(&found.treatment));
                table::REDACTIONS.add([tool, class, treatment], found.places);
            }
        }
        _ => {}
    }
}

fn lost(reason: &str) {
    if let Some(reason) = [WORKER_GONE, LEASE_EXPIRED].into_iter().find(|known| *known == reason) {
        table::LEASE_LOSSES.add([reason], 1);
    }
}

/// The end of a call.
pub(super) fn end(call: &CachedCall, result: &ToolResult) {
    let record = &*call.record;
    let (tool, status) = (names::TOOLS.name(tool_name(record)), record.status.as_str());
    let error = result.error.as_ref().map_or("", |error| error.error_class.as_str());
    table::CALLS_ENDED.add([tool, status, error], 1);
    let Some(ended) = record.ended_at else { return };
    let shown = shown_by(call, ended);
    table::CALL_DURATION.record_with([tool, status], between(record.created_at, ended), shown);
    if let Some(took) = execution_of(record) {
        table::CALL_EXECUTION.record_with([tool, status], took, shown);
    }
}

/// How long the last execution took, without the time in which it waited for a person.
pub(super) fn execution_of(record: &Invocation) -> Option<Duration> {
    let (started, ended) = record.started_at.zip(record.ended_at).filter(|_| record.attempt > 0)?;
    Some(between(started, ended).saturating_sub(Duration::from_millis(record.clock_paused_ms)))
}

pub(super) fn decision(decision: &PermissionDecision) {
    let source = decision.source.as_deref().map_or("", |source| names::WORDS.name(source));
    let reused = if decision.reused_from.is_some() { "true" } else { "false" };
    table::DECISIONS.add([decision.behavior.as_str(), source, reused], 1);
}

/// How a question about a call was answered that is in the status `to` since.
fn answer(to: Status, update: &Update) -> &'static str {
    match to {
        Status::Denied if code_of(update) == codes::APPROVAL_EXPIRED.as_str() => "expired",
        Status::Denied => "rejected",
        to => to.as_str(),
    }
}

fn code_of(update: &Update) -> &str {
    let error = update.terminal.as_ref().and_then(|terminal| terminal.result.error.as_ref());
    error.map_or("", |error| &error.error_code)
}

pub(super) fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(later.since_millis(earlier)).unwrap_or_default())
}

/// The trace of the call, where it is recorded.
fn shown_by(call: &CachedCall, at: Timestamp) -> ShownBy {
    call.traceparent.as_ref().filter(|position| position.ends_with("-01"))?;
    let position = call.record.telemetry_refs.first()?;
    let trace_id = u128::from_str_radix(&position.trace_id, 16).ok()?;
    Some((trace_id, u64::from_str_radix(&position.span_id, 16).ok()?, at.as_millis()))
}

/// What an entry says of a call that is back in its queue.
#[derive(Deserialize)]
struct Requeued {
    reason: String,
}

/// What an entry says of a result that was cleaned.
#[derive(Deserialize)]
struct Redacted {
    #[serde(default)]
    cleaned: Vec<Cleaned>,
}

fn read<T: for<'data> Deserialize<'data>>(event: &LogEvent) -> Option<T> {
    event.data.as_ref()?.parse().ok()
}
