//! C6: the holder of an exclusive lock is alone, and locks are granted in the order of their tickets.

use std::collections::BTreeMap;

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::{Access, AccessStep, FinalCall, Record};

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    nobody_meets(facts, verdict);
    grants_follow_tickets(facts, verdict);
}

/// Who is inside the guarded resources, and whether two are that must not.
fn nobody_meets(facts: &Facts<'_>, verdict: &mut Verdict) {
    let mut inside: BTreeMap<&str, Vec<(&Access, u64)>> = BTreeMap::new();
    let Some(history) = facts.history else { return };
    for entry in &history.entries {
        let Record::Register(access) = &entry.record else { continue };
        let visitors = inside.entry(&access.key).or_default();
        let same = |other: &Access| other.invocation == access.invocation && other.fence == access.fence;
        match access.step {
            AccessStep::Leave | AccessStep::Gone => visitors.retain(|(other, _)| !same(other)),
            AccessStep::Enter if access.accepted => {
                for (other, since) in visitors.iter() {
                    let conflict = (access.exclusive || other.exclusive) && !same(other);
                    // A worker that was stopped from outside cannot leave; its fence keeps it from doing harm.
                    let halted = facts.faults.stopped(&other.worker, *since, entry.at_ms);
                    if conflict && !halted {
                        let text = format!(
                            "`{}`: {} came in while {} was inside",
                            access.key, access.invocation, other.invocation
                        );
                        verdict.red(Check::C6, text);
                    }
                }
                visitors.push((access, entry.at_ms));
            }
            AccessStep::Enter | AccessStep::Write => {}
        }
    }
}

/// Of two calls that want one key, one of them alone, the earlier ticket is granted first.
fn grants_follow_tickets(facts: &Facts<'_>, verdict: &mut Verdict) {
    let mut wanting: BTreeMap<&str, Vec<(&FinalCall, bool)>> = BTreeMap::new();
    for call in facts.calls.values() {
        for (key, exclusive) in facts.plan(call).map_or(&[][..], |plan| &plan.locks) {
            wanting.entry(key).or_default().push((call, *exclusive));
        }
    }
    for (key, calls) in wanting {
        let mut granted: Vec<_> = calls
            .into_iter()
            .filter_map(|(call, exclusive)| Some((call.locks.granted_ms?, call.locks.ticket?, exclusive, call)))
            .collect();
        // What was granted within one millisecond has no order that could be wrong.
        granted.sort_unstable_by_key(|(granted_ms, ticket, ..)| (*granted_ms, *ticket));
        let (mut newest, mut newest_alone) = (0, 0);
        for (_, ticket, exclusive, call) in granted {
            let before = if exclusive { newest } else { newest_alone };
            if ticket < before {
                let text =
                    format!("`{key}`: ticket {ticket} of {} was granted after ticket {before}", call.name.invocation);
                verdict.red(Check::C6, text);
            }
            newest = newest.max(ticket);
            newest_alone = if exclusive { newest_alone.max(ticket) } else { newest_alone };
        }
    }
}
