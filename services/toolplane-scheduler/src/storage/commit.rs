//! From transitions to the one atomic commit that stores them.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use toolplane_lifecycle::{Effect, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::stored::{RecordWriter, StoredError};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{InvocationStatus, QueueState};
use toolplane_store::{Append, Bound, Commit, Expect, IndexOp, RecordKey, Write};

use super::keys::{self, QueueName};

/// What is stored together with a transition beside the record itself.
#[derive(Debug, Default)]
pub(crate) struct Extras<'a> {
    /// Further immutable records: payloads, plans.
    pub(crate) records: Vec<(RecordKey, Bytes)>,
    /// Decisions this transition is based on.
    pub(crate) decisions: &'a [PermissionDecision],
}

/// A commit in the making: any number of transitions, and what goes with them.
///
/// Of several changes of one index entry only the last counts. Places taken in a counted index add up, so that its bound
/// holds after the whole commit.
#[derive(Default)]
pub(crate) struct Builder {
    commit: Commit,
    index: BTreeMap<(String, String), Option<u64>>,
    /// Below which length an index may be taken from, and how many places are taken.
    places: BTreeMap<String, (u64, u64)>,
    records: RecordBytes,
}

impl Builder {
    /// A commit that also does all of `commit`.
    pub(crate) fn with(mut commit: Commit) -> Self {
        let mut index = BTreeMap::new();
        for op in std::mem::take(&mut commit.index) {
            match op {
                IndexOp::Put { index: name, score, member } => index.insert((name, member), Some(score)),
                IndexOp::Remove { index: name, member } => index.insert((name, member), None),
            };
        }
        Self { commit, index, ..Self::default() }
    }

    /// Adds `transition`, decided on the record as `expect` says. `queue` is where the call is ready, when it is or was.
    pub(crate) fn transition(
        &mut self,
        transition: &Transition,
        expect: Expect,
        queue: Option<&QueueName>,
        extras: Extras<'_>,
    ) -> Result<(), StoredError> {
        let record = &transition.invocation;
        let call = record.key();
        let key = keys::invocation(&call);
        let bytes = self.records.of(record)?;
        self.put(key.clone(), bytes);
        if let Some(terminal) = &transition.terminal {
            let bytes = self.records.of(terminal)?;
            self.put(keys::result(&call), bytes);
        }
        for decision in extras.decisions {
            let bytes = self.records.of(decision)?;
            self.put(keys::decision(&record.tenant, decision.decision_id.as_str()), bytes);
        }
        for (key, bytes) in extras.records {
            self.put(key, bytes);
        }
        for effect in &transition.effects {
            match effect {
                Effect::KeepHook { hook_ref, hook } => {
                    let bytes = self.records.of(hook)?;
                    self.put(keys::hook(&record.tenant, hook_ref), bytes);
                }
                Effect::KeepExecution { evidence } => {
                    let bytes = self.records.of(evidence)?;
                    self.put(keys::execution(&record.tenant, &evidence.evidence_id), bytes);
                }
                Effect::ForgetDecision { decision_id } => {
                    self.delete(keys::decision(&record.tenant, decision_id.as_str()));
                }
                Effect::ForgetHook { hook_ref } => self.delete(keys::hook(&record.tenant, hook_ref)),
                Effect::ForgetEnding => self.delete(keys::ending(&record.key())),
                _ => {}
            }
        }
        self.commit.compare.push((key, expect));
        self.append(transition)?;
        self.index_of(transition, matches!(expect, Expect::Absent), queue);
        Ok(())
    }

    /// The commit fails unless this holds.
    pub(crate) fn compare(&mut self, key: RecordKey, expect: Expect) {
        if !self.commit.compare.iter().any(|(compared, _)| *compared == key) {
            self.commit.compare.push((key, expect));
        }
    }

    /// Writes a record.
    pub(crate) fn put(&mut self, key: RecordKey, bytes: Bytes) {
        self.commit.writes.retain(|write| *write.key() != key);
        self.commit.writes.push(Write::Put { key, bytes });
    }

    /// Writes a value as JSON.
    pub(crate) fn put_json(&mut self, key: RecordKey, value: &impl serde::Serialize) -> Result<(), serde_json::Error> {
        self.put(key, serde_json::to_vec(value)?.into());
        Ok(())
    }

    /// Writes a record of the standard in its stored form.
    pub(crate) fn put_record(&mut self, key: RecordKey, record: &impl serde::Serialize) -> Result<(), StoredError> {
        let bytes = self.records.of(record)?;
        self.put(key, bytes);
        Ok(())
    }

    /// Removes a record.
    pub(crate) fn delete(&mut self, key: RecordKey) {
        self.commit.writes.retain(|write| *write.key() != key);
        self.commit.writes.push(Write::Delete { key });
    }

    /// Puts a member into an index.
    pub(crate) fn enter(&mut self, index: impl Into<String>, member: impl Into<String>, score: u64) {
        self.index.insert((index.into(), member.into()), Some(score));
    }

    /// Takes a member out of an index.
    pub(crate) fn leave(&mut self, index: impl Into<String>, member: impl Into<String>) {
        self.index.insert((index.into(), member.into()), None);
    }

    /// Whether this commit makes `record` one of its tenant's waiting calls.
    pub(crate) fn enters_waiting(&self, record: &toolplane_records::invocation::Invocation) -> bool {
        let place = (keys::waiting(&record.tenant), record.key().to_string());
        matches!(self.index.get(&place), Some(Some(_)))
    }

    /// The commit fails when `index` would have more than `most` members after one more was added by it.
    pub(crate) fn bound(&mut self, index: impl Into<String>, most: u64) {
        let (below, taken) = self.places.entry(index.into()).or_insert((most, 0));
        *below = (*below).min(most);
        *taken += 1;
    }

    /// Drops a stream.
    pub(crate) fn forget(&mut self, stream: String) {
        self.commit.forget.push(stream);
    }

    /// Tells other processes.
    pub(crate) fn hint(&mut self, hint: toolplane_store::Hint) {
        self.commit.hints.push(hint);
    }

    /// The commit. Everything but taking on new work may use what a store keeps in reserve.
    pub(crate) fn done(self, essential: bool) -> Commit {
        let mut commit = self.commit;
        commit.essential = essential;
        commit.index = self
            .index
            .into_iter()
            .map(|((index, member), change)| match change {
                Some(score) => IndexOp::Put { index, score, member },
                None => IndexOp::Remove { index, member },
            })
            .collect();
        let bounds = self.places.into_iter();
        commit.bounds.extend(bounds.map(|(index, (below, taken))| Bound {
            index,
            // The store looks once, before the first place is taken.
            below: below.saturating_sub(taken.saturating_sub(1)),
        }));
        commit
    }

    fn append(&mut self, transition: &Transition) -> Result<(), StoredError> {
        let Some(first) = transition.events.first() else { return Ok(()) };
        let first_seq = first.seq;
        let events = transition.events.iter().map(|event| self.records.of(event)).collect::<Result<_, _>>()?;
        let stream = keys::stream(&transition.key());
        self.commit.events.push(Append { stream, first_seq, events });
        Ok(())
    }

    /// Index changes of all effects.
    fn index_of(&mut self, transition: &Transition, is_new: bool, queue: Option<&QueueName>) {
        let record = &transition.invocation;
        let member = &*record.key().to_string();
        let created = score(record.created_at);
        let mut marks = Marks { builder: self, member, is_new };
        let ended = transition.terminal.is_some();
        if is_new {
            marks.set(keys::listing(&record.tenant), Some(created));
        }
        if is_new && !ended {
            marks.set(keys::LIVING.to_owned(), Some(created));
        }
        if ended {
            marks.set(keys::LIVING.to_owned(), None);
            marks.set(keys::ENDED.to_owned(), record.ended_at.map(score));
        }
        let mut left = false;
        for effect in &transition.effects {
            match effect {
                Effect::Enqueue => queue.iter().for_each(|queue| marks.set(queue.to_string(), Some(created))),
                Effect::Dequeue => {
                    left = true;
                    queue.iter().for_each(|queue| marks.set(queue.to_string(), None));
                }
                Effect::SetTimer(timer, at) => marks.set(keys::timers(*timer), Some(score(*at))),
                Effect::ClearTimer(timer) => marks.set(keys::timers(*timer), None),
                Effect::Settle(scope) => {
                    left = left || record.queue_state != Some(QueueState::Queued);
                    marks.builder.enter(keys::coordination(scope), member, created);
                }
                Effect::TakePermit { index, below } => {
                    marks.set(index.to_string(), Some(created));
                    marks.builder.bound(index.clone(), *below);
                }
                Effect::ReturnPermit { .. } if crate::mutants::leaks_permits() => {}
                Effect::ReturnPermit { index } => marks.set(index.to_string(), None),
                Effect::Quarantine { key, until } => {
                    let hex = key.hex();
                    let why = serde_json::json!({
                        "tenant": record.tenant, "invocation_id": record.invocation_id, "until": until,
                    });
                    marks.builder.put(keys::quarantined(&hex), Bytes::from(why.to_string()));
                    marks.builder.enter(keys::QUARANTINE, hex, score(*until));
                }
                // Written with the records, or said once the commit is durable.
                Effect::KeepHook { .. }
                | Effect::KeepExecution { .. }
                | Effect::ForgetDecision { .. }
                | Effect::ForgetHook { .. }
                | Effect::ForgetEnding
                | Effect::Tell(_) => {}
            }
        }
        // By what the record says, because a batch or a domain of locks that decides about its own calls asks no
        // scheduler to settle it. A call that entered and left within one commit never waited.
        let waits = record.queue_state == Some(QueueState::Queued) && !ended;
        let ended_waiting =
            ended && record.status_transitions.last().is_some_and(|step| step.from == Some(InvocationStatus::Queued));
        if waits {
            marks.set(keys::waiting(&record.tenant), Some(created));
        } else if left || ended_waiting {
            marks.set(keys::waiting(&record.tenant), None);
        }
        let waited = record.status_transitions.iter().any(|step| step.to == InvocationStatus::AwaitingApproval);
        if waited {
            let waits = record.status == InvocationStatus::AwaitingApproval;
            marks.set(keys::AWAITING.to_owned(), waits.then_some(created));
        }
    }
}

/// Index changes of one invocation.
struct Marks<'a> {
    builder: &'a mut Builder,
    member: &'a str,
    is_new: bool,
}

impl Marks<'_> {
    fn set(&mut self, index: String, change: Option<u64>) {
        let place = (index, self.member.to_owned());
        match change {
            Some(score) => drop(self.builder.index.insert(place, Some(score))),
            // A record that is being created has nothing to remove.
            None if self.is_new => drop(self.builder.index.remove(&place)),
            None => drop(self.builder.index.insert(place, None)),
        }
    }
}

/// Writes records in their stored form, one after the other into the same memory: what a commit stores is one allocation.
#[derive(Default)]
struct RecordBytes {
    writer: RecordWriter,
    /// The record that is being written.
    record: Vec<u8>,
    /// Those that are, one after the other.
    written: BytesMut,
}

/// What the records and events of most commits take.
const USUAL_BYTES: usize = 3 * 1024;
/// What most of them take each.
const USUAL_RECORD_BYTES: usize = 1024;

impl RecordBytes {
    fn of(&mut self, value: &impl serde::Serialize) -> Result<Bytes, StoredError> {
        if self.record.capacity() == 0 {
            self.record.reserve(USUAL_RECORD_BYTES);
            self.written.reserve(USUAL_BYTES);
        }
        self.record.clear();
        self.writer.write(value, &mut self.record)?;
        self.written.extend_from_slice(&self.record);
        Ok(self.written.split().freeze())
    }
}

/// An instant as an index score; instants before 1970 count as 1970, and those too far away as the furthest there is.
pub(crate) fn score(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(0).min(toolplane_store::commit::MAX_SCORE)
}
