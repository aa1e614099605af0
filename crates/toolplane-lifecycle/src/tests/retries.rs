//! Repetitions: how often, after what wait, and when a call is taken for poison.

use proptest::prelude::*;
use toolplane_records::codes;
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::backoff::wait_ms;
use crate::*;

proptest! {
    /// The wait is bounded, grows with the attempt, and is the same for every scheduler that works it out.
    #[test]
    fn waits_are_bounded_and_repeatable(id in "[a-z0-9]{1,20}", attempt in 1_u32..40) {
        let id = InvocationId::from_trusted(id);
        let wait = wait_ms(&id, attempt, None);
        let bound = (200_i64 << (attempt - 1).min(16)).min(30_000);
        prop_assert!((0..=bound).contains(&wait), "{wait}");
        prop_assert_eq!(wait, wait_ms(&id, attempt, None));
        prop_assert_eq!(wait_ms(&id, attempt, Some(1_234)), 1_234);
        prop_assert_eq!(wait_ms(&id, attempt, Some(u64::MAX)), 300_000);
    }
}

/// Calls that failed together do not come back together.
#[test]
fn waits_are_spread() {
    let waits: Vec<i64> =
        (0..1_000).map(|n| wait_ms(&InvocationId::from_trusted(format!("inv_{n}")), 5, None)).collect();
    let mean = waits.iter().sum::<i64>() / 1_000;
    assert!((1_400..1_800).contains(&mean), "of 0 to 3200 the mean is {mean}");
    assert!(waits.iter().filter(|wait| **wait < 320).count() > 50);
}

#[test]
fn an_asked_for_wait_is_kept() {
    let record = run(ready(true, true).invocation, started(true)).invocation;
    let mut busy = error(ErrorClass::RateLimited);
    busy.retry_after_ms = Some(5_000);
    let last = apply(&record, complete(&record, ResultStatus::Failed, Some(busy)), at(10)).unwrap();
    assert!(last.effects.contains(&Effect::SetTimer(Timer::Retry, at(5_010))));
    assert_eq!(last.invocation.queue_state, None);
    assert_eq!(
        apply(&last.invocation, Command::Claim(grant(2)), at(20)).map(|_| ()).unwrap_err(),
        Refusal::Illegal { command: "claim", status: InvocationStatus::Queued }
    );
}

/// Loses the call on these workers one after the other, as often as it comes back.
fn lose_on(workers: &[&str]) -> Transition {
    let key = Some(Digest::of(b"version and input"));
    let facts =
        toolplane_records::invocation::DispatchFacts { max_attempts: 10, quarantine_key: key, ..dispatch(true, true) };
    let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: facts };
    let mut last = accept(acceptance(true), preparation, at(0)).unwrap();
    let mut now = 0;
    for (number, worker) in workers.iter().enumerate() {
        let record = &last.invocation;
        let record: Invocation = match record.queue_state {
            Some(_) => record.clone(),
            None => apply(record, Command::Fire(Timer::Retry), at(now + 30_000)).unwrap().invocation,
        };
        now += 60_000;
        let grant = grant_to(worker, number as u64 + 1);
        let claimed = apply(&record, Command::Claim(grant), at(now)).unwrap().invocation;
        let lease = super::fixtures::key(&claimed);
        let running = apply(&claimed, Command::Start { lease, lease_ms: LEASE_MS }, at(now + 1)).unwrap().invocation;
        last = apply(&running, Command::Fire(Timer::Lease), at(now + 20_000)).unwrap();
    }
    last
}

#[test]
fn two_workers_lost_is_poison() {
    for (workers, poison) in [
        (vec!["w1"], false),
        (vec!["w1", "w1"], false),
        (vec!["w1", "w2"], true),
        (vec!["w1", "w1", "w1"], true),
        (vec!["w1", "w1", "w2"], true),
    ] {
        let last = lose_on(&workers);
        assert_eq!(last.invocation.status == InvocationStatus::Failed, poison, "{workers:?}");
        let quarantined = last.effects.iter().any(|effect| {
            *effect
                == Effect::Quarantine {
                    key: Digest::of(b"version and input"),
                    until: last.invocation.ended_at.unwrap_or_default().plus_millis(QUARANTINE_MS),
                }
        });
        assert_eq!(quarantined, poison, "{workers:?}");
        if let Some(terminal) = last.terminal {
            assert_eq!(terminal.result.error.unwrap().error_code, codes::POISON.as_str());
        }
    }
}

/// An offer that was not confirmed is no evidence against the call.
#[test]
fn an_offer_without_a_receipt_charges_nothing() {
    let mut record = ready(true, true).invocation;
    for number in 1..6_u64 {
        let worker = format!("w{number}");
        let now = i64::try_from(number).unwrap() * 10_000;
        let claimed = apply(&record, Command::Claim(grant_to(&worker, number)), at(now)).unwrap().invocation;
        let last = apply(&claimed, Command::Fire(Timer::Lease), at(now + 6_000)).unwrap();
        assert!(last.effects.contains(&Effect::Enqueue));
        record = last.invocation;
        assert_eq!((record.attempt, record.worker_losses, record.lost_workers.len()), (0, 0, 0));
    }
}

/// Reports of an older execution could pass for the newer one's if fences did not grow.
#[test]
fn a_fence_that_does_not_grow_is_refused() {
    let record = ready(false, true).invocation;
    let record = run(record, vec![(1, Command::Claim(grant(5))), (6_000, Command::Fire(Timer::Lease))]).invocation;
    for old in [1, 4, 5] {
        assert!(matches!(apply(&record, Command::Claim(grant(old)), at(7_000)), Err(Refusal::Illegal { .. })), "{old}");
    }
    assert!(apply(&record, Command::Claim(grant(6)), at(7_000)).is_ok());
}

/// Every execution is on record: when it began, under which number, and why the next one followed.
#[test]
fn attempts_are_recorded() {
    let last = lose_on(&["w1", "w1"]);
    let steps: Vec<(InvocationStatus, u32, &str)> = last
        .invocation
        .status_transitions
        .iter()
        .skip_while(|step| step.to != InvocationStatus::Queued)
        .map(|step| (step.to, step.attempt, step.cause.as_str()))
        .collect();
    use InvocationStatus::{Queued, Running};
    let expected = [
        (Queued, 0, "schedule"),
        (Running, 1, "execute"),
        (Queued, 1, "lease_expired"),
        (Running, 2, "execute"),
        (Queued, 2, "lease_expired"),
    ];
    assert_eq!(steps, expected);
    assert_eq!(last.invocation.lost_workers.len(), 1);
}

/// A worker that is lost leaves no evidence of its own. Where the call ends with that, its record is all there is to say where it ran.
#[test]
fn a_call_that_ends_with_its_worker_names_it() {
    let record = run(ready(false, true).invocation, started(false)).invocation;
    let lost = |record: &Invocation| apply(record, Command::Fire(Timer::Lease), at(60_000)).unwrap().invocation;
    let unknown = lost(&record);
    assert_eq!((unknown.status, unknown.lost_workers.len()), (InvocationStatus::Failed, 1));
    let cancel = Command::RequestCancel {
        requested_by: String::new(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    let canceled = lost(&apply(&record, cancel, at(4_000)).unwrap().invocation);
    assert_eq!((canceled.status, canceled.lost_workers.len()), (InvocationStatus::Canceled, 1));
}
