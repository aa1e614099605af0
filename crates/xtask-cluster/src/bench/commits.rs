//! Commits as the scheduler makes them for one call, with records taken from its store.

use bytes::Bytes;
use toolplane_store::{Append, Commit, Expect, Family, IndexOp, RecordKey, Write};

/// Records of real calls, taken from a store; `{id}` is the call's.
const QUEUED: &str = include_str!("samples/queued.json");
const RUNNING: &str = include_str!("samples/running.json");
const ENDED: &str = include_str!("samples/ended.json");
const RESULT: &str = include_str!("samples/result.json");
const DECISION: &str = include_str!("samples/decision.json");
/// The events of a call, one a line.
const EVENTS: &str = include_str!("samples/events.jsonl");
/// How many of them a queued call has, and one that has started.
const ACCEPTED_EVENTS: usize = 6;
const STARTED_EVENTS: usize = 7;
/// What an agent sends.
const INPUT: &str = r#"{"text":"what an agent would say, more or less, in one short sentence"}"#;

const INPUT_DIGEST: &str = "44724ac369f445c092611b0985dceb9d18e8ddfd3cbaf4c0a5b5f0a09933a747";

/// The index of calls that wait for a slot.
pub(super) const QUEUE: &str = "queue/native/1/default";
const LISTING: &str = "invocations/default";
const LEASES: &str = "timers/lease";
const DEADLINES: &str = "timers/execution";

/// Accepted and started in one commit: the way of a call that finds a free slot.
pub(super) fn accept_and_claim(number: u64) -> Commit {
    let id = id(number);
    let index = vec![put(LISTING, number, &id), put(LEASES, number, &id), put(DEADLINES, number, &id)];
    accepted(&id, RUNNING, STARTED_EVENTS, index)
}

/// Ended: the second commit of the same call.
pub(super) fn done(number: u64) -> Commit {
    let id = id(number);
    let writes = vec![record(&id, ENDED), other(Family::Result, &id, RESULT)];
    let index = vec![remove(LEASES, &id), remove(DEADLINES, &id)];
    Commit {
        compare: vec![(key(&id), Expect::Version(1))],
        writes,
        index,
        events: vec![events(&id, STARTED_EVENTS, EVENTS.lines().count())],
        ..Commit::default()
    }
}

/// Accepted, and waiting for a slot.
pub(super) fn queue(number: u64) -> Commit {
    let id = id(number);
    let index = vec![put(LISTING, number, &id), put(QUEUE, number, &id)];
    accepted(&id, QUEUED, ACCEPTED_EVENTS, index)
}

/// Taken from the queue by a worker.
pub(super) fn claim(id: &str, version: u64, now: u64) -> Commit {
    Commit {
        compare: vec![(key(id), Expect::Version(version))],
        writes: vec![record(id, RUNNING)],
        index: vec![remove(QUEUE, id), put(LEASES, now, id), put(DEADLINES, now, id)],
        events: vec![events(id, ACCEPTED_EVENTS, STARTED_EVENTS)],
        ..Commit::default()
    }
}

/// The key of a call's record.
pub(super) fn key(id: &str) -> RecordKey {
    RecordKey::new(Family::Invocation, id)
}

fn accepted(id: &str, record_text: &str, events_until: usize, index: Vec<IndexOp>) -> Commit {
    Commit {
        compare: vec![(key(id), Expect::Absent)],
        writes: vec![
            record(id, record_text),
            other(Family::Decision, id, DECISION),
            other(Family::Payload, &format!("{id}/{INPUT_DIGEST}"), INPUT),
        ],
        index,
        events: vec![events(id, 0, events_until)],
        ..Commit::default()
    }
}

/// Ids as the scheduler makes them: ordered by time, and as long.
fn id(number: u64) -> String {
    format!("inv_{number:032x}")
}

fn filled(text: &str, id: &str) -> Bytes {
    text.trim_end().replace("{id}", id).into()
}

fn record(id: &str, text: &str) -> Write {
    Write::Put { key: key(id), bytes: filled(text, id) }
}

fn other(family: Family, id: &str, text: &str) -> Write {
    Write::Put { key: RecordKey::new(family, id), bytes: filled(text, id) }
}

fn events(id: &str, from: usize, until: usize) -> Append {
    let lines = EVENTS.lines().skip(from).take(until - from);
    Append {
        stream: format!("invocation/{id}"),
        first_seq: from as u64 + 1,
        events: lines.map(|line| filled(line, id)).collect(),
    }
}

fn put(index: &str, score: u64, member: &str) -> IndexOp {
    IndexOp::Put { index: index.to_owned(), score, member: member.to_owned() }
}

fn remove(index: &str, member: &str) -> IndexOp {
    IndexOp::Remove { index: index.to_owned(), member: member.to_owned() }
}

#[cfg(test)]
mod tests {
    use toolplane_store::{CommitOutcome, MemoryStore, Store as _};

    use super::*;

    /// Every commit fits on the one before it.
    #[tokio::test]
    async fn a_call_can_be_made_of_these_commits() {
        let store = MemoryStore::default();
        let now = store.now().await.unwrap().as_millis().unsigned_abs();
        for commit in [accept_and_claim(1), done(1), queue(2), claim(&id(2), 1, now)] {
            assert_eq!(store.commit(commit).await.unwrap(), CommitOutcome::Applied);
        }
        assert_eq!(store.index_len(QUEUE).await.unwrap(), 0);
    }
}
