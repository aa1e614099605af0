//! C4: a call that must not run twice starts once at most; a success happened; an outcome is unknown only with a
//! reason.

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::{Edge, FinalCall, FinalEvent, Plan};

/// How far clocks of a ledger and of a log may lie apart, and how long a dying process may take.
const SLACK_MS: u64 = 250;

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    for call in facts.calls.values() {
        if let Some(plan) = facts.plan(call).filter(|plan| plan.ledger) {
            effects(facts, call, plan, verdict);
        }
        if call.outcome_unknown() {
            explain(facts, call, verdict);
        }
        recovery(facts, call, verdict);
    }
    verdict.recoveries_ms.sort_unstable();
}

fn effects(facts: &Facts<'_>, call: &FinalCall, plan: &Plan, verdict: &mut Verdict) {
    let lines = facts.effects.get(call.name.invocation.as_str()).map_or(&[][..], Vec::as_slice);
    let starts = lines.iter().filter(|line| line.edge == Edge::Start).count();
    let ends = lines.iter().filter(|line| line.edge == Edge::End).count();
    let id = &call.name.invocation;
    if !plan.idempotent {
        if starts > 1 || call.starts().count() > 1 {
            verdict.double_start += 1;
            verdict.red(Check::C4, format!("{id} must not run twice and started {starts} times"));
        }
        if call.course.status == "succeeded" && ends != 1 {
            verdict.red(Check::C4, format!("{id} succeeded, and its effect was completed {ends} times"));
        }
    }
    if call.course.status != "succeeded" {
        return;
    }
    if ends == 0 {
        verdict.red(Check::C4, format!("{id} succeeded without an effect"));
    }
    let Some(report) = call.result.as_ref().and_then(|result| result.report.as_ref()) else {
        return verdict.red(Check::C4, format!("{id} succeeded without the report of an execution"));
    };
    if !lines.iter().any(|line| line.edge == Edge::End && line.fence == report.fence) {
        verdict.red(Check::C4, format!("{id} succeeded under fence {}, which completed nothing", report.fence));
    }
}

/// An unknown outcome is an answer only where something was broken at the worker that ran the call.
fn explain(facts: &Facts<'_>, call: &FinalCall, verdict: &mut Verdict) {
    if facts.plan(call).is_some_and(|plan| plan.idempotent) {
        verdict.unknown_unexpected += 1;
        return verdict.red(Check::C4, format!("{} may run twice and ended as unknown", call.name.invocation));
    }
    let ended = call.ended_ms.unwrap_or(u64::MAX).saturating_add(SLACK_MS);
    // A worker that holds a lock alone and cannot renew its lease has to kill the execution.
    let alone = facts.plan(call).is_some_and(|plan| plan.locks.iter().any(|(_, exclusive)| *exclusive));
    let explained = call.starts().last().is_some_and(|start| {
        broken_after(facts, start, ended) || alone && facts.faults.nobody_renewed(start.at_ms, ended)
    });
    if explained {
        verdict.unknown_expected += 1;
    } else {
        verdict.unknown_unexpected += 1;
        verdict.red(Check::C4, format!("{} ended as unknown, and its worker was well", call.name.invocation));
    }
}

fn broken_after(facts: &Facts<'_>, start: &FinalEvent, until_ms: u64) -> bool {
    let from = start.at_ms.saturating_sub(SLACK_MS);
    start.worker.as_deref().is_some_and(|worker| facts.faults.broken(worker, from, until_ms))
}

/// How long a call that a fault hit at its worker took to go on.
fn recovery(facts: &Facts<'_>, call: &FinalCall, verdict: &mut Verdict) {
    for (place, start) in
        call.course.events.iter().enumerate().filter(|(_, event)| event.class == "tool.invocation.started")
    {
        let (Some(worker), Some(next)) = (&start.worker, call.course.events.get(place + 1)) else { continue };
        if let Some(begun_ms) = facts.faults.first_begun(worker, start.at_ms, next.at_ms) {
            verdict.recoveries_ms.push(next.at_ms - begun_ms);
        }
    }
}
