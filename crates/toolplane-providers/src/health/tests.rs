use proptest::prelude::*;
use toolplane_records::vocabulary::{LoadingState, ProviderTrust, Recoverability};

use super::*;
use crate::fixtures::{at, provider};

fn badly(fault: ProviderFault) -> Outcome {
    Outcome::Badly { fault, message: "it said \u{1b}[2Jthis".to_owned() }
}

/// A provider over time.
struct World {
    policy: Policy,
    status: ProviderStatus,
    now: i64,
}

impl World {
    fn new() -> Self {
        Self { policy: Policy::default(), status: fresh(&provider("gh", ProviderTrust::Untrusted), at(0)), now: 0 }
    }

    /// One that said what it has.
    fn ready() -> Self {
        let mut world = Self::new();
        world.tried(Outcome::Well);
        world
    }

    fn tried(&mut self, outcome: Outcome) -> ProviderState {
        self.status = self.policy.tried(&self.status, &outcome, Some(600_000), at(self.now), Jitter(0));
        self.status.state
    }

    fn called(&mut self, outcome: Outcome) -> (ProviderState, CircuitState) {
        self.status = self.policy.called(&self.status, &outcome, at(self.now), Jitter(0));
        (self.status.state, self.status.circuit)
    }

    /// Seconds until it is asked again.
    fn next(&self) -> i64 {
        self.status.next_try_at.unwrap().since_millis(at(self.now)) / 1000
    }

    fn admit(&self) -> Admission {
        admit(&self.status, at(self.now))
    }
}

#[test]
fn a_provider_that_never_answered_has_failed_and_is_tried_ever_less() {
    let mut world = World::new();
    assert_eq!(world.status.state, ProviderState::Pending);
    assert!(is_due(&world.status, at(0)) && !is_due(&world.status, at(-1)));
    let mut waits = Vec::new();
    for _ in 0..10 {
        assert_eq!(world.tried(badly(ProviderFault::Unreachable)), ProviderState::Failed);
        waits.push(world.next());
        world.now += world.next();
    }
    assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
    assert_eq!(world.tried(Outcome::Well), ProviderState::Ready);
    assert_eq!((world.next(), &world.status.fault, world.status.circuit), (600, &None, CircuitState::Closed));
}

#[test]
fn one_that_was_well_is_degraded_before_it_has_failed_and_its_tools_stay() {
    let mut world = World::ready();
    world.status.tools.imported = 7;
    let states: Vec<_> = (0..3).map(|_| world.tried(badly(ProviderFault::TimedOut))).collect();
    assert_eq!(states, [ProviderState::Degraded, ProviderState::Degraded, ProviderState::Failed]);
    assert_eq!((world.status.tools.imported, world.status.last_success_at), (7, Some(at(0))));
    assert_eq!(loading_state(&world.status), Some(LoadingState::Unavailable));
    let error = away(&world.status, at(0)).unwrap();
    assert_eq!(error.message, "the provider `gh` is away (it does not answer in time); it is tried again in 80 s");
    assert_eq!((error.retry_after_ms, error.recoverability), (Some(80_000), Recoverability::RetryLater));
    let line = line(&world.status, at(30));
    let expected = "failed; it does not answer in time, 3 times in a row: it said \\u{1b}[2Jthis; said what it has 30 s ago; \
        asked again now; calls are let through again in 50 s";
    assert_eq!(line, expected);
}

#[test]
fn the_circuit_opens_tries_and_closes() {
    let mut world = World::ready();
    let bad = || badly(ProviderFault::TimedOut);
    let (closed, open) = (CircuitState::Closed, CircuitState::Open);
    assert_eq!(world.called(bad()), (ProviderState::Ready, closed));
    assert_eq!(world.called(bad()), (ProviderState::Degraded, closed));
    assert_eq!((world.called(bad()), world.called(bad()).1), ((ProviderState::Degraded, closed), closed));
    assert_eq!(world.called(bad()), (ProviderState::Degraded, open));
    assert_eq!(world.admit(), Admission::Refuse { retry_after_ms: 5_000 });
    // Calls that were on their way do not make it wait longer.
    world.called(bad());
    assert_eq!(world.admit(), Admission::Refuse { retry_after_ms: 5_000 });
    // What it says it has is no proof that calls come through.
    assert_eq!((world.tried(Outcome::Well), world.status.circuit), (ProviderState::Degraded, open));
    world.now += 5;
    assert_eq!(world.admit(), Admission::Probe);
    world.status = world.policy.probing(&world.status, at(world.now));
    assert_eq!(world.admit(), Admission::Refuse { retry_after_ms: 60_000 });
    let meanwhile = away(&world.status, at(world.now)).unwrap();
    assert!(meanwhile.message.ends_with("; a call tries whether it is back"), "{}", meanwhile.message);
    assert_eq!(meanwhile.retry_after_ms, Some(5_000));
    assert_eq!(world.called(bad()).1, open);
    assert_eq!(world.admit(), Admission::Refuse { retry_after_ms: 10_000 });
    // The one that tries is never heard of again: another one may.
    world.now += 10;
    world.status = world.policy.probing(&world.status, at(world.now));
    world.now += 60;
    assert_eq!(world.admit(), Admission::Probe);
    assert_eq!(world.called(Outcome::Well), (ProviderState::Ready, closed));
    assert_eq!((world.admit(), world.status.times_opened, &world.status.fault), (Admission::Pass, 0, &None));
}

#[test]
fn a_flood_or_a_lie_opens_it_at_once_and_a_list_does_not_close_it() {
    for fault in [ProviderFault::Flooded, ProviderFault::Lied] {
        let mut world = World::ready();
        assert_eq!(world.called(badly(fault)), (ProviderState::Degraded, CircuitState::Open));
        world.tried(Outcome::Well);
        assert_eq!(world.status.circuit, CircuitState::Open, "{fault}");
        let mut world = World::ready();
        assert_eq!((world.tried(badly(fault)), world.status.circuit), (ProviderState::Failed, CircuitState::Open));
        assert_eq!((world.tried(Outcome::Well), world.status.circuit), (ProviderState::Ready, CircuitState::Closed));
    }
}

#[test]
fn what_a_person_has_to_mend_is_not_asked_in_vain() {
    let mut world = World::ready();
    world.tried(badly(ProviderFault::Unauthorized));
    assert_eq!(world.next(), 900);
    assert!(line(&world.status, at(0)).ends_with("somebody has to mend it"));
    // A person who mended it does not wait.
    world.now += 60;
    world.status = world.policy.wanted(&world.status, false, at(world.now));
    assert_eq!(world.next(), 0);
}

#[test]
fn however_often_it_is_wanted_it_is_not_asked_more_often() {
    let mut world = World::ready();
    world.now = 1;
    for _ in 0..1000 {
        world.status = world.policy.wanted(&world.status, true, at(world.now));
        assert_eq!(world.next(), 4);
    }
    // One that fails does not get around its wait by saying that its list has changed.
    world.tried(badly(ProviderFault::ProtocolError));
    world.tried(badly(ProviderFault::ProtocolError));
    world.status = world.policy.wanted(&world.status, true, at(world.now));
    assert_eq!(world.next(), 10);
}

#[test]
fn what_is_retired_stays_so() {
    let mut world = World::ready();
    world.status = retired(&world.status);
    assert_eq!(world.tried(Outcome::Well), ProviderState::Retired);
    assert_eq!(world.called(Outcome::Well).0, ProviderState::Retired);
    assert_eq!((world.admit(), is_due(&world.status, at(9999))), (Admission::Retired, false));
    world.status = world.policy.wanted(&world.status, false, at(9));
    assert_eq!(world.status.next_try_at, None);
    assert_eq!(away(&world.status, at(0)).unwrap().message, "the provider `gh` is retired");
    assert_eq!(line(&world.status, at(0)), "retired");
}

#[test]
fn a_call_that_comes_through_says_that_it_is_there() {
    let mut world = World::ready();
    for _ in 0..4 {
        world.tried(badly(ProviderFault::ProtocolError));
    }
    assert_eq!((world.status.state, world.status.circuit), (ProviderState::Failed, CircuitState::Open));
    assert_eq!(world.called(Outcome::Well), (ProviderState::Degraded, CircuitState::Closed));
    assert!(world.status.fault.is_some(), "the list is still not said");
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let faults = prop::sample::select(ProviderFault::ALL);
    prop_oneof![Just(Outcome::Well), faults.prop_map(|fault| Outcome::Badly { fault, message: String::new() })]
}

proptest! {
    #[test]
    fn waits_are_bounded_and_half_left_to_chance(failures in 1..200u32, jitter in any::<u32>(), fault in prop::sample::select(ProviderFault::ALL)) {
        let policy = Policy::default();
        let (longest, wait) = (policy.wait(fault, failures, Jitter(0)), policy.wait(fault, failures, Jitter(jitter)));
        prop_assert!(longest <= policy.max_wait_ms);
        prop_assert!(longest / 2 <= wait && wait <= longest);
        prop_assert!(policy.wait(fault, failures + 1, Jitter(0)) >= longest);
    }

    /// Whatever happens in whatever order: what may be called and what is said agree, no state is for ever, and nothing panics.
    #[test]
    fn any_story_ends_well(
        story in prop::collection::vec((0..4u8, outcomes(), 0..400i64, any::<u32>()), 0..60),
    ) {
        let mut world = World::new();
        for (what, outcome, seconds, jitter) in story {
            world.now += seconds;
            let (now, jitter) = (at(world.now), Jitter(jitter));
            let admission = world.admit();
            world.status = match what {
                0 => world.policy.tried(&world.status, &outcome, Some(60_000), now, jitter),
                1 => world.policy.called(&world.status, &outcome, now, jitter),
                2 if admission == Admission::Probe => world.policy.probing(&world.status, now),
                _ => world.policy.wanted(&world.status, jitter.0 % 2 == 0, now),
            };
            let refused = matches!(world.admit(), Admission::Refuse { .. });
            prop_assert_eq!(away(&world.status, now).is_some(), refused);
            let until = world.status.circuit_until;
            prop_assert_eq!(until.is_some(), world.status.circuit != CircuitState::Closed);
            // Ready is said only where calls pass and the last list was one.
            if world.status.state == ProviderState::Ready {
                prop_assert_eq!((world.admit(), world.status.consecutive_failures), (Admission::Pass, 0));
            }
            // It is always asked again, within what is the longest wait.
            let longest = i64::try_from(world.policy.max_wait_ms).unwrap();
            prop_assert!(world.status.next_try_at.is_some_and(|next| next.since_millis(now) <= longest));
        }
        world.now += 10_000;
        world.tried(Outcome::Well);
        world.called(Outcome::Well);
        prop_assert_eq!((world.status.state, world.admit()), (ProviderState::Ready, Admission::Pass));
    }
}
