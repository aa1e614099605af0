//! From a transition to the one atomic commit that stores it.

use std::collections::BTreeMap;

use bytes::Bytes;
use toolplane_lifecycle::{Effect, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::InvocationStatus;
use toolplane_store::{Append, Commit, Expect, IndexOp, RecordKey, Write};

use super::keys;

/// What is stored together with a transition beside the record itself.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// Further immutable records: payloads, plans.
    pub(crate) records: Vec<(RecordKey, Bytes)>,
    /// Decisions this transition is based on.
    pub(crate) decisions: Vec<PermissionDecision>,
}

/// The commit of `transition`; `expect` is the version of the record it was decided on.
pub(crate) fn of(transition: &Transition, expect: Expect, extras: Extras) -> Result<Commit, serde_json::Error> {
    let mut json = Json::default();
    let record = &transition.invocation;
    let key = keys::invocation(&record.invocation_id);
    let mut writes = vec![Write::Put { key: key.clone(), bytes: json.of(record)? }];
    if let Some(terminal) = &transition.terminal {
        writes.push(Write::Put { key: keys::result(&record.invocation_id), bytes: json.of(terminal)? });
    }
    for decision in &extras.decisions {
        let key = keys::decision(decision.decision_id.as_str());
        writes.push(Write::Put { key, bytes: json.of(decision)? });
    }
    writes.extend(extras.records.into_iter().map(|(key, bytes)| Write::Put { key, bytes }));
    Ok(Commit {
        compare: vec![(key, expect)],
        writes,
        index: index_ops(transition, matches!(expect, Expect::Absent)),
        events: events(transition, &mut json)?,
        ..Commit::default()
    })
}

fn events(transition: &Transition, json: &mut Json) -> Result<Vec<Append>, serde_json::Error> {
    let Some(first) = transition.events.first() else { return Ok(Vec::new()) };
    let events = transition.events.iter().map(|event| json.of(event)).collect::<Result<_, _>>()?;
    Ok(vec![Append { stream: keys::stream(&transition.invocation.invocation_id), first_seq: first.seq, events }])
}

/// Writes values as JSON, one after the other in the same memory: what the store keeps is only as large as it must be.
#[derive(Default)]
struct Json(Vec<u8>);

impl Json {
    fn of(&mut self, value: &impl serde::Serialize) -> Result<Bytes, serde_json::Error> {
        self.0.clear();
        // One step for nearly every record, instead of one for each doubling.
        self.0.reserve(4096);
        serde_json::to_writer(&mut self.0, value)?;
        Ok(Bytes::copy_from_slice(&self.0))
    }
}

/// Index changes of all effects; of several changes of one entry only the last counts.
fn index_ops(transition: &Transition, is_new: bool) -> Vec<IndexOp> {
    let record = &transition.invocation;
    let member = record.invocation_id.to_string();
    let mut changes: BTreeMap<String, Option<u64>> = BTreeMap::new();
    if is_new {
        changes.insert(keys::listing(&record.tenant), Some(score(record.created_at)));
    }
    if let Some(dispatch) = &record.dispatch {
        let queue = keys::queue(&dispatch.pool, &record.tenant);
        for effect in &transition.effects {
            match effect {
                Effect::Enqueue => drop(changes.insert(queue.clone(), Some(score(record.created_at)))),
                Effect::Dequeue => drop(changes.insert(queue.clone(), None)),
                _ => {}
            }
        }
    }
    for effect in &transition.effects {
        match effect {
            Effect::SetTimer(timer, at) => drop(changes.insert(keys::timers(*timer), Some(score(*at)))),
            Effect::ClearTimer(timer) => drop(changes.insert(keys::timers(*timer), None)),
            _ => {}
        }
    }
    let waited = record.status_transitions.iter().any(|step| step.to == InvocationStatus::AwaitingApproval);
    if waited {
        let waits = record.status == InvocationStatus::AwaitingApproval;
        changes.insert(keys::AWAITING.to_owned(), waits.then(|| score(record.created_at)));
    }
    changes
        .into_iter()
        // A record that is being created has nothing to remove.
        .filter(|(_, change)| !(is_new && change.is_none()))
        .map(|(index, change)| match change {
            Some(score) => IndexOp::Put { index, score, member: member.clone() },
            None => IndexOp::Remove { index, member: member.clone() },
        })
        .collect()
}

/// An instant as an index score; instants before 1970 count as 1970.
pub(crate) fn score(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0)
}
