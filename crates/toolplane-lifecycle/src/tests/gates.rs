//! Held calls, permits, released results, scopes, late reports and approvals that are asked for again.

use toolplane_records::batch::BatchPlace;
use toolplane_records::ids::{ApprovalId, BatchId, LeaseId, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

fn batch_scope() -> Scope {
    Scope::Batch { tenant: TenantId::unauthenticated(), id: BatchId::from_trusted("bat_1") }
}

fn locks_scope() -> Scope {
    Scope::Locks { tenant: TenantId::unauthenticated(), domain: "session:s".into() }
}

fn gated(held_by_batch: bool) -> Transition {
    let acceptance = Acceptance {
        batch: Some(BatchPlace { batch_id: BatchId::from_trusted("bat_1"), index: 0 }),
        held_by_batch,
        resource_locks: vec![ResourceLock { key: "repo".into(), mode: LockMode::Exclusive }],
        lock_domain: Some("session:s".into()),
        ..acceptance(true)
    };
    let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: dispatch(true, true) };
    accept(acceptance, preparation, at(0)).unwrap()
}

fn settles(transition: &Transition) -> Vec<Scope> {
    let scope = |effect: &Effect| match effect {
        Effect::Settle(scope) => Some(scope.clone()),
        _ => None,
    };
    transition.effects.iter().filter_map(scope).collect()
}

fn unhold(hold: Hold, fence: Option<u64>) -> Command {
    Command::Unhold { hold, fence }
}

/// First the batch lets go, then the locks are granted, and only then is the call ready.
#[test]
fn a_held_call_becomes_ready_step_by_step() {
    let first = gated(true);
    assert_eq!(first.invocation.holds, [Hold::Batch, Hold::Locks]);
    assert_eq!(first.invocation.status, InvocationStatus::Queued);
    assert!(!first.effects.contains(&Effect::Enqueue));
    assert_eq!(settles(&first), [batch_scope()]);
    let held = first.invocation;
    assert!(matches!(apply(&held, Command::Claim(grant(1)), at(1)), Err(Refusal::Illegal { .. })));
    assert!(matches!(apply(&held, unhold(Hold::Locks, Some(1)), at(1)), Err(Refusal::Illegal { .. })));

    let released = apply(&held, unhold(Hold::Batch, None), at(1)).unwrap();
    assert!(!released.effects.contains(&Effect::Enqueue));
    assert_eq!(settles(&released), [locks_scope()]);
    assert_eq!(apply(&released.invocation, unhold(Hold::Batch, None), at(2)).unwrap_err(), Refusal::NothingToDo);

    let granted = apply(&released.invocation, unhold(Hold::Locks, Some(7)), at(2)).unwrap();
    assert!(granted.effects.contains(&Effect::Enqueue));
    assert_eq!(granted.invocation.lock_fence, Some(7));
    assert_eq!(granted.events[0].class, EventClass::ExtLockGranted);
    assert!(apply(&granted.invocation, Command::Claim(grant(1)), at(3)).is_ok());
}

/// A call that ends tells its batch, and gives its ticket back if it can have one.
#[test]
fn an_end_is_news_for_its_scopes() {
    let held = gated(true).invocation;
    let end = apply(&held, cancel_request(), at(5)).unwrap();
    assert_eq!(settles(&end), [batch_scope()]);
    assert!(end.invocation.holds.is_empty() && !end.effects.contains(&Effect::Dequeue));
    let waiting = gated(false).invocation;
    assert_eq!(settles(&apply(&waiting, cancel_request(), at(5)).unwrap()), [batch_scope(), locks_scope()]);
    // While it waits for a repetition it is in no queue, and has its ticket.
    let granted = apply(&waiting, unhold(Hold::Locks, Some(1)), at(1)).unwrap().invocation;
    let running = run(granted, started(true)).invocation;
    let retrying = apply(&running, Command::Fire(Timer::Lease), at(20_000)).unwrap();
    assert!(retrying.invocation.holds.is_empty() && settles(&retrying).is_empty());
    let end = apply(&retrying.invocation, cancel_request(), at(20_001)).unwrap();
    assert_eq!(settles(&end), [batch_scope(), locks_scope()]);
}

/// No ticket is held while a person is asked.
#[test]
fn an_unused_approval_is_asked_for_again() {
    let granted = apply(&gated(false).invocation, unhold(Hold::Locks, Some(1)), at(1)).unwrap().invocation;
    let again = Command::AskAgain {
        decision: decision(Behavior::Ask),
        approval_id: ApprovalId::from_trusted("apr_2"),
        expires_at: at(100_000),
    };
    let parked = apply(&granted, again.clone(), at(10)).unwrap();
    assert_eq!(parked.invocation.status, InvocationStatus::AwaitingApproval);
    assert!(parked.effects.contains(&Effect::Dequeue));
    assert_eq!((settles(&parked), &parked.invocation.holds), (vec![locks_scope()], &vec![Hold::Locks]));
    let approved = apply(&parked.invocation, approve(&parked.invocation), at(20)).unwrap();
    assert_eq!(settles(&approved), [locks_scope()]);
    assert!(!approved.effects.contains(&Effect::Enqueue));
    let running = run(granted, started(true)).invocation;
    assert!(matches!(apply(&running, again, at(30)), Err(Refusal::Illegal { .. })));
}

fn ended() -> Invocation {
    let granted = apply(&gated(false).invocation, unhold(Hold::Locks, Some(1)), at(1)).unwrap().invocation;
    let running = run(granted, started(true)).invocation;
    apply(&running, complete(&running, ResultStatus::Succeeded, None), at(9)).unwrap().invocation
}

/// Releasing a result touches nothing but the release.
#[test]
fn a_result_is_released_once() {
    let ended = ended();
    let yielded = apply(&ended, Command::Yield { yield_seq: 3 }, at(10)).unwrap();
    assert!(yielded.terminal.is_none() && yielded.effects.is_empty());
    assert_eq!(yielded.events[0].class, EventClass::Yielded);
    let record = yielded.invocation;
    assert_eq!((record.queue_state, record.yield_seq), (Some(QueueState::Yielded), Some(3)));
    let same =
        Invocation { queue_state: ended.queue_state, yield_seq: None, last_seq: ended.last_seq, ..record.clone() };
    assert_eq!(same, ended);
    assert_eq!(apply(&record, Command::Yield { yield_seq: 4 }, at(11)).unwrap_err(), Refusal::NothingToDo);
    let discard = Command::Discard { reason: "streaming_fallback".into() };
    assert_eq!(apply(&record, discard.clone(), at(11)).unwrap_err(), Refusal::NothingToDo);

    let discarded = apply(&ended, discard.clone(), at(10)).unwrap().invocation;
    assert_eq!((discarded.queue_state, discarded.status), (Some(QueueState::Discarded), InvocationStatus::Succeeded));
    assert_eq!(apply(&discarded, Command::Yield { yield_seq: 1 }, at(11)).unwrap_err(), Refusal::NothingToDo);
    for early in [Command::Yield { yield_seq: 1 }, discard] {
        assert!(matches!(apply(&gated(true).invocation, early, at(1)), Err(Refusal::Illegal { .. })));
    }
}

#[test]
fn a_lease_takes_and_returns_its_permits() {
    let ready = ready(false, true).invocation;
    let claimed = apply(&ready, Command::Claim(grant(1)), at(1)).unwrap();
    let index = "running/tenant/default".to_owned();
    assert!(claimed.effects.contains(&Effect::TakePermit { index: index.clone().into(), below: 10 }));
    assert_eq!(claimed.invocation.lease.as_ref().unwrap().permits, std::slice::from_ref(&index));
    let expired = apply(&claimed.invocation, Command::Fire(Timer::Lease), at(6_000)).unwrap();
    assert!(expired.effects.contains(&Effect::ReturnPermit { index: index.clone().into() }));
    let canceled = apply(&claimed.invocation, cancel_request(), at(2)).unwrap();
    assert!(canceled.effects.contains(&Effect::ReturnPermit { index: index.into() }));
}

#[test]
fn scopes_read_back() {
    let tenant = TenantId::from_trusted("a/b:c");
    for scope in [batch_scope(), locks_scope(), Scope::Locks { tenant, domain: "tenant/%2F x".into() }] {
        assert_eq!(scope.to_string().parse(), Ok(scope));
    }
    assert_eq!(locks_scope().to_string(), "locks:default/session:s");
    for wrong in ["", "batch", "batch:", "locks:a", "locks:/d", "other:x/y"] {
        assert!(wrong.parse::<Scope>().is_err(), "{wrong}");
    }
}

/// What comes too late changes nothing, and is kept, within bounds.
#[test]
fn late_reports_are_evidence() {
    let running = run(ready(false, true).invocation, started(false)).invocation;
    let lease = key(&running);
    let done = outcome(ResultStatus::Succeeded, None);
    assert!(late_report(&running, &lease, &done, at(3)).is_none(), "the lease is the current one");
    let lost = apply(&running, Command::Fire(Timer::Lease), at(20_000)).unwrap().invocation;
    let mut record = lost.clone();
    for kept in 1..=8_u32 {
        let late = late_report(&record, &lease, &done, at(30_000)).unwrap();
        assert_eq!((late.events.len(), late.events[0].class), (1, EventClass::ExtLateReport));
        assert!(late.effects.is_empty() && late.terminal.is_none());
        record = late.invocation;
        assert_eq!(record.late_reports, kept);
    }
    assert!(late_report(&record, &lease, &done, at(30_000)).is_none(), "enough is enough");
    assert_eq!(Invocation { late_reports: 0, last_seq: lost.last_seq, ..record }, lost);

    let completed = apply(&running, complete(&running, ResultStatus::Succeeded, None), at(5)).unwrap().invocation;
    assert!(late_report(&completed, &lease, &done, at(6)).is_none(), "the report that ended it, once more");
    assert!(is_taken(&completed, &lease) && !is_taken(&running, &lease) && !is_taken(&lost, &lease));
    let never = LeaseKey { lease_no: 2, lease_id: LeaseId::from_trusted("lease_2"), ..lease };
    assert!(late_report(&completed, &never, &done, at(6)).is_none(), "there was no such lease");
}

#[test]
fn forbidden_context_modifiers_are_dropped_and_counted() {
    let modifiers = vec![toolplane_records::payload::JsonPayload::of(&serde_json::json!({ "cwd": "/a" }))];
    for (policy, kept) in
        [(None, 1), (Some(ContextModifierPolicy::DeferUntilBatchComplete), 1), (Some(ContextModifierPolicy::Forbid), 0)]
    {
        let facts =
            toolplane_records::invocation::DispatchFacts { context_modifier_policy: policy, ..dispatch(true, true) };
        let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: facts };
        let record = accept(acceptance(true), preparation, at(0)).unwrap().invocation;
        let record = run(record, started(true)).invocation;
        let mut done = outcome(ResultStatus::Succeeded, None);
        done.context_modifiers.clone_from(&modifiers);
        let last = apply(&record, Command::Complete { lease: key(&record), outcome: done }, at(9)).unwrap();
        assert_eq!(last.terminal.unwrap().result.context_modifiers.len(), kept, "{policy:?}");
        let said =
            last.events.iter().filter_map(|event| event.data.as_ref()).any(|data| data.text().contains("dropped"));
        assert_eq!(said, kept == 0, "{policy:?}");
    }
}

/// That somebody read an original is an entry of the log, and nothing else.
#[test]
fn a_reading_of_an_original_is_in_the_log() {
    let running = run(ready(false, true).invocation, started(false)).invocation;
    assert!(original_read(&running, "ann", "case 17", at(3)).is_err(), "there is none yet");
    let done = apply(&running, complete(&running, ResultStatus::Succeeded, None), at(5)).unwrap().invocation;
    let read = original_read(&done, "ann", "case 17", at(9)).unwrap();
    assert_eq!((read.events.len(), read.events[0].class), (1, EventClass::ExtOriginalRead));
    assert_eq!(read.events[0].data.as_ref().unwrap().text(), r#"{"by":"ann","reason":"case 17"}"#);
    assert!(read.effects.is_empty() && read.terminal.is_none());
    assert_eq!(Invocation { last_seq: done.last_seq, ..read.invocation }, done);
}
