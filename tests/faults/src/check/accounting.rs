//! C1: what was accepted is there with exactly one end; an unanswered submission made one call or none; nothing else exists.

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::Answer;

/// The event that makes a result.
const RESULT: &str = "tool.result.created";

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    each_key_is_one_call(facts, verdict);
    for invocation in &facts.missing {
        verdict.lost += 1;
        verdict.red(Check::C1, format!("lost: {invocation} was accepted and is not there"));
    }
    for call in facts.calls.values() {
        let results = call.course.events.iter().filter(|event| event.class == RESULT).count();
        *verdict.ends.entry(how(&call.course.status, call.error_code())).or_default() += 1;
        if !call.is_terminal() || call.result.is_none() {
            verdict.lost += 1;
            verdict.red(Check::C1, format!("lost: {} is {} and has no end", call.name.invocation, call.course.status));
        } else if results != 1 {
            verdict.double_terminal += u64::from(results > 1);
            verdict.red(Check::C1, format!("{} has {results} results in its log", call.name.invocation));
        }
        if facts.plan(call).is_none() {
            verdict.red(
                Check::C1,
                format!("{} exists, and nobody asked for it (key `{}`)", call.name.invocation, call.name.key),
            );
        }
    }
}

fn each_key_is_one_call(facts: &Facts<'_>, verdict: &mut Verdict) {
    for key in facts.plans.keys() {
        let accepted = facts.accepted(key);
        verdict.invocations += u64::from(!accepted.is_empty());
        let there = facts.by_key.get(key).map_or(&[][..], Vec::as_slice);
        let asked = facts.answers.get(key).map_or(&[][..], Vec::as_slice);
        if accepted.len() > 1 || there.len() > 1 {
            verdict.red(Check::C1, format!("one key, several calls: `{key}` is {accepted:?}, and {there:?} exist"));
        }
        let fresh = asked.iter().filter(|answer| matches!(answer, Answer::Accepted { duplicate: false, .. })).count();
        if fresh > 1 {
            verdict.red(Check::C1, format!("`{key}` was accepted as new {fresh} times"));
        }
        for invocation in accepted {
            if !facts.calls.contains_key(invocation) && !facts.missing.contains(invocation) {
                verdict.lost += 1;
                verdict.red(Check::C1, format!("lost: {invocation} was accepted and was not found at the end"));
            }
        }
    }
}

fn how(status: &str, error_code: &str) -> String {
    if error_code.is_empty() { status.to_owned() } else { format!("{status} {error_code}") }
}
