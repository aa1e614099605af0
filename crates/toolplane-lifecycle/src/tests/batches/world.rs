//! A store with one batch, workers and people who do something at random, and the rules written down a second time.

use proptest::prelude::*;
use toolplane_records::batch::{Batch, BatchMember, BatchPlace};
use toolplane_records::ids::{ApprovalId, BatchId, InvocationId, TenantId};
use toolplane_records::invocation::{DispatchFacts, Invocation};
use toolplane_records::payload::Digest;
use toolplane_records::scheduling::SchedulerPolicy;
use toolplane_records::vocabulary::*;

use crate::batch::policy::is_unordered;
use crate::batch::{BatchStep, settle};
use crate::tests::fixtures::*;
use crate::*;

/// How one call of the batch is declared, and how it will go.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) depends_on: Vec<u32>,
    pub(super) sibling: Option<SiblingFailurePolicy>,
    pub(super) interruptible: bool,
    pub(super) begins: Begins,
    pub(super) ends: ResultStatus,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Begins {
    Ready,
    Parked { approved: bool },
    Refused,
}

pub(super) fn sibling_policy() -> impl Strategy<Value = Option<SiblingFailurePolicy>> {
    prop::option::of(prop::sample::select(SiblingFailurePolicy::ALL.to_vec()))
}

pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let begins = prop_oneof![
        8 => Just(Begins::Ready),
        1 => any::<bool>().prop_map(|approved| Begins::Parked { approved }),
        1 => Just(Begins::Refused),
    ];
    let ends = prop_oneof![
        6 => Just(ResultStatus::Succeeded),
        1 => Just(ResultStatus::Failed),
        1 => Just(ResultStatus::TimedOut),
    ];
    // Positions are drawn freely and then brought into the range of earlier calls.
    let edges = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(any::<u32>(), 1..3)];
    (edges, prop::option::weighted(0.2, sibling_policy()), any::<bool>(), begins, ends).prop_map(
        |(depends_on, sibling, interruptible, begins, ends)| Plan {
            depends_on,
            sibling: sibling.flatten(),
            interruptible,
            begins,
            ends,
        },
    )
}

pub(super) fn policy() -> impl Strategy<Value = SchedulerPolicy> {
    (
        prop::option::of(1_u32..6),
        prop::option::of(prop::sample::select(OrderingPolicy::ALL.to_vec())),
        prop::option::of(prop::sample::select(YieldPolicy::ALL.to_vec())),
        sibling_policy(),
    )
        .prop_map(|(max_parallel, ordering_policy, yield_policy, sibling_failure_policy)| SchedulerPolicy {
            scheduler_policy_id: "p".into(),
            max_parallel,
            ordering_policy,
            yield_policy,
            sibling_failure_policy,
            ..SchedulerPolicy::default()
        })
}

pub(super) fn member_id(index: usize) -> InvocationId {
    InvocationId::from_trusted(format!("inv_{index}"))
}

pub(super) fn accepted(index: usize, plan: &Plan) -> Transition {
    let interrupt_behavior = if plan.interruptible { InterruptBehavior::Cancel } else { InterruptBehavior::Block };
    let facts = DispatchFacts { interrupt_behavior, ..dispatch(false, true) };
    let place = BatchPlace { batch_id: BatchId::from_trusted("bat_1"), index: u32::try_from(index).unwrap() };
    let acceptance =
        Acceptance { invocation_id: member_id(index), batch: Some(place), held_by_batch: true, ..acceptance(false) };
    let preparation = match plan.begins {
        Begins::Ready => Preparation::Ready { decision: decision(Behavior::Allow), dispatch: facts },
        Begins::Refused => Preparation::SchemaRefused { error: error(ErrorClass::SchemaValidationFailed) },
        Begins::Parked { .. } => Preparation::Asked {
            decision: decision(Behavior::Ask),
            approval_id: ApprovalId::from_trusted("apr_1"),
            expires_at: at(60_000),
            dispatch: facts,
        },
    };
    accept(acceptance, preparation, at(0)).unwrap()
}

pub(super) fn batch(plans: &[Plan], policy: SchedulerPolicy) -> Batch {
    let member = |(index, plan): (usize, &Plan)| BatchMember {
        invocation_id: member_id(index),
        tool_name: "t".into(),
        depends_on: plan.depends_on.clone(),
        sibling_failure_policy: plan.sibling,
        interrupt_behavior: if plan.interruptible { InterruptBehavior::Cancel } else { InterruptBehavior::Block },
        background: plan.interruptible && index % 3 == 2,
        released: false,
        ended: None,
        yield_seq: None,
        canceled_by: None,
        discarded: false,
    };
    Batch {
        schema_version: toolplane_records::schema_version(),
        batch_id: BatchId::from_trusted("bat_1"),
        tenant: TenantId::unauthenticated(),
        policy,
        session_ref: None,
        lock_domain: None,
        request_digest: Digest::of(b"batch"),
        idempotency_key: None,
        created_at: at(0),
        members: plans.iter().enumerate().map(member).collect(),
        next_yield: 0,
        yields: 0,
        ended_at: None,
    }
}

/// A store with one batch, and a source of choices that repeats.
pub(super) struct World {
    pub(super) batch: Batch,
    pub(super) calls: Vec<Invocation>,
    pub(super) ends: Vec<usize>,
    pub(super) yields: Vec<usize>,
    pub(super) plans: Vec<Plan>,
    seed: u64,
    now: i64,
}

impl World {
    pub(super) fn new(mut plans: Vec<Plan>, policy: SchedulerPolicy, seed: u64) -> Self {
        for (index, plan) in plans.iter_mut().enumerate() {
            let earlier = u32::try_from(index).unwrap();
            plan.depends_on =
                if earlier == 0 { Vec::new() } else { plan.depends_on.iter().map(|edge| edge % earlier).collect() };
        }
        let first: Vec<Transition> = plans.iter().enumerate().map(|(index, plan)| accepted(index, plan)).collect();
        Self {
            batch: batch(&plans, policy),
            ends: first.iter().map(|call| usize::from(call.terminal.is_some())).collect(),
            calls: first.into_iter().map(|call| call.invocation).collect(),
            yields: Vec::new(),
            plans,
            seed: seed | 1,
            now: 0,
        }
    }

    pub(super) fn choose(&mut self, below: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        usize::try_from(self.seed % below.max(1) as u64).unwrap()
    }

    /// Reads what the step asks for and nothing more, as a coordinator does.
    fn decide(&self) -> BatchStep {
        let mut known = Known::new();
        loop {
            let step = settle(&self.batch, &known, at(self.now));
            let news = self.calls.iter().filter(|call| call.status.is_terminal() && known.is_empty());
            let more: Vec<InvocationId> =
                news.map(|call| call.invocation_id.clone()).chain(step.missing.iter().cloned()).collect();
            let before = known.len();
            for id in more {
                let call = self.calls.iter().find(|call| call.invocation_id == id).cloned();
                known.insert(id, call);
            }
            if known.len() == before {
                assert!(step.missing.is_empty());
                return step;
            }
        }
    }

    pub(super) fn settle(&mut self) {
        // A coordinator that dies before its commit has changed nothing, and the next one decides the same.
        let (lost, step) = (self.decide(), self.decide());
        assert_eq!(lost.batch, step.batch);
        assert_eq!(lost.transitions.len(), step.transitions.len());
        self.commit(step);
        let again = self.decide();
        assert_eq!((&again.batch, again.transitions.len()), (&self.batch, 0), "settled is settled");
        self.check();
    }

    fn commit(&mut self, step: BatchStep) {
        let mut released: Vec<(u64, usize)> = Vec::new();
        for transition in step.transitions {
            let index = self.calls.iter().position(|call| call.invocation_id == *transition.id()).unwrap();
            self.ends[index] += usize::from(transition.terminal.is_some());
            let fresh = self.calls[index].yield_seq.is_none();
            released.extend(transition.invocation.yield_seq.filter(|_| fresh).map(|sequence| (sequence, index)));
            self.calls[index] = transition.invocation;
        }
        released.sort_unstable();
        self.yields.extend(released.into_iter().map(|(_, index)| index));
        self.batch = step.batch;
    }

    fn command(&mut self, index: usize, command: Command) {
        let transition = apply(&self.calls[index], command, at(self.now)).unwrap();
        self.ends[index] += usize::from(transition.terminal.is_some());
        self.calls[index] = transition.invocation;
    }

    /// Moves one call on, as workers, people and timers do; false when none can be moved.
    pub(super) fn happen(&mut self) -> bool {
        let movable = |call: &Invocation| match call.status {
            InvocationStatus::Queued => call.holds.is_empty(),
            status => !status.is_terminal(),
        };
        let candidates: Vec<usize> = (0..self.calls.len()).filter(|index| movable(&self.calls[*index])).collect();
        if candidates.is_empty() {
            return false;
        }
        let index = candidates[self.choose(candidates.len())];
        self.now += 1;
        let call = self.calls[index].clone();
        let stopping = call.cancel.as_ref().is_some_and(|cancel| cancel.failed.is_none());
        match call.status {
            InvocationStatus::AwaitingApproval => {
                let command = match self.plans[index].begins {
                    Begins::Parked { approved: false } => reject(&call, false),
                    _ => approve(&call),
                };
                self.command(index, command);
            }
            InvocationStatus::Queued if call.lease.is_none() => self.command(index, Command::Claim(grant(1))),
            InvocationStatus::Queued => self.command(index, Command::Start { lease: key(&call), lease_ms: LEASE_MS }),
            // A tool that is told to stop may still be done first.
            _ if stopping && self.choose(3) > 0 => {
                let error = Some(error(ErrorClass::Canceled));
                self.command(index, complete(&call, ResultStatus::Canceled, error));
            }
            _ => {
                let ends = self.plans[index].ends;
                let error = (ends != ResultStatus::Succeeded).then(|| error(ErrorClass::ExecutionFailed));
                self.command(index, complete(&call, ends, error));
            }
        }
        true
    }

    fn check(&self) {
        assert_eq!(check_batch(&self.batch), Ok(()));
        for (index, call) in self.calls.iter().enumerate() {
            let member = &self.batch.members[index];
            assert_eq!(check(call), Ok(()));
            assert_eq!(member.ended, Some(call.status).filter(|status| status.is_terminal()), "member {index}");
            assert_eq!(member.yield_seq, call.yield_seq);
            let free_to_run = call.status == InvocationStatus::Queued && !call.holds.contains(&Hold::Batch);
            assert!(!free_to_run || member.released, "nobody runs unreleased: {index}");
        }
        // A call that is to be canceled has ended, or has been asked to.
        for (emitter, call) in self.calls.iter().enumerate().filter(|(_, call)| call.status.is_terminal()) {
            for target in (0..self.calls.len()).filter(|target| self.is_meant(emitter, call.status, *target)) {
                let call = &self.calls[target];
                assert!(call.status.is_terminal() || call.cancel.is_some(), "{emitter} cancels {target}");
            }
        }
    }

    /// The declared rule, written down a second time.
    fn is_meant(&self, emitter: usize, status: InvocationStatus, target: usize) -> bool {
        use SiblingFailurePolicy::{CancelDependent, CancelSiblings, Ignore};
        let own = self.plans[emitter].sibling.or(self.batch.policy.sibling_failure_policy).unwrap_or(Ignore);
        let fails = matches!(status, InvocationStatus::Failed | InvocationStatus::TimedOut);
        let depends = status != InvocationStatus::Succeeded && self.depends(target, emitter);
        let asks = match own {
            Ignore => false,
            CancelDependent => depends,
            CancelSiblings => (fails || depends) && self.plans[target].sibling != Some(Ignore),
        };
        asks && target != emitter
    }

    fn depends(&self, call: usize, on: usize) -> bool {
        self.plans[call].depends_on.iter().any(|edge| *edge as usize == on || self.depends(*edge as usize, on))
    }

    pub(super) fn check_end(&self) {
        let count = self.calls.len();
        assert!(self.calls.iter().all(|call| call.status.is_terminal()), "everything ends");
        assert_eq!(self.ends, vec![1; count], "everything ends once");
        assert!(self.batch.ended_at.is_some() && self.batch.yields == count as u64);
        let mut yielded = self.yields.clone();
        if !is_unordered(&self.batch.policy) {
            let waited_for = |index: &&usize| !self.batch.members[**index].background;
            let ordered: Vec<usize> = yielded.iter().filter(waited_for).copied().collect();
            assert!(ordered.is_sorted(), "results come in the declared order: {ordered:?}");
        }
        yielded.sort_unstable();
        assert_eq!(yielded, (0..count).collect::<Vec<_>>(), "every result is released once");
        for (index, call) in self.calls.iter().enumerate() {
            let sibling = call.cancel.as_ref().is_some_and(|cancel| cancel.abort_reason == AbortReason::SiblingError);
            let canceled = sibling && call.status == InvocationStatus::Canceled;
            let cause = self.batch.members[index].canceled_by;
            assert_eq!(cause.is_some(), canceled, "exactly who was canceled names its cause: {index}");
            if let Some(cause) = cause {
                let cause = cause as usize;
                assert!(self.is_meant(cause, self.calls[cause].status, index), "{cause} does not cancel {index}");
            }
            let never_ran = call.started_at.is_none();
            let refused = self.plans[index].begins != Begins::Ready;
            assert!(!never_ran || canceled || refused, "who was not canceled ran: {index}");
        }
    }
}
