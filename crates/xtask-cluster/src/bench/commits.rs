//! Commits as the scheduler makes them for one call, with records taken from its store.

use bytes::Bytes;
use toolplane_store::{Append, Commit, Expect, Family, IndexOp, RecordKey, Write};

use samples::{SAMPLES, Sample};

mod samples;

/// How many events a call has that has started.
const STARTED_EVENTS: usize = 7;
/// What an agent sends.
const INPUT: &str = r#"{"text":"what an agent would say, more or less, in one short sentence"}"#;

const INPUT_DIGEST: &str = "44724ac369f445c092611b0985dceb9d18e8ddfd3cbaf4c0a5b5f0a09933a747";

const LISTING: &str = "invocations/default";
const LEASES: &str = "timers/lease";
const DEADLINES: &str = "timers/execution";

/// Accepted and started in one commit: the way of a call that finds a free slot.
pub(super) fn accept_and_claim(number: u64) -> Commit {
    let id = id(number);
    let index = vec![put(LISTING, number, &id), put(LEASES, number, &id), put(DEADLINES, number, &id)];
    accepted(&id, &SAMPLES.running, STARTED_EVENTS, index)
}

/// Ended: the second commit of the same call.
pub(super) fn done(number: u64) -> Commit {
    let id = id(number);
    let writes = vec![record(&id, &SAMPLES.ended), other(Family::Result, &id, SAMPLES.result.with(&id))];
    let index = vec![remove(LEASES, &id), remove(DEADLINES, &id)];
    Commit {
        compare: vec![(key(&id), Expect::Version(1))],
        writes,
        index,
        events: vec![events(&id, STARTED_EVENTS, SAMPLES.events.len())],
        ..Commit::default()
    }
}

/// The key of a call's record.
fn key(id: &str) -> RecordKey {
    RecordKey::new(Family::Invocation, id)
}

fn accepted(id: &str, call: &Sample, events_until: usize, index: Vec<IndexOp>) -> Commit {
    Commit {
        compare: vec![(key(id), Expect::Absent)],
        writes: vec![
            record(id, call),
            other(Family::Decision, id, SAMPLES.decision.with(id)),
            other(Family::Payload, &format!("{id}/{INPUT_DIGEST}"), Bytes::from_static(INPUT.as_bytes())),
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

fn record(id: &str, call: &Sample) -> Write {
    Write::Put { key: key(id), bytes: call.with(id) }
}

fn other(family: Family, id: &str, bytes: Bytes) -> Write {
    Write::Put { key: RecordKey::new(family, id), bytes }
}

fn events(id: &str, from: usize, until: usize) -> Append {
    Append {
        stream: format!("invocation/{id}"),
        first_seq: from as u64 + 1,
        events: SAMPLES.events[from..until].iter().map(|event| event.with(id)).collect(),
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
        for commit in [accept_and_claim(1), done(1)] {
            assert_eq!(store.commit(commit).await.unwrap(), CommitOutcome::Applied);
        }
        assert_eq!((store.index_len(LISTING).await, store.index_len(LEASES).await), (Ok(1), Ok(0)));
    }
}
