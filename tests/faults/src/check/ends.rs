//! C2: all callers that were told the end of a call were told the same; C14: what results refer to is there.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::Record;

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    let mut digests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for record in facts.records() {
        match record {
            Record::Observed { invocation, digest, .. } => {
                digests.entry(invocation).or_default().insert(digest);
            }
            Record::Object { invocation, problem: Some(problem) } => {
                verdict.red(Check::C14, format!("{invocation} refers to something that is not there: {problem}"));
            }
            _ => {}
        }
    }
    for call in facts.calls.values() {
        if let Some(result) = &call.result {
            digests.entry(&call.name.invocation).or_default().insert(&result.digest);
        }
    }
    for (invocation, told) in digests {
        if told.len() > 1 {
            verdict.double_terminal += 1;
            verdict.red(Check::C2, format!("{invocation} was told to have {} different ends", told.len()));
        }
    }
}
