//! Random lock traffic: no call shares what excludes, none overtakes, none waits without end.

use std::collections::BTreeMap;

use proptest::prelude::*;
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::locks::LockDomain;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::locks::{LocksStep, conflict, settle};
use crate::*;

const LINGER_MS: i64 = 15_000;

fn lock(key: u8, exclusive: bool) -> ResourceLock {
    let mode = if exclusive { LockMode::Exclusive } else { LockMode::Shared };
    ResourceLock { key: format!("k{key}"), mode }
}

fn waiting(index: usize, locks: Vec<ResourceLock>, now: i64) -> Invocation {
    let acceptance = Acceptance {
        invocation_id: InvocationId::from_trusted(format!("inv_{index:03}")),
        resource_locks: locks,
        lock_domain: Some("session:s".into()),
        ..acceptance(false)
    };
    let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: dispatch(false, true) };
    accept(acceptance, preparation, at(now)).unwrap().invocation
}

/// How a call that runs comes to its end.
#[derive(Clone, Copy, Debug)]
enum End {
    Done,
    Lost,
    CanceledBefore,
}

struct World {
    domain: LockDomain,
    calls: BTreeMap<InvocationId, Invocation>,
    /// Calls with news, as the scope's index has them.
    entries: Vec<InvocationId>,
    granted: Vec<(u64, InvocationId)>,
    /// Until when a lost holder may still be at work.
    ghosts: Vec<(Vec<ResourceLock>, i64)>,
    now: i64,
}

impl World {
    fn new() -> Self {
        Self {
            domain: LockDomain::new(TenantId::unauthenticated(), "session:s"),
            calls: BTreeMap::new(),
            entries: Vec::new(),
            granted: Vec::new(),
            ghosts: Vec::new(),
            now: 0,
        }
    }

    fn arrive(&mut self, locks: Vec<ResourceLock>) {
        let call = waiting(self.calls.len(), locks, self.now);
        self.entries.push(call.invocation_id.clone());
        self.calls.insert(call.invocation_id.clone(), call);
    }

    fn decide(&self) -> LocksStep {
        let read = |id: &InvocationId| (id.clone(), self.calls.get(id).cloned());
        let mut known: Known = self.entries.iter().map(read).collect();
        loop {
            let step = settle(&self.domain, &known, LINGER_MS, at(self.now));
            if step.missing.is_empty() {
                return step;
            }
            known.extend(step.missing.iter().map(read));
        }
    }

    fn settle(&mut self) {
        let (lost, step) = (self.decide(), self.decide());
        assert_eq!(lost.domain, step.domain, "deciding again decides the same");
        for transition in &step.transitions {
            let call = &transition.invocation;
            let fence = call.lock_fence.unwrap();
            let busy =
                |(locks, until): &(Vec<ResourceLock>, i64)| *until > self.now && conflict(locks, &call.resource_locks);
            assert!(!self.ghosts.iter().any(busy), "nothing is granted that a lost holder may still use");
            assert!(transition.effects.contains(&Effect::Enqueue));
            // First come, first served among those who exclude each other; their fences say so.
            for (earlier, id) in &self.granted {
                let excludes = conflict(&self.calls[id].resource_locks, &call.resource_locks);
                assert!(!excludes || *earlier < fence, "{id} was granted before its turn");
            }
            self.granted.push((fence, call.invocation_id.clone()));
        }
        self.domain = step.domain;
        self.entries.retain(|id| step.lingering.contains(id));
        for transition in step.transitions {
            self.calls.insert(transition.id().clone(), transition.invocation);
        }
        let again = self.decide();
        assert_eq!((&again.domain, again.transitions.len()), (&self.domain, 0), "settled is settled");
        self.check();
    }

    fn check(&self) {
        assert_eq!(check_locks(&self.domain), Ok(()));
        let holders: Vec<&Invocation> = self.calls.values().filter(|call| is_holder(call)).collect();
        for (place, one) in holders.iter().enumerate() {
            for other in &holders[..place] {
                assert!(!conflict(&one.resource_locks, &other.resource_locks), "two holders exclude each other");
            }
            let ticket = self.domain.tickets.iter().find(|ticket| ticket.invocation_id == one.invocation_id);
            assert!(ticket.is_some_and(|ticket| ticket.granted), "whoever may run has its ticket");
        }
        // Some call can always run, or a lost holder that may still be at work is being waited for.
        let waits = self.calls.values().any(|call| call.holds == [Hold::Locks]);
        let lingers = self.domain.tickets.iter().any(|ticket| ticket.linger_until.is_some());
        assert!(!waits || lingers || !holders.is_empty() || !self.entries.is_empty(), "a deadlock");
    }

    fn end(&mut self, choice: usize, end: End) {
        let running: Vec<InvocationId> =
            self.calls.values().filter(|call| is_holder(call)).map(|call| call.invocation_id.clone()).collect();
        let Some(id) = running.get(choice % running.len().max(1)) else { return };
        let call = self.calls[id].clone();
        let call = match end {
            End::CanceledBefore => apply(&call, cancel_request(), at(self.now)).unwrap().invocation,
            End::Done | End::Lost => {
                let claimed = apply(&call, Command::Claim(grant(1)), at(self.now)).unwrap().invocation;
                let start = Command::Start { lease: key(&claimed), lease_ms: 10 };
                let running = apply(&claimed, start, at(self.now)).unwrap().invocation;
                let command = match end {
                    End::Lost => Command::WorkerGone { worker_id: "w".parse().unwrap(), incarnation: "1".into() },
                    _ => complete(&running, ResultStatus::Succeeded, None),
                };
                apply(&running, command, at(self.now)).unwrap().invocation
            }
        };
        if matches!(end, End::Lost) {
            let exclusive = call.resource_locks.iter().filter(|lock| lock.mode == LockMode::Exclusive).cloned();
            self.ghosts.push((exclusive.collect(), self.now + LINGER_MS));
        }
        self.entries.push(id.clone());
        self.calls.insert(id.clone(), call);
    }
}

fn is_holder(call: &Invocation) -> bool {
    !call.status.is_terminal() && call.holds.is_empty()
}

#[derive(Clone, Debug)]
enum Step {
    Arrive(Vec<ResourceLock>),
    End(usize, End),
    Settle,
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let locks = prop::collection::vec((0_u8..4, any::<bool>()).prop_map(|(key, exclusive)| lock(key, exclusive)), 1..4);
    let end = prop_oneof![4 => Just(End::Done), 1 => Just(End::Lost), 1 => Just(End::CanceledBefore)];
    prop_oneof![
        4 => locks.prop_map(Step::Arrive),
        4 => (any::<usize>(), end).prop_map(|(choice, end)| Step::End(choice, end)),
        4 => Just(Step::Settle),
        1 => (0_i64..20_000).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_lock_traffic_is_orderly(steps in prop::collection::vec(step(), 0..120)) {
        let mut world = World::new();
        for step in steps {
            match step {
                Step::Arrive(locks) => world.arrive(locks),
                Step::End(choice, end) => world.end(choice, end),
                Step::Settle => world.settle(),
                Step::Wait(millis) => world.now += millis,
            }
        }
        // Whatever came before, every call gets its locks in the end, and nothing is left.
        for _ in 0..400 {
            world.now += LINGER_MS;
            world.settle();
            world.end(0, End::Done);
        }
        world.settle();
        prop_assert!(world.calls.values().all(|call| call.status.is_terminal()));
        prop_assert!(world.domain.tickets.is_empty());
    }
}

fn names(world: &World) -> Vec<&str> {
    world.granted.iter().map(|(_, id)| id.as_str()).collect()
}

/// Readers share; a writer waits for them, and later readers wait for the writer.
#[test]
fn readers_do_not_barge_past_a_writer() {
    let mut world = World::new();
    for exclusive in [false, false, true, false] {
        world.now += 1;
        world.arrive(vec![lock(1, exclusive)]);
    }
    world.settle();
    assert_eq!(names(&world), ["inv_000", "inv_001"]);
    world.end(0, End::Done);
    world.settle();
    assert_eq!(world.granted.len(), 2, "one reader is left");
    world.end(0, End::Done);
    world.settle();
    assert_eq!(names(&world)[2..], ["inv_002"]);
    world.end(0, End::Done);
    world.settle();
    assert_eq!(names(&world)[3..], ["inv_003"]);
}

/// Only calls that are kept by nothing else draw a ticket, so that every holder can run.
#[test]
fn who_is_held_by_its_batch_draws_no_ticket() {
    let mut call = waiting(0, vec![lock(1, true)], 0);
    call.holds = vec![Hold::Batch, Hold::Locks];
    let domain = LockDomain::new(TenantId::unauthenticated(), "session:s");
    let known = Known::from([(call.invocation_id.clone(), Some(call))]);
    let step = settle(&domain, &known, LINGER_MS, at(0));
    assert!(step.domain.tickets.is_empty() && step.transitions.is_empty() && step.missing.is_empty());
}

/// After an unknown outcome the exclusive lock waits for the worker to have stopped; shared ones are free at once.
#[test]
fn an_unknown_outcome_keeps_its_exclusive_locks_a_while() {
    let mut world = World::new();
    world.arrive(vec![lock(1, true), lock(2, false)]);
    world.settle();
    world.end(0, End::Lost);
    world.now += 1;
    world.arrive(vec![lock(1, false)]);
    world.arrive(vec![lock(2, true)]);
    world.settle();
    assert_eq!(names(&world), ["inv_000", "inv_002"]);
    let step = world.decide();
    assert_eq!((step.wake_at, step.lingering.len()), (Some(at(LINGER_MS)), 1));
    world.now = LINGER_MS - 1;
    world.settle();
    assert_eq!(world.granted.len(), 2);
    world.now = LINGER_MS;
    world.settle();
    assert_eq!(names(&world)[2..], ["inv_001"]);
}

/// A call that is asked about again gives its place up, and the next one gets it.
#[test]
fn a_parked_call_gives_its_ticket_back() {
    let mut world = World::new();
    world.arrive(vec![lock(1, true)]);
    world.now += 1;
    world.arrive(vec![lock(1, true)]);
    world.settle();
    let id = world.granted[0].1.clone();
    let again = Command::AskAgain {
        decision: decision(Behavior::Ask),
        approval_id: "apr_2".parse().unwrap(),
        expires_at: at(100_000),
    };
    let parked = apply(&world.calls[&id], again, at(5)).unwrap().invocation;
    world.calls.insert(id.clone(), parked);
    world.entries.push(id);
    world.settle();
    assert_eq!(names(&world), ["inv_000", "inv_001"]);
    assert_eq!(world.domain.tickets.len(), 1);
}

/// Safe calls share their context; any other is alone with it, and safe ones do not overtake it.
#[test]
fn a_context_is_shared_by_safe_calls_only() {
    let safety =
        |alone| toolplane_records::invocation::InputSafety { requires_exclusive_context: alone, ..Default::default() };
    let mut world = World::new();
    for alone in [false, false, true, false] {
        world.now += 1;
        world.arrive(vec![crate::locks::of_context(safety(alone))]);
    }
    world.settle();
    assert_eq!(names(&world), ["inv_000", "inv_001"]);
    world.end(0, End::Done);
    world.end(0, End::Done);
    world.settle();
    assert_eq!(names(&world)[2..], ["inv_002"]);
    world.end(0, End::Done);
    world.settle();
    assert_eq!(names(&world)[3..], ["inv_003"]);
}
