//! Random lives of invocations: whatever is commanded, the promises hold.

use proptest::prelude::*;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::ids::*;
use toolplane_records::invocation::{DispatchFacts, InputRefs, InputSafety, Invocation};
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_records::progress::ToolProgress;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::*;

use crate::*;

const LEASE_MS: i64 = 15_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + millis)
}

fn decision(behavior: Behavior) -> PermissionDecision {
    PermissionDecision {
        schema_version: toolplane_records::schema_version(),
        decision_id: DecisionId::from_trusted("perm_1"),
        invocation_id: InvocationId::from_trusted("inv_1"),
        behavior,
        mode: None,
        source: None,
        reason: None,
        rule_refs: vec![],
        policy_refs: vec![],
        updated_input: None,
        updated_input_ref: None,
        user_modified: None,
        suggested_updates: vec![],
        pending_classifier_check: None,
        blocked_path: None,
        content_blocks: vec![],
        accept_feedback: None,
        decided_at: at(0),
        expires_at: None,
        approval_request_ref: None,
        policy_digest: String::new(),
    }
}

fn acceptance(idempotent: bool) -> Acceptance {
    let digest = Digest::of(b"{}");
    let model = PayloadRef { uri: "payload:x".into(), media_type: "application/json".into(), digest, size_bytes: 2 };
    Acceptance {
        invocation_id: InvocationId::from_trusted("inv_1"),
        tenant: TenantId::unauthenticated(),
        tool_id: ToolId::from_trusted("tool_1"),
        tool_name: "t".into(),
        surface_id: None,
        native_call_id: None,
        inputs: InputRefs { permission: Some(model.clone()), observable: None, call: Some(model.clone()), model },
        actor_ref: None,
        runtime_refs: vec![],
        telemetry_refs: vec![],
        scheduler_policy_ref: None,
        idempotency_key: None,
        request_digest: digest,
        deadline_at: Some(at(600_000)),
        safety: InputSafety { is_idempotent: idempotent, ..InputSafety::default() },
        mutations: vec![],
    }
}

fn dispatch(idempotent: bool, supports_cancel: bool) -> DispatchFacts {
    DispatchFacts {
        pool: "native".into(),
        plan_digest: Digest::of(b"plan"),
        timeout_ms: 30_000,
        supports_cancel,
        interrupt_behavior: InterruptBehavior::Block,
        max_attempts: if idempotent { 3 } else { 1 },
    }
}

fn ready(idempotent: bool, supports_cancel: bool) -> Transition {
    let preparation =
        Preparation::Ready { decision: decision(Behavior::Allow), dispatch: dispatch(idempotent, supports_cancel) };
    accept(acceptance(idempotent), preparation, at(0)).unwrap()
}

fn error(class: ErrorClass) -> ToolError {
    ToolError::new("x.y", class, Recoverability::NotRetryable, "no")
}

fn outcome(status: ResultStatus, error: Option<ToolError>) -> Box<Outcome> {
    Box::new(Outcome {
        status,
        content: vec![],
        model_facing_content: vec![],
        structured_content: None,
        ui_facing_summary: String::new(),
        error,
        persistence: None,
        resource_refs: vec![],
        artifact_refs: vec![],
        evidence_refs: vec![],
    })
}

fn grant(number: u64) -> LeaseGrant {
    LeaseGrant {
        lease_id: LeaseId::from_trusted(format!("lease_{number}")),
        fence: number,
        worker_id: WorkerId::from_trusted("w"),
        incarnation: "1".into(),
        offer_ms: 5_000,
    }
}

fn key(invocation: &Invocation) -> LeaseKey {
    let stale = LeaseKey {
        invocation_id: invocation.invocation_id.clone(),
        lease_no: 0,
        lease_id: LeaseId::from_trusted("none"),
    };
    invocation.lease.as_ref().map_or(stale, |lease| LeaseKey::of(&invocation.invocation_id, lease))
}

fn progress() -> ToolProgress {
    serde_json::from_str(
        r#"{"progress_id":"p","invocation_id":"inv_1","sequence":99,"status":"running","timestamp":"2026-01-01T00:00:00Z"}"#,
    )
    .unwrap()
}

/// The smallest steps a life is made of; `stale` uses a lease that is no longer current.
#[derive(Clone, Copy, Debug)]
enum Step {
    Claim,
    Start { stale: bool },
    Renew,
    Release,
    Gone,
    Progress,
    Succeed { stale: bool },
    Fail { transient: bool },
    Unplaceable,
    Cancel,
    Acknowledge { supported: bool },
    Approve,
    Reject { expired: bool },
    Fire(Timer),
    Wait(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let timers = prop::sample::select(Timer::ALL.to_vec());
    prop_oneof![
        4 => Just(Step::Claim),
        4 => any::<bool>().prop_map(|stale| Step::Start { stale }),
        2 => Just(Step::Renew),
        1 => Just(Step::Release),
        1 => Just(Step::Gone),
        2 => Just(Step::Progress),
        2 => any::<bool>().prop_map(|stale| Step::Succeed { stale }),
        2 => any::<bool>().prop_map(|transient| Step::Fail { transient }),
        1 => Just(Step::Unplaceable),
        1 => Just(Step::Cancel),
        1 => any::<bool>().prop_map(|supported| Step::Acknowledge { supported }),
        1 => Just(Step::Approve),
        1 => any::<bool>().prop_map(|expired| Step::Reject { expired }),
        4 => timers.prop_map(Step::Fire),
        4 => (0_i64..40_000).prop_map(Step::Wait),
    ]
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
        Step::Claim => {
            *leases += 1;
            Command::Claim(grant(*leases))
        }
        Step::Start { stale } => Command::Start { lease: lease(stale), lease_ms: LEASE_MS },
        Step::Renew => Command::Renew { lease: lease(false), lease_ms: LEASE_MS },
        Step::Release => Command::Release { lease: lease(false), reason: "drain".into() },
        Step::Gone => Command::WorkerGone { worker_id: WorkerId::from_trusted("w"), incarnation: "1".into() },
        Step::Progress => Command::Progress { lease: lease(false), progress: progress() },
        Step::Succeed { stale } => {
            Command::Complete { lease: lease(stale), outcome: outcome(ResultStatus::Succeeded, None) }
        }
        Step::Fail { transient } => {
            let class = if transient { ErrorClass::DependencyUnavailable } else { ErrorClass::ExecutionFailed };
            Command::Complete { lease: lease(false), outcome: outcome(ResultStatus::Failed, Some(error(class))) }
        }
        Step::Unplaceable => Command::Unplaceable { error: error(ErrorClass::CapabilityGap) },
        Step::Cancel => Command::RequestCancel {
            requested_by: "someone".into(),
            message: String::new(),
            abort_reason: AbortReason::UserInterruption,
        },
        Step::Acknowledge { supported } => Command::AcknowledgeCancel { lease: lease(false), supported },
        Step::Approve => Command::Approve { decision: decision(Behavior::Allow) },
        Step::Reject { expired } => Command::Reject { decision: decision(Behavior::Deny), expired },
        Step::Fire(timer) => Command::Fire(timer),
        Step::Wait(_) => return None,
    })
}

/// What the effects of a life have built up in the store's indexes.
#[derive(Default)]
struct Indexes {
    queued: bool,
    timers: std::collections::BTreeMap<Timer, Timestamp>,
}

impl Indexes {
    fn apply(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Enqueue => self.queued = true,
                Effect::Dequeue => self.queued = false,
                Effect::SetTimer(timer, at) => drop(self.timers.insert(*timer, *at)),
                Effect::ClearTimer(timer) => drop(self.timers.remove(timer)),
                Effect::SendCancel { .. } | Effect::SendFenced { .. } => {}
            }
        }
    }
}

fn live(first: Transition, steps: Vec<Step>) {
    let (mut record, mut indexes, mut now, mut leases) = (first.invocation, Indexes::default(), 0, 0);
    let mut log = first.events;
    let mut results = usize::from(first.terminal.is_some());
    let mut fences = Vec::new();
    indexes.apply(&first.effects);
    for step in steps {
        let Some(command) = command(step, &record, &mut leases) else {
            if let Step::Wait(millis) = step {
                now += millis;
            }
            continue;
        };
        let before = record.clone();
        let stale = matches!(step, Step::Start { stale: true } | Step::Succeed { stale: true });
        match apply(&record, command, at(now)) {
            Err(_) => continue,
            Ok(transition) => {
                assert!(!before.status.is_terminal(), "terminal is absorbing");
                assert!(!stale, "a stale lease changed the record: {step:?}");
                assert_eq!(check(&transition.invocation), Ok(()), "after {step:?}");
                assert!(transition.invocation.lease_no >= before.lease_no, "lease numbers never go back");
                indexes.apply(&transition.effects);
                results += usize::from(transition.terminal.is_some());
                assert_eq!(transition.terminal.is_some(), transition.invocation.status.is_terminal());
                log.extend(transition.events);
                record = transition.invocation;
                fences.extend(record.lease.as_ref().map(|lease| lease.fence));
            }
        }
        assert_eq!(
            indexes.queued,
            record.queue_state == Some(QueueState::Queued),
            "the queue holds exactly the queued, after {step:?}"
        );
        let lease = record.lease.as_ref().map(|lease| lease.expires_at);
        assert_eq!(indexes.timers.get(&Timer::Lease).copied(), lease, "every lease has its timer, after {step:?}");
    }
    assert!(results <= 1, "one terminal result");
    let sequences: Vec<u64> = log.iter().map(|event| event.seq).collect();
    assert_eq!(sequences, (1..=log.len() as u64).collect::<Vec<_>>(), "the log is gapless");
    assert!(fences.windows(2).all(|pair| pair[0] <= pair[1]), "fences never go back");
    if record.status.is_terminal() {
        assert!(indexes.timers.is_empty(), "no timer outlives the call: {:?}", indexes.timers);
    } else {
        let hope = indexes.queued || !indexes.timers.is_empty();
        assert!(hope, "a living call is queued or has a timer: {:?}", record.status);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_life_keeps_the_promises(
        idempotent: bool, supports_cancel: bool, asked: bool,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let first = if asked {
            let preparation = Preparation::Asked {
                decision: decision(Behavior::Ask),
                approval_id: ApprovalId::from_trusted("apr_1"),
                expires_at: at(60_000),
                dispatch: dispatch(idempotent, supports_cancel),
            };
            accept(acceptance(idempotent), preparation, at(0)).unwrap()
        } else {
            ready(idempotent, supports_cancel)
        };
        live(first, steps);
    }
}

fn run(mut record: Invocation, commands: Vec<(i64, Command)>) -> Transition {
    let mut last = None;
    for (millis, command) in commands {
        let command = match command {
            Command::Start { lease_ms, .. } => Command::Start { lease: key(&record), lease_ms },
            Command::Complete { outcome, .. } => Command::Complete { lease: key(&record), outcome },
            command => command,
        };
        let transition = apply(&record, command, at(millis)).unwrap();
        record = transition.invocation.clone();
        last = Some(transition);
    }
    last.unwrap()
}

fn started(idempotent: bool) -> Vec<(i64, Command)> {
    let record = ready(idempotent, true).invocation;
    vec![(1, Command::Claim(grant(1))), (2, Command::Start { lease: key(&record), lease_ms: LEASE_MS })]
}

fn ends(idempotent: bool, more: Vec<(i64, Command)>) -> (InvocationStatus, Option<String>) {
    let mut commands = started(idempotent);
    commands.extend(more);
    let last = run(ready(idempotent, true).invocation, commands);
    let code = last.terminal.and_then(|terminal| terminal.result.error).map(|error| error.error_code);
    (last.invocation.status, code)
}

#[test]
fn a_lost_worker_follows_the_ambiguity_table() {
    let lost = vec![(20_000, Command::Fire(Timer::Lease))];
    assert_eq!(ends(false, lost.clone()), (InvocationStatus::Failed, Some(codes::OUTCOME_UNKNOWN.into())));
    assert_eq!(ends(true, lost), (InvocationStatus::Queued, None));
    let cancel = Command::RequestCancel {
        requested_by: "u".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    let canceled = vec![(10, cancel), (20_000, Command::Fire(Timer::Lease))];
    for idempotent in [true, false] {
        let expected = (InvocationStatus::Canceled, Some(codes::CANCEL_WORKER_LOST.into()));
        assert_eq!(ends(idempotent, canceled.clone()), expected);
    }
}

#[test]
fn an_offer_without_a_receipt_charges_nothing() {
    let record = ready(true, true).invocation;
    let last = run(record, vec![(1, Command::Claim(grant(1))), (6_000, Command::Fire(Timer::Lease))]);
    assert_eq!((last.invocation.attempt, last.invocation.worker_losses), (0, 0));
    assert!(last.effects.contains(&Effect::Enqueue));
}

#[test]
fn completion_before_the_cancel_wins_and_says_so() {
    let cancel = Command::RequestCancel {
        requested_by: "u".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    let done = Command::Complete {
        lease: key(&ready(false, true).invocation),
        outcome: outcome(ResultStatus::Succeeded, None),
    };
    let mut commands = started(false);
    commands.extend([(10, cancel), (20, done)]);
    let last = run(ready(false, true).invocation, commands);
    assert_eq!(last.invocation.status, InvocationStatus::Succeeded);
    assert_eq!(last.invocation.cancel.unwrap().failed.as_deref(), Some("completed_first"));
    assert!(last.events.iter().any(|event| event.class == EventClass::ExtCancelFailed));
}

#[test]
fn a_canceled_call_that_is_given_back_ends_instead_of_running_again() {
    let record = ready(true, true).invocation;
    let claimed = run(record, vec![(1, Command::Claim(grant(1)))]).invocation;
    let cancel = Command::RequestCancel {
        requested_by: "u".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    let release = Command::Release { lease: key(&claimed), reason: "canceled".into() };
    let last = run(claimed, vec![(2, cancel), (3, release)]);
    assert_eq!(last.invocation.status, InvocationStatus::Canceled);
    assert_eq!(last.terminal.unwrap().result.error.unwrap().side_effects.as_deref(), Some("none"));
}

#[test]
fn an_empty_output_is_said_not_left_out() {
    let done = Command::Complete {
        lease: key(&ready(true, true).invocation),
        outcome: outcome(ResultStatus::Succeeded, None),
    };
    let mut commands = started(true);
    commands.push((5, done));
    let result = run(ready(true, true).invocation, commands).terminal.unwrap().result;
    assert_eq!(result.model_facing_content, vec![toolplane_records::result::ContentBlock::Empty]);
}

#[test]
fn repeating_is_called_safe_only_where_it_is() {
    for (idempotent, side_effects, expected) in [
        (true, None, Recoverability::RetrySafe),
        (false, None, Recoverability::VerifyBeforeRetry),
        (false, Some("none"), Recoverability::RetrySafe),
    ] {
        let mut failed = error(ErrorClass::ExecutionFailed);
        failed.recoverability = Recoverability::RetrySafe;
        failed.side_effects = side_effects.map(str::to_owned);
        let record = ready(idempotent, true).invocation;
        let done = Command::Complete { lease: key(&record), outcome: outcome(ResultStatus::Failed, Some(failed)) };
        let mut commands = started(idempotent);
        commands.push((5, done));
        let result = run(record, commands).terminal.unwrap().result;
        assert_eq!(result.error.unwrap().recoverability, expected, "{idempotent} {side_effects:?}");
    }
}

#[test]
fn nothing_follows_a_terminal_status() {
    for from in InvocationStatus::ALL.iter().filter(|status| status.is_terminal()) {
        assert!(InvocationStatus::ALL.iter().all(|to| !is_legal(Some(*from), *to)), "{from}");
    }
}

#[test]
fn a_tool_ended_for_its_output_has_failed_and_one_whose_output_is_not_kept_has_not() {
    for (code, status) in
        [("exec.output_limit", InvocationStatus::Failed), (codes::RESULT_TOO_LARGE, InvocationStatus::Succeeded)]
    {
        let mut too_large = error(ErrorClass::ResultTooLarge);
        too_large.error_code = code.to_owned();
        let record = ready(false, true).invocation;
        let done = Command::Complete { lease: key(&record), outcome: outcome(ResultStatus::TooLarge, Some(too_large)) };
        let mut commands = started(false);
        commands.push((5, done));
        let last = run(record, commands);
        assert_eq!(last.invocation.status, status, "{code}");
        assert_eq!(last.terminal.unwrap().result.is_error, status == InvocationStatus::Failed);
    }
}
