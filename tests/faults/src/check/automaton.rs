//! C3: every change of status is one of the standard's, every log runs 1, 2, 3, ..., and leases are numbered upwards.

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::FinalCall;

/// States that end a call.
const TERMINAL: [&str; 8] =
    ["schema_parse_failed", "validation_failed", "denied", "blocked", "succeeded", "failed", "canceled", "timed_out"];

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    for call in facts.calls.values() {
        if let Some(problem) = problem(call) {
            verdict.red(Check::C3, format!("{}: {problem}", call.name.invocation));
        }
    }
}

fn problem(call: &FinalCall) -> Option<String> {
    let mut status = "";
    let mut at = 0;
    for step in &call.course.steps {
        if step.from != status {
            return Some(format!("a step begins at `{}`, but the call was `{status}`", step.from));
        }
        if !is_legal(status, &step.to) {
            return Some(format!("`{status}` went to `{}`", step.to));
        }
        if step.seq < at || step.seq > call.course.last_seq {
            return Some(format!("the step to `{}` has sequence {} after {at}", step.to, step.seq));
        }
        (status, at) = (&step.to, step.seq);
    }
    if status != call.course.status {
        return Some(format!("its steps lead to `{status}`, its status is `{}`", call.course.status));
    }
    for (event, expected) in call.course.events.iter().zip(1..) {
        if event.seq != expected {
            return Some(format!("its log has {} where {expected} belongs", event.seq));
        }
    }
    if call.course.events.len() as u64 != call.course.last_seq {
        return Some(format!(
            "its log has {} entries, its record says {}",
            call.course.events.len(),
            call.course.last_seq
        ));
    }
    let mut lease = 0;
    for start in call.starts() {
        let lease_no = start.lease_no.unwrap_or_default();
        if lease_no <= lease {
            return Some(format!("a start under lease {lease_no} after one under lease {lease}"));
        }
        lease = lease_no;
    }
    (lease > call.lease_no).then(|| format!("it started under lease {lease}, and had only {}", call.lease_no))
}

/// The standard's state machine, as the semantics contract writes it down.
fn is_legal(from: &str, to: &str) -> bool {
    if TERMINAL.contains(&from) {
        return false;
    }
    // Steps without a wait may be left out at acceptance, and a call may be canceled or run out of time anywhere.
    if from.is_empty() || matches!(to, "canceled" | "timed_out") {
        return true;
    }
    let next: &[&str] = match from {
        "planned" => &[
            "selected",
            "arguments_ready",
            "failed",
            "blocked",
            "denied",
            "awaiting_approval",
            "approved",
            "queued",
            "validation_failed",
            "schema_parse_failed",
        ],
        "selected" => &["arguments_ready", "schema_parse_failed", "validation_failed", "blocked", "failed"],
        "arguments_ready" => {
            &["pre_hooks_running", "awaiting_approval", "approved", "queued", "validation_failed", "denied", "blocked"]
        }
        "pre_hooks_running" => &["awaiting_approval", "approved", "queued", "denied", "blocked", "failed"],
        "awaiting_approval" => &["approved", "denied"],
        "approved" => &["queued", "denied"],
        "queued" => &["running", "awaiting_approval", "denied", "blocked", "failed"],
        "running" => &["partial_result", "needs_input", "post_hooks_running", "queued", "succeeded", "failed"],
        "partial_result" | "needs_input" => &["running", "post_hooks_running", "queued", "succeeded", "failed"],
        "post_hooks_running" => &["succeeded", "failed", "blocked", "queued"],
        _ => return false,
    };
    next.contains(&to)
}
