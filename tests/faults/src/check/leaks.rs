//! C11: when every call has ended, no lease, permit, timer, queue entry or ticket is left.

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::Record;

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    for record in facts.records() {
        if let Record::Left { index, members } = record
            && *members > 0
        {
            verdict.leaks += members;
            verdict.red(Check::C11, format!("`{index}` still has {members} members"));
        }
    }
    for call in facts.calls.values().filter(|call| call.leased && call.is_terminal()) {
        verdict.leaks += 1;
        verdict.red(Check::C11, format!("{} has ended and holds a lease", call.name.invocation));
    }
}
