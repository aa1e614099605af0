//! Answers that meet: whatever comes at the same time, a question has one answer and all callers see the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use toolplane_proto::v1;
use toolplane_proto::v1::{ApprovalState, Behavior, ResultStatus};
use toolplane_records::decision_request::{CalledTool, CallerContext, DecisionRequest};
use toolplane_records::ids::{InvocationId, SurfaceId, TenantId, ToolId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::ToolKind;
use toolplane_runtime::clock;
use toolplane_testkit::clients::Clients;
use toolplane_testkit::{Cluster, Options};

use crate::bed::{Bed, RULES};

/// Questions raced for on the wire of one permission service.
const QUESTIONS: usize = 5_000;
/// Calls raced for through the whole chain.
const CALLS: usize = 500;
/// Races at the same time.
const AT_ONCE: usize = 48;

/// Who may answer a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Racer {
    Approves,
    Rejects,
    Withdraws,
}

async fn race(clients: Clients, racer: Racer, approval_id: String) -> Result<ApprovalState, tonic::Code> {
    let resolve = |behavior: Behavior| v1::ResolveApprovalRequest {
        approval_id: approval_id.clone(),
        behavior: behavior.into(),
        resolved_by: format!("{racer:?}"),
        ..Default::default()
    };
    let answer = match racer {
        Racer::Approves => clients
            .permissions()
            .resolve_approval(resolve(Behavior::Allow))
            .await
            .map(|answer| answer.into_inner().approval),
        Racer::Rejects => clients
            .permissions()
            .resolve_approval(resolve(Behavior::Deny))
            .await
            .map(|answer| answer.into_inner().approval),
        Racer::Withdraws => {
            let request =
                v1::WithdrawApprovalRequest { approval_id: approval_id.clone(), reason: "canceled".to_owned() };
            clients.permissions().withdraw_approval(request).await.map(|answer| answer.into_inner().approval)
        }
    };
    answer.map(|approval| approval.unwrap().state()).map_err(|status| status.code())
}

/// A question of its own; some end by themselves while they are raced for.
async fn ask(clients: &Clients, number: usize) -> String {
    let id = InvocationId::from_trusted(format!("inv_race_{number}"));
    let now = clock::now();
    let caller = CallerContext {
        actor_ref: "racer".into(),
        surface_id: Some(SurfaceId::from_trusted("surf_race")),
        ..CallerContext::of(TenantId::unauthenticated())
    };
    let facts = ToolFacts::named(ToolId::from_trusted("tool_race"), "test.race", "test");
    let tool = CalledTool::of(ToolFacts { kind: Some(ToolKind::Function), ..facts }, Digest::of(b"race"));
    let request = DecisionRequest {
        asked_at: Some(now),
        deadline_at: Some(now.plus_millis(if number.is_multiple_of(4) { 150 } else { 600_000 })),
        ..DecisionRequest::new(id, caller, tool, JsonPayload::of(&json!({ "number": number })))
    };
    let decision =
        clients.permissions().decide(v1::DecideRequest::from(&request)).await.unwrap().into_inner().decision.unwrap();
    assert_eq!(decision.behavior(), Behavior::Ask, "{decision:?}");
    decision.approval_request_ref
}

async fn standing(clients: &Clients, approval_id: &str) -> v1::Approval {
    let request = v1::GetApprovalRequest { approval_id: approval_id.to_owned(), ..Default::default() };
    clients.permissions().get_approval(request).await.unwrap().into_inner().approval.unwrap()
}

/// One question, all racers at once; the state it ended in.
async fn one(clients: Clients, number: usize) -> ApprovalState {
    let approval_id = ask(&clients, number).await;
    if number.is_multiple_of(4) {
        toolplane_wait::pause(Duration::from_millis(140), "racers start at different moments").await;
    }
    let mut racers = JoinSet::new();
    let mut order = [Racer::Approves, Racer::Rejects, Racer::Withdraws];
    order.rotate_left(number % 3);
    for racer in order {
        let (clients, approval_id) = (clients.clone(), approval_id.clone());
        racers.spawn(async move { (racer, race(clients, racer, approval_id).await) });
    }
    let seen = racers.join_all().await;
    let state = standing(&clients, &approval_id).await.state();
    assert_ne!(state, ApprovalState::Pending, "{number}: {seen:?}");
    for (racer, answer) in &seen {
        match (racer, answer) {
            // Who is told that it is answered is told the answer that counts.
            (_, Ok(told)) => assert_eq!(*told, state, "{number}: {seen:?}"),
            (Racer::Withdraws, Err(code)) => panic!("{number}: a withdrawal failed with {code:?}"),
            (_, Err(code)) => assert_eq!(*code, tonic::Code::FailedPrecondition, "{number}: {seen:?}"),
        }
    }
    let won = |racer, as_state| (state == as_state) == seen.iter().any(|(who, told)| *who == racer && told.is_ok());
    assert!(won(Racer::Approves, ApprovalState::Approved), "{number}: {state:?} {seen:?}");
    assert!(won(Racer::Rejects, ApprovalState::Rejected), "{number}: {state:?} {seen:?}");
    assert_eq!(standing(&clients, &approval_id).await.state(), state, "{number}: it changed its mind");
    state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_has_one_answer() {
    let config = "[permission]\napproval_ttl_ms = 600000\n[log]\nfilter = \"warn\"\n";
    let options = Options { role: Some("permission".to_owned()), ..Options::new(config) };
    let cluster = Cluster::start(options).await.unwrap();
    let begin = Instant::now();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut races = JoinSet::new();
    for number in 0..QUESTIONS {
        let (clients, places) = (cluster.clients().clone(), Arc::clone(&places));
        races.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            one(clients, number).await
        });
    }
    let mut ended = BTreeMap::<&str, usize>::new();
    for state in races.join_all().await {
        *ended.entry(state.as_str_name()).or_default() += 1;
    }
    println!("{QUESTIONS} questions in {} ms: {ended:?}", begin.elapsed().as_millis());
    assert_eq!(ended.values().sum::<usize>(), QUESTIONS);
    for state in [ApprovalState::Approved, ApprovalState::Rejected, ApprovalState::Withdrawn, ApprovalState::Expired] {
        assert!(
            ended.get(state.as_str_name()).is_some_and(|&count| count > 0),
            "nothing ended as {state:?}: {ended:?}"
        );
    }
}

/// Two people and a cancel at the same time, through every role: the result agrees with the answer, and what ran was approved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_has_one_ending() {
    let bed = Arc::new(Bed::with(Options::new(RULES.replace("filter = \"info\"", "filter = \"warn\""))).await);
    let places = Arc::new(Semaphore::new(16));
    let mut races = JoinSet::new();
    for number in 0..CALLS {
        let (bed, places) = (Arc::clone(&bed), Arc::clone(&places));
        races.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            one_call(&bed, number).await
        });
    }
    let mut ended = BTreeMap::<String, usize>::new();
    let mut ran = 0;
    for (state, result) in races.join_all().await {
        let marks = std::fs::read_to_string(bed.cluster.workspace().join(format!("ran/{}", result.invocation_id)));
        let runs = marks.map(|text| text.lines().count()).unwrap_or_default();
        assert!(runs <= 1, "{} ran {runs} times", result.invocation_id);
        ran += runs;
        let agrees = match result.status_code() {
            ResultStatus::Succeeded => state == ApprovalState::Approved && runs == 1,
            ResultStatus::Rejected => state == ApprovalState::Rejected && runs == 0,
            ResultStatus::Canceled => {
                state != ApprovalState::Pending && (runs == 0 || state == ApprovalState::Approved)
            }
            _ => false,
        };
        assert!(agrees, "approval {state:?}, {runs} runs, result {} {:?}", result.status, result.error);
        *ended.entry(format!("{}/{}", state.as_str_name(), result.status)).or_default() += 1;
    }
    println!("{CALLS} calls, {ran} ran: {ended:?}");
    assert!(ended.len() >= 3 && ran > 0, "the races were always won by the same: {ended:?}");
}

/// One call that is approved, rejected and canceled at once: its approval and its result.
async fn one_call(bed: &Bed, number: usize) -> (ApprovalState, v1::ToolResult) {
    let id = format!("inv_race_{number}");
    let script = format!("mkdir -p ran && echo x >> ran/{id}");
    let spec = v1::InvocationSpec {
        invocation_id: id.clone(),
        ..bed.spec("shell.exec", json!({ "command": script }).to_string())
    };
    let call = bed.submit(spec).await;
    let call = bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
    let approval_id = call.approval_request_ref.clone();
    let cancel = async {
        toolplane_wait::pause(
            Duration::from_millis(u64::try_from(number % 8).unwrap() * 30),
            "racers start at different moments",
        )
        .await;
        let request = v1::CancelInvocationRequest { invocation_id: id.clone(), ..Default::default() };
        // It may have ended first, which is an answer too.
        if let Err(status) = bed.clients.invocations().cancel_invocation(request).await {
            assert_eq!(status.code(), tonic::Code::FailedPrecondition, "{status:?}");
        }
    };
    let person = |racer: Racer, after: usize| {
        let (clients, approval_id) = (bed.clients.clone(), approval_id.clone());
        async move {
            toolplane_wait::pause(
                Duration::from_millis(u64::try_from(after % 4).unwrap() * 4),
                "racers start at different moments",
            )
            .await;
            race(clients, racer, approval_id).await
        }
    };
    let (approves, rejects) = (person(Racer::Approves, number / 5), person(Racer::Rejects, number / 7));
    let (_, approved, rejected) = tokio::join!(cancel, approves, rejects);
    assert!(approved.is_err() || rejected.is_err(), "{id}: approved and rejected");
    let (_, result) = bed.replay(&id, 1).await;
    // The question goes with its call, at the latest a moment after it.
    let begin = Instant::now();
    loop {
        let state = standing(&bed.clients, &approval_id).await.state();
        if state != ApprovalState::Pending || begin.elapsed() > Duration::from_secs(20) {
            return (state, result);
        }
        toolplane_wait::look_again().await;
    }
}
