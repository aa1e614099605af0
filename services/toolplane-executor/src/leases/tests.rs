use std::sync::Arc;
use std::time::Duration;

use toolplane_proto::v1::{ExecutionDone, LeaseRef};
use toolplane_records::vocabulary::AbortReason;

use super::{Leases, Taken};
use crate::clock::Moment;
use crate::seat::{Nature, Seat, Stop};
use crate::terms::Terms;

const ONCE: Nature = Nature { idempotent: false, supports_cancel: true, exclusive_lock: false };
const LOCKED: Nature = Nature { idempotent: true, supports_cancel: true, exclusive_lock: true };

fn lease(name: &str) -> LeaseRef {
    LeaseRef { invocation_id: name.to_owned(), lease_no: 1, lease_id: format!("lease-{name}") }
}

fn seat_of(leases: &Leases, name: &str, nature: Nature) -> Arc<Seat> {
    let seat = Arc::new(Seat::new(lease(name), nature));
    assert!(matches!(leases.seat(seat.clone()), Taken::Seated { earlier: None }));
    seat
}

fn seat(leases: &Leases, name: &str) -> Arc<Seat> {
    seat_of(leases, name, ONCE)
}

#[test]
fn a_repeated_offer_takes_no_second_seat() {
    let leases = Leases::new(2);
    let offered = || Arc::new(Seat::new(lease("a"), ONCE));
    let first = seat(&leases, "a");
    assert!(matches!(leases.seat(offered()), Taken::Again(seat) if Arc::ptr_eq(&seat, &first)));
    assert_eq!((leases.len(), leases.free_slots()), (1, 1));
    assert!(leases.begin(&lease("a")) && leases.end(&lease("a"), ExecutionDone::default()));
    assert!(matches!(leases.seat(offered()), Taken::Over(_)));
    assert_eq!((leases.len(), leases.free_slots()), (1, 2));
}

#[test]
fn a_newer_lease_of_a_call_takes_the_place_of_the_older() {
    let leases = Leases::new(2);
    let of = |lease_no| Arc::new(Seat::new(LeaseRef { lease_no, ..lease("a") }, ONCE));
    assert!(matches!(leases.seat(of(2)), Taken::Seated { earlier: None }));
    assert!(matches!(leases.seat(of(1)), Taken::Stale));
    assert!(matches!(leases.seat(of(3)), Taken::Seated { earlier: Some(earlier) } if earlier.lease.lease_no == 2));
    assert_eq!((leases.len(), leases.busy()), (1, 1));
}

#[test]
fn leases_are_renewed_from_half_a_heartbeat_on_or_when_a_start_waits_for_it() {
    let (leases, terms) = (Leases::new(4), Terms::default());
    seat(&leases, "fresh");
    assert_eq!(leases.due(&terms, Moment::now()).len(), 0);
    seat_of(&leases, "locked", LOCKED);
    let due =
        |leases: &Leases| leases.due(&terms, Moment::now()).iter().map(|seat| seat.lease.clone()).collect::<Vec<_>>();
    assert_eq!(due(&leases), [lease("locked")]);
    leases.get(&lease("locked")).unwrap().renewed(Moment::now());
    assert_eq!(due(&leases), []);
    terms.set(10, 0);
    toolplane_wait::block(Duration::from_millis(10), "leases age by the clock of the machine, asleep or not");
    assert_eq!(due(&leases).len(), 2);
}

#[test]
fn only_running_holders_of_exclusive_locks_are_in_doubt_and_only_once() {
    let (leases, terms) = (Leases::new(4), Terms::default());
    terms.set(0, 50);
    seat_of(&leases, "waits", LOCKED);
    let holder = seat_of(&leases, "holds", LOCKED);
    seat(&leases, "free");
    assert!(leases.begin(&lease("holds")) && leases.begin(&lease("free")));
    holder.renewed(Moment::now());
    assert_eq!(leases.in_doubt(&terms, Moment::now()).len(), 0);
    toolplane_wait::block(Duration::from_millis(50), "leases age by the clock of the machine, asleep or not");
    let doubtful = leases.in_doubt(&terms, Moment::now());
    assert!(matches!(&doubtful[..], [seat] if Arc::ptr_eq(seat, &holder)));
    holder.stop(Stop::InDoubt);
    assert_eq!(leases.in_doubt(&terms, Moment::now()).len(), 0);
}

#[test]
fn a_grant_renews_from_when_it_was_first_asked_for() {
    let seat = Seat::new(lease("a"), LOCKED);
    assert!(seat.must_be_renewed_first());
    let _first = seat.expect_grant();
    let asked = Moment::now();
    toolplane_wait::block(Duration::from_millis(10), "leases age by the clock of the machine, asleep or not");
    let mut granted = seat.expect_grant();
    seat.granted();
    assert!(granted.try_recv().is_ok() && !seat.must_be_renewed_first());
    assert!(seat.last_renewed() <= asked);
}

#[test]
fn a_lease_taken_away_neither_begins_nor_ends() {
    let leases = Leases::new(2);
    seat(&leases, "a");
    leases.forget(&lease("a")).unwrap().stop(Stop::Fenced);
    assert!(!leases.begin(&lease("a")));
    assert!(!leases.end(&lease("a"), ExecutionDone::default()));
}

#[test]
fn a_stop_before_the_start_prevents_it_and_the_first_reason_stays() {
    let leases = Leases::new(2);
    let seat = seat(&leases, "a");
    seat.stop(Stop::Cancel(AbortReason::UserInterruption));
    seat.stop(Stop::Shutdown);
    assert_eq!(seat.stop_reason(), Some(Stop::Cancel(AbortReason::UserInterruption)));
    seat.stop(Stop::Fenced);
    assert_eq!(seat.stop_reason(), Some(Stop::Fenced), "but for the loss of the lease");
    assert!(seat.stopped.is_cancelled() && !leases.begin(&lease("a")));
}

#[test]
fn it_begins_once_and_an_end_frees_the_slot_but_is_kept() {
    let leases = Leases::new(1);
    seat(&leases, "a");
    assert!(leases.begin(&lease("a")) && !leases.begin(&lease("a")));
    assert_eq!((leases.running().len(), leases.free_slots()), (1, 0));
    assert!(leases.end(&lease("a"), ExecutionDone { lease: Some(lease("a")), outcome: None }));
    assert_eq!((leases.running().len(), leases.free_slots(), leases.len()), (0, 1, 1));
    let snapshot = leases.snapshot();
    assert_eq!((snapshot.held, snapshot.ended.len()), (Vec::new(), 1));
    assert_eq!(leases.unheard(Duration::from_secs(60)).len(), 0);
    assert_eq!(leases.unheard(Duration::ZERO).len(), 1);
    assert!(leases.forget(&lease("a")).is_some());
    assert_eq!(leases.len(), 0);
}

#[test]
fn only_what_has_not_begun_is_given_back() {
    let leases = Leases::new(4);
    seat(&leases, "runs");
    assert!(leases.begin(&lease("runs")));
    let waits = seat(&leases, "waits");
    let _grant = waits.expect_grant();
    assert_eq!(leases.snapshot().asked, vec![lease("waits")]);
    let given_back: Vec<_> = leases.take_waiting().iter().map(|seat| seat.lease.clone()).collect();
    assert_eq!(given_back, vec![lease("waits")]);
    assert_eq!(leases.refs(), vec![lease("runs")]);
}
