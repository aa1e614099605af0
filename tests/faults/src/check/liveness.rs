//! C9: after the last repair the cluster works as if nothing had been: the last calls of every client end well.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::Record;

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    let mut probes: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let mut healed = false;
    for record in facts.records() {
        match record {
            Record::Healed => healed = true,
            Record::Drained { target, in_time: false } => {
                verdict.red(Check::C9, format!("{target} was asked to end and did not within its bound"));
            }
            Record::Probe { client, ok } => {
                let (good, bad) = probes.entry(*client).or_default();
                *if *ok { good } else { bad } += 1;
            }
            _ => {}
        }
    }
    for (client, (good, bad)) in &probes {
        if *bad > 0 {
            verdict.red(Check::C9, format!("client {client}: {bad} of {} calls after the repair failed", good + bad));
        }
    }
    if healed && probes.is_empty() {
        verdict.red(Check::C9, "nobody tried whether the cluster works after the repair");
    }
}
