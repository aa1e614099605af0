//! C5: what comes under an old lease is not taken, neither by the cluster nor by a resource that looks at fences.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::{AccessStep, Record};

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    for call in facts.calls.values() {
        let Some(report) = call.result.as_ref().and_then(|result| result.report.as_ref()) else { continue };
        // A tool that is not told its lease says 0.
        if report.lease_no != 0 && report.lease_no != call.lease_no {
            verdict.stale_accepted += 1;
            let text = format!("{}: the report of lease {} was taken", call.name.invocation, report.lease_no);
            verdict.red(Check::C5, format!("{text}, lease {} was the last", call.lease_no));
        }
    }
    let mut newest: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for record in facts.records() {
        let Record::Register(access) = record else { continue };
        // Going out is always allowed, and changes nothing.
        let changes = matches!(access.step, AccessStep::Enter | AccessStep::Write);
        if !access.accepted || !access.exclusive || !changes {
            continue;
        }
        let before = newest.entry(&access.key).or_default();
        let fence = (access.grant, access.fence);
        if fence < *before {
            verdict.stale_accepted += 1;
            let text = format!("`{}` took fence {fence:?} after {before:?}", access.key);
            verdict.red(Check::C5, format!("{text} (of {})", access.invocation));
        }
        *before = (*before).max(fence);
    }
    fences_are_of_one_lease(facts, verdict);
}

/// No two leases share a fence, and a later lease of a call has a higher one.
fn fences_are_of_one_lease(facts: &Facts<'_>, verdict: &mut Verdict) {
    let mut owner: BTreeMap<u64, (&str, u32)> = BTreeMap::new();
    for (invocation, lines) in &facts.effects {
        let mut leases: BTreeMap<u32, u64> = BTreeMap::new();
        for line in lines.iter().filter(|line| line.lease_no != 0) {
            leases.insert(line.lease_no, line.fence);
            let holder = *owner.entry(line.fence).or_insert((invocation, line.lease_no));
            if holder != (*invocation, line.lease_no) {
                verdict.red(Check::C5, format!("fence {} is that of {holder:?} and of {invocation}", line.fence));
            }
        }
        if !leases.values().is_sorted_by(|a, b| a < b) {
            verdict.red(Check::C5, format!("{invocation}: fences do not grow with its leases: {leases:?}"));
        }
    }
}
