//! The engine over the model store: workers here are plain receivers of messages.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolplane_lifecycle::{Acceptance, Command, LeaseKey, Outcome, Preparation, accept};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::*;
use toolplane_records::invocation::{InputRefs, InputSafety, Invocation};
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::*;
use toolplane_store::{MemoryStore, Store};

use super::*;

fn options() -> EngineOptions {
    EngineOptions { lease_ms: 15_000, offer_ms: 5_000, tick_ms: 20, placement_grace_ms: 60_000, max_waiting: 1_000 }
}

struct Bench {
    engine: Engine,
    store: Arc<dyn Store>,
}

impl Bench {
    async fn new() -> Self {
        Self::over(Arc::new(MemoryStore::default())).await
    }

    async fn over(store: Arc<dyn Store>) -> Self {
        let engine = Engine::open(store.clone(), options()).await.unwrap();
        let running = engine.clone();
        tokio::spawn(async move { running.run(std::future::pending()).await });
        Self { engine, store }
    }

    async fn worker(&self, slots: usize, gaps: Vec<PoolGap>) -> (Arc<WorkerLink>, mpsc::UnboundedReceiver<Message>) {
        let (sender, messages) = mpsc::unbounded_channel();
        let info = WorkerInfo {
            worker_id: WorkerId::from_trusted("w1"),
            incarnation: "first".into(),
            version: String::new(),
            slots,
            pools: if gaps.is_empty() { vec!["native".into()] } else { vec![] },
            gaps,
            posture: None,
            connected_at: self.engine.now().await.unwrap(),
        };
        let link = Arc::new(WorkerLink::new(info, sender));
        self.engine.connect_worker(link.clone());
        (link, messages)
    }

    async fn call(&self, id: &str, idempotent: bool) -> Admission {
        let id = InvocationId::from_trusted(id);
        let input = JsonPayload::from_checked(&b"{\"a\":1}"[..]);
        let reference = PayloadRef {
            uri: payload_uri(&id, &input.digest()),
            media_type: "application/json".into(),
            digest: input.digest(),
            size_bytes: input.size(),
        };
        let plan = DispatchPlan {
            tool_id: ToolId::from_trusted("t"),
            tool_name: "n.t".into(),
            declaration_digest: input.digest(),
            execution_kind: ExecutionKind::EmbeddedRuntime,
            binding: ExecutionBinding::Native { name: "native.echo".into() },
            sandboxed: false,
            sandbox_profile: None,
            timeout_ms: 30_000,
            max_inline_chars: 1_000,
            max_inline_bytes: 1_000,
            supports_cancel: true,
        };
        let acceptance = Acceptance {
            invocation_id: id.clone(),
            tenant: TenantId::unauthenticated(),
            tool_id: plan.tool_id.clone(),
            tool_name: "n.t".into(),
            surface_id: None,
            native_call_id: None,
            inputs: InputRefs {
                model: reference.clone(),
                observable: Some(reference.clone()),
                permission: Some(reference.clone()),
                call: Some(reference),
            },
            actor_ref: None,
            runtime_refs: vec![],
            telemetry_refs: vec![],
            scheduler_policy_ref: None,
            idempotency_key: None,
            request_digest: input.digest(),
            deadline_at: None,
            safety: InputSafety { is_idempotent: idempotent, ..InputSafety::default() },
            mutations: vec![],
        };
        let decision = allow(&id);
        let dispatch = toolplane_records::invocation::DispatchFacts {
            pool: "native".into(),
            plan_digest: plan.encode().unwrap().1,
            timeout_ms: plan.timeout_ms,
            supports_cancel: true,
            interrupt_behavior: InterruptBehavior::Block,
            max_attempts: 3,
        };
        let now = self.engine.now().await.unwrap();
        let transition = accept(acceptance, Preparation::Ready { decision: decision.clone(), dispatch }, now).unwrap();
        Admission {
            transition,
            payloads: vec![input],
            decisions: vec![decision],
            plan: Some(Arc::new(plan)),
            traceparent: None,
        }
    }
}

fn allow(id: &InvocationId) -> PermissionDecision {
    serde_json::from_value(serde_json::json!({
        "decision_id": format!("perm_{id}"), "invocation_id": id, "behavior": "allow",
        "decided_at": "2026-01-01T00:00:00Z",
    }))
    .unwrap()
}

fn succeeded(text: &str) -> Box<Outcome> {
    Box::new(Outcome {
        status: ResultStatus::Succeeded,
        content: vec![ContentBlock::Text { text: text.into() }],
        model_facing_content: vec![ContentBlock::Text { text: text.into() }],
        structured_content: None,
        ui_facing_summary: String::new(),
        error: None,
        persistence: None,
        resource_refs: vec![],
        artifact_refs: vec![],
        evidence_refs: vec![],
    })
}

async fn offered(messages: &mut mpsc::UnboundedReceiver<Message>) -> (Arc<Invocation>, LeaseKey, JsonPayload) {
    loop {
        let message = tokio::time::timeout(Duration::from_secs(10), messages.recv()).await.unwrap().unwrap();
        if let Message::Offer { record, input, .. } = message {
            let lease = LeaseKey::of(&record.invocation_id, record.lease.as_ref().unwrap());
            return (record, lease, input);
        }
    }
}

async fn finish(engine: &Engine, lease: &LeaseKey) -> Result<Arc<Invocation>, EngineError> {
    let command = |_: &Invocation| Command::Complete { lease: lease.clone(), outcome: succeeded("done") };
    engine.command(&lease.invocation_id, vec![], command).await
}

async fn follow(mut watch: Watch) -> (Vec<LogEvent>, Arc<toolplane_lifecycle::Terminal>) {
    let mut log = Vec::new();
    loop {
        let item = tokio::time::timeout(Duration::from_secs(10), watch.next()).await.unwrap().unwrap().unwrap();
        log.extend(item.events);
        if let Some(terminal) = item.terminal {
            assert!(watch.next().await.unwrap().is_none(), "nothing follows the result");
            return (log, terminal);
        }
    }
}

#[tokio::test]
async fn a_call_meets_a_free_worker_in_one_commit_and_its_watcher_sees_every_event() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(2, vec![]).await;
    let id = InvocationId::from_trusted("inv_a");
    let watch = bench.engine.watch_new(&id);
    let Admitted::New(record) = bench.engine.admit(bench.call("inv_a", true).await).await.unwrap() else { panic!() };
    assert_eq!(record.status, InvocationStatus::Running, "idempotent calls start with the claim");
    let (_, lease, input) = offered(&mut messages).await;
    assert_eq!(input.text(), "{\"a\":1}");
    finish(&bench.engine, &lease).await.unwrap();
    let (log, terminal) = follow(watch).await;
    assert_eq!(terminal.result.status, ResultStatus::Succeeded);
    assert_eq!(log.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=log.len() as u64).collect::<Vec<_>>());
    for from in 1..=log.len() as u64 {
        let (suffix, _) = follow(bench.engine.watch(&id, from).await.unwrap()).await;
        assert_eq!(suffix, log[usize::try_from(from).unwrap() - 1..], "a watch from {from} misses nothing");
    }
}

#[tokio::test]
async fn the_same_id_is_accepted_once() {
    let bench = Bench::new().await;
    let (first, second) = (bench.call("inv_a", true).await, bench.call("inv_a", true).await);
    assert!(matches!(bench.engine.admit(first).await.unwrap(), Admitted::New(_)));
    assert!(matches!(bench.engine.admit(second).await.unwrap(), Admitted::Exists(_)));
}

#[tokio::test]
async fn a_waiting_call_is_offered_when_a_worker_comes_and_a_stale_lease_changes_nothing() {
    let bench = Bench::new().await;
    bench.engine.admit(bench.call("inv_a", false).await).await.unwrap();
    let (link, mut messages) = bench.worker(1, vec![]).await;
    let (record, lease, _) = offered(&mut messages).await;
    assert_eq!(record.status, InvocationStatus::Queued, "a non-idempotent call waits for its start");
    let start = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 15_000 };
    bench.engine.command(&lease.invocation_id, vec![], start).await.unwrap();
    let stale = LeaseKey { lease_no: lease.lease_no + 1, ..lease.clone() };
    let refused = finish(&bench.engine, &stale).await.unwrap_err();
    assert!(matches!(refused, EngineError::Refused { refusal: Refusal::Fenced, .. }));
    finish(&bench.engine, &lease).await.unwrap();
    assert!(link.in_flight().is_empty(), "the slot is free again");
    let again = finish(&bench.engine, &lease).await.unwrap_err();
    assert!(matches!(again, EngineError::Refused { refusal: Refusal::Terminal(_), .. }));
}

#[tokio::test]
async fn many_calls_through_few_slots_each_end_once() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(4, vec![]).await;
    let engine = bench.engine.clone();
    tokio::spawn(async move {
        loop {
            let (_, lease, _) = offered(&mut messages).await;
            let engine = engine.clone();
            tokio::spawn(async move { finish(&engine, &lease).await.unwrap() });
        }
    });
    let mut watches = Vec::new();
    for number in 0..200 {
        let id = format!("inv_{number}");
        let watch = bench.engine.watch_new(&InvocationId::from_trusted(&id));
        bench.engine.admit(bench.call(&id, true).await).await.unwrap();
        watches.push(watch);
    }
    for watch in watches {
        assert_eq!(follow(watch).await.1.result.status, ResultStatus::Succeeded);
    }
    assert!(
        bench.store.indexes("").await.unwrap().iter().all(|name| name.starts_with("invocations/")),
        "nothing is left behind"
    );
}

#[tokio::test]
async fn a_tenant_cannot_fill_the_queue_without_bound() {
    let bench = Bench::new().await;
    let mut refused = 0;
    for number in 0..1_200 {
        let call = bench.call(&format!("inv_{number}"), true).await;
        match bench.engine.admit(call).await {
            Ok(_) => {}
            Err(EngineError::QueueFull { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        if number % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(refused >= 100, "{refused} calls were refused");
    let refused = InvocationId::from_trusted("inv_1199");
    assert!(
        matches!(bench.engine.get(&refused).await, Err(EngineError::NotFound)),
        "nothing is stored of a refused call"
    );
}

#[tokio::test]
async fn a_pool_every_worker_declines_is_a_capability_gap() {
    let bench = Bench::new().await;
    let gap =
        PoolGap { pool: "native".into(), reason_code: "sandbox_unavailable".into(), message: "no sandbox".into() };
    bench.engine.admit(bench.call("inv_a", true).await).await.unwrap();
    let _worker = bench.worker(1, vec![gap]).await;
    let (_, terminal) = follow(bench.engine.watch(&InvocationId::from_trusted("inv_a"), 1).await.unwrap()).await;
    let error = terminal.result.error.clone().unwrap();
    assert_eq!(
        (error.error_class, error.error_code.as_str()),
        (ErrorClass::CapabilityGap, "placement.sandbox_unavailable")
    );
}

#[tokio::test]
async fn a_restarted_worker_ends_its_earlier_leases_and_a_new_engine_goes_on() {
    let bench = Bench::new().await;
    let (_link, mut messages) = bench.worker(2, vec![]).await;
    bench.engine.admit(bench.call("inv_safe", true).await).await.unwrap();
    bench.engine.admit(bench.call("inv_once", false).await).await.unwrap();
    for _ in 0..2 {
        let (_, lease, _) = offered(&mut messages).await;
        let start = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: 15_000 };
        bench.engine.command(&lease.invocation_id, vec![], start).await.unwrap();
    }
    let again = Bench::over(bench.store.clone()).await;
    assert_eq!(again.engine.worker_gone(&WorkerId::from_trusted("w1"), "second").await.unwrap(), 2);
    let once = again.engine.result(&InvocationId::from_trusted("inv_once")).await.unwrap().unwrap();
    assert_eq!(once.result.error.unwrap().error_code, "exec.outcome_unknown");
    let (_link, mut messages) = again.worker(1, vec![]).await;
    let (record, lease, _) = offered(&mut messages).await;
    assert_eq!(record.invocation_id.as_str(), "inv_safe");
    assert!(finish(&again.engine, &lease).await.is_ok());
}
