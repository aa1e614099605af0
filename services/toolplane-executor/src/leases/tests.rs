use std::sync::Arc;
use std::time::Duration;

use toolplane_proto::v1::{ExecutionDone, LeaseRef};
use toolplane_records::vocabulary::AbortReason;

use super::{Leases, Seat, Stop};

fn lease(name: &str) -> LeaseRef {
    LeaseRef { invocation_id: name.to_owned(), lease_no: 1, lease_id: format!("lease-{name}") }
}

fn seat(leases: &Leases, name: &str) -> Arc<Seat> {
    let seat = Arc::new(Seat::new(lease(name), false, true));
    assert!(leases.seat(seat.clone()));
    seat
}

#[test]
fn a_repeated_offer_takes_no_second_seat() {
    let leases = Leases::new(2);
    seat(&leases, "a");
    assert!(!leases.seat(Arc::new(Seat::new(lease("a"), false, true))));
    assert_eq!((leases.len(), leases.free_slots()), (1, 1));
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
    assert_eq!((snapshot.held, snapshot.ended.len()), (vec![lease("a")], 1));
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
