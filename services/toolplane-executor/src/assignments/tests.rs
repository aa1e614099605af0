use std::sync::Arc;
use std::time::Duration;

use toolplane_records::error::ToolError;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{AbortReason, ErrorClass, Recoverability};

use super::{Assignment, Assignments, Moment, OfferTaken, StopReason, Terms};
use crate::messages::{CallTraits, Ended, ExecutionReport, Lease, ReleaseReason, Welcome};

const ONCE: CallTraits = CallTraits { idempotent: false, supports_cancel: true, exclusive_lock: false };
const LOCKED: CallTraits = CallTraits { idempotent: true, supports_cancel: true, exclusive_lock: true };

fn lease(name: &str) -> Lease {
    Lease::example(name)
}

fn take_as(held: &Assignments, name: &str, traits: CallTraits) -> Arc<Assignment> {
    let assignment = Arc::new(Assignment::new(lease(name), traits));
    assert!(matches!(held.take(assignment.clone()), OfferTaken::Taken { replaced: None }));
    assignment
}

fn take(held: &Assignments, name: &str) -> Arc<Assignment> {
    take_as(held, name, ONCE)
}

fn end(held: &Assignments, name: &str) -> bool {
    let code = toolplane_records::codes::SIGNAL;
    let error = ToolError::new(code, ErrorClass::ExecutionFailed, Recoverability::NotRetryable, "killed");
    let report = ExecutionReport::not_begun(error, Timestamp::from_millis(0));
    held.end(Arc::new(Ended { lease: lease(name), report }))
}

fn short_terms(heartbeat_ms: Option<u64>, lease_ms: Option<u64>) -> Welcome {
    let of = |ms: Option<u64>| ms.map(Duration::from_millis);
    Welcome { heartbeat: of(heartbeat_ms), lease: of(lease_ms), inline_bytes: None }
}

#[test]
fn a_repeated_offer_is_taken_once() {
    let held = Assignments::new(2);
    let offered = || Arc::new(Assignment::new(lease("a"), ONCE));
    let first = take(&held, "a");
    assert!(matches!(held.take(offered()), OfferTaken::Known(known) if Arc::ptr_eq(&known, &first)));
    assert_eq!((held.len(), held.free_slots()), (1, 1));
    assert!(held.begin(&lease("a")) && end(&held, "a"));
    assert!(matches!(held.take(offered()), OfferTaken::Ended(_)));
    assert_eq!((held.len(), held.free_slots()), (1, 2));
}

#[test]
fn a_newer_lease_of_a_call_takes_the_place_of_the_older() {
    let held = Assignments::new(2);
    let of = |number| Arc::new(Assignment::new(Lease { number, ..lease("a") }, ONCE));
    assert!(matches!(held.take(of(2)), OfferTaken::Taken { replaced: None }));
    assert!(matches!(held.take(of(1)), OfferTaken::Stale));
    assert!(matches!(held.take(of(3)), OfferTaken::Taken { replaced: Some(older) } if older.lease.number == 2));
    assert_eq!((held.len(), held.busy()), (1, 1));
}

#[test]
fn leases_are_renewed_from_half_a_heartbeat_on_or_when_a_start_waits_for_it() {
    let (held, terms) = (Assignments::new(4), Terms::default());
    take(&held, "fresh");
    assert_eq!(held.due(&terms, Moment::now()).len(), 0);
    take_as(&held, "locked", LOCKED);
    let due = |held: &Assignments| {
        held.due(&terms, Moment::now()).iter().map(|assignment| assignment.lease.clone()).collect::<Vec<_>>()
    };
    assert_eq!(due(&held), [lease("locked")]);
    held.get(&lease("locked")).unwrap().renewal.renewed(Moment::now());
    assert_eq!(due(&held), []);
    terms.set(short_terms(Some(10), None));
    toolplane_wait::block(Duration::from_millis(10), "leases age by the clock of the machine, asleep or not");
    assert_eq!(due(&held).len(), 2);
}

#[test]
fn only_running_holders_of_exclusive_locks_are_in_doubt_and_only_once() {
    let (held, terms) = (Assignments::new(4), Terms::default());
    terms.set(short_terms(None, Some(50)));
    take_as(&held, "waits", LOCKED);
    let holder = take_as(&held, "holds", LOCKED);
    take(&held, "free");
    assert!(held.begin(&lease("holds")) && held.begin(&lease("free")));
    holder.renewal.renewed(Moment::now());
    assert_eq!(held.in_doubt(&terms, Moment::now()).len(), 0);
    toolplane_wait::block(Duration::from_millis(50), "leases age by the clock of the machine, asleep or not");
    let doubtful = held.in_doubt(&terms, Moment::now());
    assert!(matches!(&doubtful[..], [doubtful] if Arc::ptr_eq(doubtful, &holder)));
    holder.stop.give(StopReason::InDoubt);
    assert_eq!(held.in_doubt(&terms, Moment::now()).len(), 0);
}

#[test]
fn a_lease_taken_away_neither_begins_nor_ends() {
    let held = Assignments::new(2);
    take(&held, "a");
    held.forget(&lease("a")).unwrap().stop.give(StopReason::Fenced);
    assert!(!held.begin(&lease("a")));
    assert!(!end(&held, "a"));
}

#[test]
fn a_stop_before_the_start_prevents_it() {
    let held = Assignments::new(2);
    take(&held, "a").stop.give(StopReason::Cancel(AbortReason::UserInterruption));
    assert!(!held.begin(&lease("a")));
}

#[test]
fn it_begins_once_and_an_end_frees_the_slot_but_is_kept() {
    let held = Assignments::new(1);
    take(&held, "a");
    assert!(held.begin(&lease("a")) && !held.begin(&lease("a")));
    assert_eq!((held.running().len(), held.free_slots()), (1, 0));
    assert!(end(&held, "a"));
    assert_eq!((held.running().len(), held.free_slots(), held.len()), (0, 1, 1));
    let snapshot = held.snapshot();
    assert_eq!((snapshot.held, snapshot.ended.len()), (Vec::new(), 1));
    assert!(held.forget(&lease("a")).is_some());
    assert_eq!(held.len(), 0);
}

/// How often an end of `held` is said again within `time` when it is looked at each second.
async fn said_again(held: &Assignments, terms: &Terms, time: Duration) -> usize {
    let mut times = 0;
    for _ in 0..time.as_secs() {
        toolplane_wait::pause(Duration::from_secs(1), "the clock of this test is paused").await;
        times += held.unacknowledged(terms.again(), usize::MAX).len();
    }
    times
}

#[tokio::test(start_paused = true)]
async fn an_end_nobody_acknowledges_is_said_less_and_less_often_and_never_given_up() {
    let (held, terms) = (Assignments::new(1), Terms::default());
    take(&held, "a");
    assert!(held.begin(&lease("a")) && end(&held, "a"));
    let patience = terms.patience();
    assert_eq!(said_again(&held, &terms, patience - Duration::from_secs(1)).await, 0, "there is still time");
    assert_eq!(said_again(&held, &terms, patience + Duration::from_secs(1)).await, 1);
    // Every 5 s it would be 120 times in ten minutes; every 15 to 30 s it is 20 to 40 times.
    let later = said_again(&held, &terms, Duration::from_secs(660)).await;
    assert!((20..=46).contains(&later), "{later}");
    let hour = said_again(&held, &terms, Duration::from_secs(3_600)).await;
    assert!((3_600 / 31..=3_600 / 15).contains(&hour), "{hour}");
    // A new stream says it at once, and that is not followed by saying it again.
    toolplane_wait::pause(Duration::from_secs(60), "the clock of this test is paused").await;
    assert_eq!(held.snapshot().ended.len(), 1);
    assert_eq!(held.unacknowledged(terms.again(), 1).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_ends_are_said_again_at_once_and_all_of_them_in_turn() {
    let (held, terms) = (Assignments::new(8), Terms::default());
    let names = ["a", "b", "c", "d", "e"];
    for name in names {
        take(&held, name);
        assert!(held.begin(&lease(name)) && end(&held, name));
    }
    toolplane_wait::pause(terms.again().first, "the clock of this test is paused").await;
    let mut said = std::collections::BTreeSet::new();
    for expected in [2, 2, 1, 0] {
        let now = held.unacknowledged(terms.again(), 2);
        assert_eq!(now.len(), expected);
        said.extend(now.iter().map(|ended| ended.lease.invocation_id.to_string()));
    }
    assert_eq!(said.len(), names.len(), "{said:?}");
}

#[test]
fn only_what_has_not_begun_is_given_back() {
    let held = Assignments::new(4);
    take(&held, "runs");
    assert!(held.begin(&lease("runs")));
    let waits = take(&held, "waits");
    let _grant = waits.grant.expect();
    assert_eq!(held.snapshot().asked, vec![lease("waits")]);
    let given_back: Vec<_> = held.take_waiting().iter().map(|assignment| assignment.lease.clone()).collect();
    assert_eq!(given_back, vec![lease("waits")]);
    assert_eq!(held.leases(), vec![lease("runs")]);
}

#[test]
fn what_is_too_much_or_too_late_is_given_back_and_a_known_offer_is_not() {
    let held = Assignments::new(1);
    let offered = |name| held.take(Arc::new(Assignment::new(lease(name), ONCE)));
    take(&held, "a");
    take(&held, "b");
    assert!(matches!(offered("c"), OfferTaken::Refused(ReleaseReason::NoFreeSlot)));
    assert!(held.forget(&lease("b")).is_some());
    held.close();
    assert!(matches!(offered("c"), OfferTaken::Refused(ReleaseReason::Draining)));
    assert!(matches!(offered("a"), OfferTaken::Known(_)));
    assert_eq!((held.free_slots(), held.is_closed()), (0, true));
}

#[test]
fn endings_of_an_earlier_start_are_held_however_many_they_are() {
    let held = Assignments::new(1);
    let names = ["a", "b", "c", "d"];
    assert!(names.iter().all(|name| held.take_recovered(&lease(name))));
    assert!(!held.take_recovered(&lease("a")), "once");
    assert!(names.iter().all(|name| end(&held, name)));
    assert_eq!((held.free_slots(), held.snapshot().ended.len()), (1, 4));
}
