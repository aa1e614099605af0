//! C8: the stretches of a watcher, put together, are the whole log: no gap, nothing twice.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::Record;

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    let mut seen: BTreeMap<u64, (&str, u64, bool)> = BTreeMap::new();
    for record in facts.records() {
        let Record::Watched { watcher, invocation, from_seq, seqs, ended } = record else { continue };
        let (_, next, over) = seen.entry(*watcher).or_insert((invocation, 1, false));
        if *over {
            verdict.red(Check::C8, format!("watcher {watcher} of {invocation} went on after the end"));
        }
        if *from_seq != *next {
            verdict.red(Check::C8, format!("watcher {watcher} of {invocation} came back at {from_seq}, not at {next}"));
            *next = *from_seq;
        }
        for seq in seqs {
            if seq != next {
                let text = format!("watcher {watcher} of {invocation} was sent {seq} where {next} belongs");
                verdict.red(Check::C8, text);
                *next = *seq;
            }
            *next += 1;
        }
        *over = *ended;
    }
    for (watcher, (invocation, next, over)) in seen {
        let Some(call) = facts.calls.get(invocation) else { continue };
        // What is told of a call after its result is not sent to those who wait for the result.
        let result = call.course.events.iter().find(|event| event.class == "tool.result.created");
        let needed = result.map_or(call.course.last_seq, |result| result.seq);
        if over && next <= needed {
            let text = format!("watcher {watcher} of {invocation} was told the end and missed {next} to {needed}");
            verdict.red(Check::C8, text);
        }
    }
}
