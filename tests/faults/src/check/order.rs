//! C7: progress comes before the end, and the results of an ordered batch are handed out as declared.

use std::collections::BTreeSet;

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::FinalBatch;

/// What only happens to a call that has not ended.
const RUNNING: [&str; 4] =
    ["tool.invocation.queued", "tool.invocation.started", "tool.invocation.progress", "ext.invocation.requeued"];

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    for call in facts.calls.values() {
        let mut after_end = call.course.events.iter().skip_while(|event| event.class != "tool.result.created").skip(1);
        if let Some(late) = after_end.find(|event| RUNNING.contains(&event.class.as_str())) {
            verdict.red(Check::C7, format!("{}: `{}` after its result", call.name.invocation, late.class));
        }
    }
    for batch in &facts.batches {
        if let Some(problem) = problem(batch) {
            verdict.red(Check::C7, format!("batch {}: {problem}", batch.batch));
        }
        siblings(facts, batch, verdict);
    }
}

fn problem(batch: &FinalBatch) -> Option<String> {
    let mut seen = BTreeSet::new();
    for (index, member) in batch.members.iter().enumerate() {
        match member.yield_seq {
            None => return Some(format!("member {index} was never handed out")),
            Some(place) if !seen.insert(place) => return Some(format!("two members have place {place}")),
            Some(place) if batch.ordered && place != index as u64 + 1 => {
                return Some(format!("member {index} was handed out as number {place}"));
            }
            Some(_) => {}
        }
    }
    None
}

/// A call that was ended for its sibling's sake did nothing, and there is such a sibling.
fn siblings(facts: &Facts<'_>, batch: &FinalBatch, verdict: &mut Verdict) {
    let calls: Vec<_> = batch.members.iter().filter_map(|member| facts.calls.get(member.invocation.as_str())).collect();
    let failed = calls.iter().any(|call| matches!(call.course.status.as_str(), "failed" | "timed_out"));
    for call in calls {
        let synthetic = call.result.as_ref().is_some_and(|result| result.error_class == "sibling_canceled");
        if synthetic && !(batch.cancels_siblings && failed) {
            verdict.red(Check::C7, format!("{} was ended for a sibling that did not fail", call.name.invocation));
        }
        let ran = facts.effects.contains_key(call.name.invocation.as_str());
        if synthetic && ran && call.starts().next().is_none() {
            verdict.red(Check::C7, format!("{} is said not to have been executed, and was", call.name.invocation));
        }
    }
}
