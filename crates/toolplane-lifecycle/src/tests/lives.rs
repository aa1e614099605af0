//! Random lives of invocations: whatever is commanded, the promises hold.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use toolplane_records::SmolStr;
use toolplane_records::batch::BatchPlace;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::*;
use toolplane_records::invocation::{InputSafety, Invocation};
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

/// The smallest steps a life is made of; `stale` uses a lease that is no longer current.
#[derive(Clone, Copy, Debug)]
enum Step {
    Claim { worker: u8 },
    Start { stale: bool },
    Receive,
    Renew,
    Release,
    Gone { worker: u8 },
    Progress,
    Partial { stale: bool },
    Succeed { stale: bool },
    Fail { transient: bool },
    TimeOut,
    AwaitHooks { stale: bool },
    TakeHooks { alone: bool },
    Conclude { transient: bool },
    Block,
    Cancel,
    Sibling,
    Acknowledge { supported: bool },
    Approve,
    Reject { expired: bool },
    AskAgain,
    ApproveOld,
    Edit { idempotent: bool, again: bool },
    Confirm { replan: bool },
    Refuse { parked: bool },
    Unhold(Hold),
    Ask { question: u8, stale: bool },
    Answer { question: u8 },
    Yield,
    Discard,
    Late,
    Fire(Timer),
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let timers = prop::sample::select(Timer::ALL.to_vec());
    let flag = any::<bool>;
    prop_oneof![
        4 => (0_u8..3).prop_map(|worker| Step::Claim { worker }),
        4 => flag().prop_map(|stale| Step::Start { stale }),
        1 => Just(Step::Receive),
        2 => Just(Step::Renew),
        1 => Just(Step::Release),
        1 => (0_u8..3).prop_map(|worker| Step::Gone { worker }),
        2 => Just(Step::Progress),
        2 => flag().prop_map(|stale| Step::Partial { stale }),
        2 => flag().prop_map(|stale| Step::Succeed { stale }),
        2 => flag().prop_map(|transient| Step::Fail { transient }),
        1 => Just(Step::TimeOut),
        2 => flag().prop_map(|stale| Step::AwaitHooks { stale }),
        1 => flag().prop_map(|alone| Step::TakeHooks { alone }),
        2 => flag().prop_map(|transient| Step::Conclude { transient }),
        1 => Just(Step::Block),
        1 => Just(Step::Cancel),
        1 => Just(Step::Sibling),
        1 => flag().prop_map(|supported| Step::Acknowledge { supported }),
        2 => Just(Step::Approve),
        1 => flag().prop_map(|expired| Step::Reject { expired }),
        1 => Just(Step::AskAgain),
        1 => Just(Step::ApproveOld),
        1 => (flag(), flag()).prop_map(|(idempotent, again)| Step::Edit { idempotent, again }),
        1 => flag().prop_map(|replan| Step::Confirm { replan }),
        1 => flag().prop_map(|parked| Step::Refuse { parked }),
        6 => prop::sample::select(Hold::ALL.to_vec()).prop_map(Step::Unhold),
        2 => (0_u8..3, flag()).prop_map(|(question, stale)| Step::Ask { question, stale }),
        2 => (0_u8..3).prop_map(|question| Step::Answer { question }),
        1 => Just(Step::Yield),
        1 => Just(Step::Discard),
        1 => Just(Step::Late),
        4 => timers.prop_map(Step::Fire),
        4 => (0_i64..40_000).prop_map(Step::Wait),
    ]
}

fn worker(number: u8) -> String {
    format!("w{number}")
}

fn command(step: Step, invocation: &Invocation, leases: &mut u64) -> Option<Command> {
    let lease = |stale: bool| {
        let mut lease = key(invocation);
        if stale {
            lease.lease_no = lease.lease_no.wrapping_sub(1);
        }
        lease
    };
    Some(match step {
        Step::Claim { worker: number } => {
            *leases += 1;
            Command::Claim(grant_to(&worker(number), *leases))
        }
        Step::Start { stale } => Command::Start { lease: lease(stale), lease_ms: LEASE_MS },
        Step::Receive => Command::Receive { lease: lease(false) },
        Step::Renew => Command::Renew { lease: lease(false), lease_ms: LEASE_MS },
        Step::Release => Command::Release { lease: lease(false), reason: "drain".into() },
        Step::Gone { worker: number } => {
            Command::WorkerGone { worker_id: WorkerId::from_trusted(worker(number)), incarnation: "1".into() }
        }
        Step::Progress => Command::Progress { lease: lease(false), progress: progress() },
        Step::Partial { stale } => Command::Partial { lease: lease(stale), partial: ReportedPartial::default() },
        Step::Succeed { stale } => {
            Command::Complete { lease: lease(stale), outcome: outcome(ResultStatus::Succeeded, None) }
        }
        Step::Fail { transient } => {
            let class = if transient { ErrorClass::DependencyUnavailable } else { ErrorClass::ExecutionFailed };
            complete(invocation, ResultStatus::Failed, Some(error(class)))
        }
        Step::TimeOut => complete(invocation, ResultStatus::TimedOut, Some(error(ErrorClass::Timeout))),
        Step::AwaitHooks { stale } => {
            Command::AwaitHooks { lease: lease(stale), hook_ids: vec!["h".into()], due_at: at(20_000), question: None }
        }
        Step::TakeHooks { alone } => Command::TakeHooks { due_at: at(40_000), alone },
        Step::Conclude { transient } => {
            let failed = transient.then(|| error(ErrorClass::DependencyUnavailable));
            let status = if transient { ResultStatus::Failed } else { ResultStatus::Succeeded };
            Command::Conclude { outcome: outcome(status, failed), answer: None }
        }
        Step::Block => Command::Block { cause: "placement", error: error(ErrorClass::CapabilityGap) },
        Step::Cancel => cancel_request(),
        Step::Sibling => Command::CancelSibling {
            cause: SiblingCause {
                invocation_id: InvocationId::from_trusted("inv_2"),
                index: 2,
                tool_name: "t".into(),
                status: InvocationStatus::Failed,
            },
        },
        Step::Acknowledge { supported } => Command::AcknowledgeCancel { lease: lease(false), supported },
        Step::AskAgain => Command::AskAgain {
            decision: decision(Behavior::Ask),
            approval_id: ApprovalId::from_trusted("apr_2"),
            expires_at: at(1_000_000),
        },
        Step::Unhold(hold) => Command::Unhold { hold, fence: Some(*leases) },
        Step::Ask { question, stale } => Command::RequestInput {
            lease: lease(stale),
            input: InputRequest { input_id: format!("in_{question}"), prompt: "?".into(), schema: None, ttl_ms: 5_000 },
        },
        Step::Answer { question } => {
            Command::ProvideInput { input_id: format!("in_{question}"), input: None, by: String::new() }
        }
        Step::Yield => Command::Yield { yield_seq: 1 },
        Step::Discard => Command::Discard { reason: "x".into() },
        Step::Fire(timer) => Command::Fire(timer),
        Step::Late | Step::Wait(_) => return None,
        step => return permission(step, invocation, leases),
    })
}

/// Steps that answer questions and change permission.
fn permission(step: Step, invocation: &Invocation, leases: &mut u64) -> Option<Command> {
    Some(match step {
        Step::Approve => Command::Approve {
            approval_id: question(invocation),
            decision: PermissionDecision { expires_at: Some(at(60_000)), ..decision(Behavior::Allow) },
            edit: None,
        },
        Step::Reject { expired } => reject(invocation, expired),
        Step::ApproveOld => Command::Approve {
            approval_id: ApprovalId::from_trusted("apr_0"),
            decision: decision(Behavior::Allow),
            edit: None,
        },
        Step::Edit { idempotent, again } => {
            *leases += 1;
            edited(invocation, idempotent, again.then(|| ApprovalId::from_trusted(format!("apr_e{leases}"))))
        }
        Step::Confirm { replan } => Command::Confirm {
            decision: PermissionDecision { policy_digest: "v2".into(), ..decision(Behavior::Allow) },
            replan: replan
                .then(|| Box::new(Replan { dispatch: dispatch(false, true), safety: InputSafety::default() })),
        },
        Step::Refuse { parked } => Command::Refuse {
            approval_id: parked.then(|| question(invocation)),
            decisions: vec![decision(Behavior::Deny)],
            edited: None,
            error: error(ErrorClass::PermissionDenied),
        },
        _ => return None,
    })
}

/// What the effects of a life have built up in the store's indexes.
#[derive(Default)]
struct Indexes {
    queued: bool,
    timers: BTreeMap<Timer, Timestamp>,
    permits: BTreeSet<SmolStr>,
    /// An ending is stored that waits for its hooks.
    ending: bool,
    /// A granted ticket whose scope has not been asked to settle since.
    ticket: bool,
    settles: Vec<Scope>,
}

impl Indexes {
    fn apply(&mut self, effects: &[Effect]) {
        self.settles.clear();
        for effect in effects {
            match effect {
                Effect::Enqueue => self.queued = true,
                Effect::Dequeue => self.queued = false,
                Effect::SetTimer(timer, at) => drop(self.timers.insert(*timer, *at)),
                Effect::ClearTimer(timer) => drop(self.timers.remove(timer)),
                Effect::TakePermit { index, .. } => assert!(self.permits.insert(index.clone()), "one place per lease"),
                Effect::ReturnPermit { index } => assert!(self.permits.remove(index), "only a taken place is returned"),
                Effect::Settle(scope) => {
                    self.ticket &= matches!(scope, Scope::Batch { .. });
                    self.settles.push(scope.clone());
                }
                Effect::ForgetEnding => self.ending = false,
                Effect::Quarantine { .. }
                | Effect::KeepHook { .. }
                | Effect::KeepExecution { .. }
                | Effect::ForgetDecision { .. }
                | Effect::ForgetHook { .. }
                | Effect::Tell(_) => {}
            }
        }
    }

    fn fit(&self, record: &Invocation, step: Step) {
        let ready = record.queue_state == Some(QueueState::Queued) && record.holds.is_empty();
        assert_eq!(self.queued, ready, "the queue holds exactly the ready, after {step:?}");
        let lease = record.lease.as_ref();
        let expiry = lease.map(|lease| lease.expires_at);
        assert_eq!(self.timers.get(&Timer::Lease).copied(), expiry, "every lease has its timer, after {step:?}");
        let permits: BTreeSet<SmolStr> = lease.into_iter().flat_map(|lease| lease.permits.clone()).collect();
        assert_eq!(self.permits, permits, "permits go with their lease, after {step:?}");
        let runs = matches!(record.status, InvocationStatus::Running | InvocationStatus::PartialResult);
        assert_eq!(self.timers.contains_key(&Timer::Execution), runs, "a running clock is watched, after {step:?}");
        let due = record.post_hooks.map(|asked| asked.due_at);
        assert_eq!(self.timers.get(&Timer::PostHooks).copied(), due, "asked hooks are watched, after {step:?}");
        assert_eq!(self.ending, due.is_some(), "an ending is kept while its hooks are asked, after {step:?}");
        let asks = record.status == InvocationStatus::NeedsInput;
        assert_eq!(self.timers.contains_key(&Timer::Input), asks, "an open question expires, after {step:?}");
        let left = record.ended_at.map(|_| self.timers.len());
        assert_eq!(left.unwrap_or_default(), 0, "an end leaves no timer, after {step:?}: {:?}", self.timers);
    }
}

/// One life, with what came of it.
struct Life {
    record: Invocation,
    log: Vec<LogEvent>,
    indexes: Indexes,
    results: usize,
    fences: Vec<u64>,
    starts: u32,
    now: i64,
    leases: u64,
}

impl Life {
    fn begin(first: Transition) -> Self {
        let mut indexes = Indexes::default();
        indexes.apply(&first.effects);
        Self {
            record: first.invocation,
            log: first.events,
            indexes,
            results: usize::from(first.terminal.is_some()),
            fences: Vec::new(),
            starts: 0,
            now: 0,
            leases: 0,
        }
    }

    fn take(&mut self, step: Step) {
        if let Step::Wait(millis) = step {
            self.now += millis;
            return;
        }
        let before = self.record.clone();
        let transition = match command(step, &before, &mut self.leases) {
            Some(Command::Claim(grant)) => claimed(&before, grant, at(self.now)),
            Some(command) => apply(&before, command, at(self.now)).ok(),
            None => late_report(&before, &stale_key(&before), &outcome(ResultStatus::Succeeded, None), at(self.now)),
        };
        let Some(transition) = transition else { return };
        let after_the_end = matches!(step, Step::Yield | Step::Discard | Step::Late);
        assert!(!before.status.is_terminal() || after_the_end, "terminal is absorbing: {step:?}");
        let stale = matches!(
            step,
            Step::Start { stale: true }
                | Step::Succeed { stale: true }
                | Step::Ask { stale: true, .. }
                | Step::AwaitHooks { stale: true }
        );
        assert!(!stale, "a stale lease changed the record: {step:?}");
        let after = &transition.invocation;
        assert_eq!(check(after), Ok(()), "after {step:?}");
        assert_eq!(check_change(&before, after), Ok(()), "after {step:?}");
        assert!(!matches!(step, Step::ApproveOld), "an answer to another question changed the record");
        let begins = transition.events.iter().any(|event| event.class == EventClass::Started);
        if matches!(step, Step::Claim { .. }) || begins {
            let until = after.dispatch.as_ref().and_then(|dispatch| dispatch.permit_until);
            assert!(until.is_none_or(|until| at(self.now) < until), "nothing starts on an old permission: {step:?}");
        }
        assert!(after.lease_no >= before.lease_no, "lease numbers never go back");
        if before.status.is_terminal() {
            assert_eq!(
                (&before.result_id, before.status, before.ended_at),
                (&after.result_id, after.status, after.ended_at)
            );
            assert_eq!(before.status_transitions, after.status_transitions);
        }
        let ends = after.status.is_terminal() && !before.status.is_terminal();
        assert_eq!(transition.terminal.is_some(), ends, "the result comes with the end");
        self.indexes.ticket |= matches!(step, Step::Unhold(Hold::Locks));
        self.indexes.ending |= matches!(step, Step::AwaitHooks { .. });
        self.indexes.apply(&transition.effects);
        if ends {
            assert!(!self.indexes.ticket, "whoever ends gives its ticket back");
            let batch = self.indexes.settles.iter().any(|scope| matches!(scope, Scope::Batch { .. }));
            assert_eq!(batch, after.batch.is_some(), "whoever ends tells its batch");
        }
        self.results += usize::from(transition.terminal.is_some());
        self.starts += u32::from(transition.events.iter().any(|event| event.class == EventClass::Started));
        self.fences.extend(after.lease.as_ref().map(|lease| lease.fence));
        self.log.extend(transition.events);
        self.record = transition.invocation;
        self.indexes.fit(&self.record, step);
    }

    fn end(self) {
        let Self { record, log, indexes, results, fences, starts, .. } = self;
        assert!(results <= 1, "one terminal result");
        assert!(record.safety.is_idempotent || starts <= 1, "one start");
        let sequences: Vec<u64> = log.iter().map(|event| event.seq).collect();
        assert_eq!(sequences, (1..=log.len() as u64).collect::<Vec<_>>(), "the log is gapless");
        assert!(fences.is_sorted(), "fences never go back");
        if record.status.is_terminal() {
            assert!(indexes.timers.is_empty(), "no timer outlives the call: {:?}", indexes.timers);
        } else {
            let hope = indexes.queued || !indexes.timers.is_empty() || !record.holds.is_empty();
            assert!(hope, "a living call is queued, held or has a timer: {:?}", record.status);
        }
    }
}

/// A claim of a record that is lent and one of a record that is given away are the same claim, or the same refusal.
fn claimed(record: &Invocation, grant: LeaseGrant, now: Timestamp) -> Option<Transition> {
    let lent = apply(record, Command::Claim(grant.clone()), now);
    match (claim(record.clone(), grant, now), lent) {
        (Ok(given), Ok(lent)) => {
            assert_eq!(format!("{given:?}"), format!("{lent:?}"));
            Some(lent)
        }
        (Err(unclaimed), Err(refusal)) => {
            assert_eq!(
                (&unclaimed.invocation, unclaimed.refusal),
                (record, refusal),
                "a refused record comes back as it was"
            );
            None
        }
        (given, lent) => panic!("given away: {given:?}, lent: {lent:?}"),
    }
}

fn stale_key(record: &Invocation) -> LeaseKey {
    LeaseKey { lease_no: record.lease_no, lease_id: LeaseId::from_trusted("an_old_one"), ..key(record) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_life_keeps_the_promises(
        idempotent: bool, supports_cancel: bool, parked: bool, retry_on_timeout: bool, interruptible: bool,
        in_batch: bool, held_by_batch: bool, locked: bool,
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut facts = dispatch(idempotent, supports_cancel);
        facts.retry_on_timeout = retry_on_timeout;
        facts.interrupt_behavior = if interruptible { InterruptBehavior::Cancel } else { InterruptBehavior::Block };
        let lock = ResourceLock { key: "repo".into(), mode: LockMode::Exclusive };
        let acceptance = Acceptance {
            batch: in_batch.then(|| BatchPlace { batch_id: BatchId::from_trusted("bat_1"), index: 0 }),
            held_by_batch: in_batch && held_by_batch,
            resource_locks: if locked { vec![lock] } else { Vec::new() },
            lock_domain: locked.then(|| "session:s".into()),
            ..acceptance(idempotent)
        };
        let first = if parked {
            asked(acceptance, facts)
        } else {
            let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: facts };
            accept(acceptance, preparation, at(0)).unwrap()
        };
        let mut life = Life::begin(first);
        for step in steps {
            life.take(step);
        }
        life.end();
    }
}

/// However often a tool says how far it is, the log of its call stays short, and the end counts.
#[test]
fn a_log_holds_only_so_many_reports_of_progress() {
    let mut record = run(ready(false, true).invocation, started(false)).invocation;
    let mut kept = Vec::new();
    for second in [1_i64, 2, 60, 3_600, 86_400] {
        for _ in 0..5_000 {
            let command = Command::Progress { lease: key(&record), progress: progress() };
            match apply(&record, command, at(second * 1_000)) {
                Ok(next) => record = next.invocation,
                Err(refusal) => assert_eq!(refusal, Refusal::NothingToDo),
            }
        }
        kept.push(record.progress_seq);
    }
    assert!(kept.is_sorted() && kept[0] >= 64 && kept[4] < 3_000, "{kept:?}");
    assert!(kept[1] > kept[0] && kept[4] > kept[3], "later news is told too: {kept:?}");
    let ended = apply(&record, complete(&record, ResultStatus::Succeeded, None), at(86_400_000)).unwrap();
    assert_eq!(ended.invocation.status, InvocationStatus::Succeeded);
}
