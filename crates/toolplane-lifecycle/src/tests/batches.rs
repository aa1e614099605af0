//! Random batches: every member ends once, results come in order, bounds hold, and exactly the declared ones are canceled.

mod world;

use proptest::prelude::*;
use toolplane_records::scheduling::SchedulerPolicy;
use toolplane_records::vocabulary::*;

use self::world::{Begins, Plan, World, member_id, plan, policy};
use super::fixtures::*;
use crate::batch::settle;
use crate::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn any_batch_ends_as_declared(
        plans in prop::collection::vec(plan(), 1..=64), policy in policy(), seed: u64, eager: bool,
    ) {
        let mut world = World::new(plans, policy, seed);
        world.settle();
        loop {
            let moved = world.happen();
            if !moved || eager || world.choose(4) == 0 {
                world.settle();
            }
            if !moved && !world.happen() {
                break;
            }
        }
        world.settle();
        world.check_end();
    }
}

fn simple(ends: ResultStatus) -> Plan {
    Plan { depends_on: Vec::new(), sibling: None, interruptible: true, begins: Begins::Ready, ends }
}

/// Runs a batch to its end, first come first served.
fn play(plans: Vec<Plan>, policy: SchedulerPolicy) -> World {
    let mut world = World::new(plans, policy, 7);
    world.settle();
    while world.happen() {
        world.settle();
    }
    world.check_end();
    world
}

fn canceled(world: &World) -> Vec<usize> {
    (0..world.calls.len()).filter(|index| world.batch.members[*index].canceled_by.is_some()).collect()
}

/// Twenty-seven serial calls of which the fourth fails, under each policy.
#[test]
fn one_failure_under_each_policy() {
    for (sibling, expected) in [
        (SiblingFailurePolicy::Ignore, vec![]),
        (SiblingFailurePolicy::CancelDependent, vec![5, 6]),
        (SiblingFailurePolicy::CancelSiblings, (4..27).collect()),
    ] {
        let mut plans: Vec<Plan> = (0..27).map(|_| simple(ResultStatus::Succeeded)).collect();
        plans[3].ends = ResultStatus::Failed;
        plans[5].depends_on = vec![3];
        plans[6].depends_on = vec![0, 5];
        let policy = SchedulerPolicy {
            ordering_policy: Some(OrderingPolicy::Serial),
            sibling_failure_policy: Some(sibling),
            ..SchedulerPolicy::default()
        };
        let world = play(plans, policy);
        assert_eq!(canceled(&world), expected, "{sibling}");
        assert_eq!(world.yields, (0..27).collect::<Vec<_>>());
    }
}

/// A call that is not to be bothered by its siblings says so itself.
#[test]
fn a_member_can_stand_apart() {
    let mut plans: Vec<Plan> = (0..4).map(|_| simple(ResultStatus::Succeeded)).collect();
    plans[0].ends = ResultStatus::Failed;
    plans[2].sibling = Some(SiblingFailurePolicy::Ignore);
    let policy = SchedulerPolicy {
        max_parallel: Some(1),
        sibling_failure_policy: Some(SiblingFailurePolicy::CancelSiblings),
        ..SchedulerPolicy::default()
    };
    assert_eq!(canceled(&play(plans, policy)), [1, 3]);
}

/// A call that waits for a person keeps no other call waiting, unless the batch is serial.
#[test]
fn a_parked_call_holds_up_only_serial_batches() {
    for (ordering, runs) in [(None, true), (Some(OrderingPolicy::Serial), false)] {
        let mut plans: Vec<Plan> = (0..2).map(|_| simple(ResultStatus::Succeeded)).collect();
        plans[0].begins = Begins::Parked { approved: true };
        let policy = SchedulerPolicy { max_parallel: Some(1), ordering_policy: ordering, ..SchedulerPolicy::default() };
        let mut world = World::new(plans, policy, 1);
        world.settle();
        assert_eq!(world.batch.members[1].released, runs);
    }
}

/// Retention may take a record before its batch: the batch goes on without it.
#[test]
fn a_record_that_is_gone_does_not_block_its_batch() {
    let mut world =
        World::new((0..2).map(|_| simple(ResultStatus::Succeeded)).collect(), SchedulerPolicy::default(), 1);
    world.settle();
    let known = Known::from([(member_id(0), None), (member_id(1), Some(world.calls[1].clone()))]);
    let step = settle(&world.batch, &known, at(1));
    assert!(step.batch.members[0].discarded && step.batch.next_yield == 1);
}

/// However many results wait behind one, they are asked for at once: each settling reads, and is not repeated without end.
#[test]
fn results_that_wait_are_asked_for_together() {
    let mut world =
        World::new((0..40).map(|_| simple(ResultStatus::Succeeded)).collect(), SchedulerPolicy::default(), 1);
    world.settle();
    let mut batch = world.batch.clone();
    batch.members.iter_mut().for_each(|member| member.ended = Some(InvocationStatus::Canceled));
    let step = settle(&batch, &Known::new(), at(1));
    assert_eq!(step.missing.len(), 40);
}
