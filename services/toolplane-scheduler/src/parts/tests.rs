//! All parts over the model store: workers here are plain receivers of messages.

mod account;
mod bounds;
mod calls;
mod classes;
mod deep;
mod fair;
mod groups;
mod held;
mod idle;
mod mends;
mod redis;
mod retire;
mod share;
mod shared;
mod spread;
mod tenants;
mod watchers;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolplane_lifecycle::{Acceptance, Command, LeaseKey, Preparation, Refusal, ReportedOutcome, accept};
use toolplane_records::SmolStr;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::*;
use toolplane_records::invocation::{InputRefs, InputSafety, Invocation};
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::*;
use toolplane_store::{MemoryStore, MonotonicClock, Store};

use super::*;
use crate::calls::{Admission, Admitted, CallFilter};
use crate::dispatch::{EveryDecisionHolds, PoolGap, Started, WorkerInfo, WorkerLink, WorkerMessage, lost, receipts};
use crate::groups::{AdmittedBatch, BatchAdmission, BatchNews, BatchStart, BatchWatch};
use crate::limits::ToolBound;
use crate::plan::{DispatchPlan, InlineLimits, PlannedExecution, PlannedMatching, PlannedOutput, PlannedTool};
use crate::storage::keys::{self, payload_uri};
use crate::watch::Watch;

fn options() -> PartsOptions {
    let bounds = ConfiguredBounds { max_waiting: 1_000, ..ConfiguredBounds::default() };
    PartsOptions { tick_ms: 20, bounds, ..PartsOptions::default() }
}

/// An empty store whose time is the test's: most tests here run with their time paused.
fn memory() -> MemoryStore {
    MemoryStore::on(MonotonicClock::of_the_runtime())
}

fn objects() -> PayloadStore {
    PayloadStore::in_memory(Default::default())
}

fn outside() -> Outside {
    Outside {
        environment: Environment::real(),
        decisions: Arc::new(EveryDecisionHolds),
        asks_hooks: Box::new(|_| false),
        questions: Arc::new(crate::keeping::NoQuestions),
    }
}

impl Parts {
    /// Parts whose loops do not run.
    pub(crate) async fn over(store: Arc<dyn Store>, objects: PayloadStore) -> Self {
        Self::open(store, objects, PartsOptions::default(), outside()).await.unwrap().parts
    }
}

/// Parts that run until the bench is dropped.
struct Bench {
    parts: Parts,
    audit: Arc<Audit>,
    store: Arc<dyn Store>,
    running: tokio::task::JoinHandle<()>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// What is special about a call.
#[derive(Clone)]
struct Ask {
    id: String,
    idempotent: bool,
    tenant: &'static str,
    tool: &'static str,
    band: Band,
    key: Option<String>,
    guard: StartGuard,
}

fn ask(id: impl Into<String>) -> Ask {
    Ask {
        id: id.into(),
        idempotent: true,
        tenant: "default",
        tool: "n.t",
        band: Band::Normal,
        key: None,
        guard: StartGuard::Store,
    }
}

impl Bench {
    async fn new() -> Self {
        Self::over(Arc::new(memory())).await
    }

    async fn over(store: Arc<dyn Store>) -> Self {
        Self::with(store, options()).await
    }

    async fn with(store: Arc<dyn Store>, options: PartsOptions) -> Self {
        Self::whole(store, objects(), options).await
    }

    async fn whole(store: Arc<dyn Store>, objects: PayloadStore, options: PartsOptions) -> Self {
        let Opened { parts, loops, .. } = Parts::open(store.clone(), objects, options, outside()).await.unwrap();
        let audit = loops.audit.clone();
        let running = tokio::spawn(async move { loops.run(std::future::pending()).await });
        Self { parts, audit, store, running }
    }

    async fn worker(
        &self,
        slots: usize,
        gaps: Vec<PoolGap>,
    ) -> (Arc<WorkerLink>, mpsc::UnboundedReceiver<WorkerMessage>) {
        self.worker_named("w1", slots, gaps).await
    }

    async fn worker_named(
        &self,
        name: &str,
        slots: usize,
        gaps: Vec<PoolGap>,
    ) -> (Arc<WorkerLink>, mpsc::UnboundedReceiver<WorkerMessage>) {
        let (sender, messages) = mpsc::unbounded_channel();
        let info = WorkerInfo {
            image: String::new(),
            credentials: None,
            worker_id: WorkerId::from_trusted(name),
            incarnation: "first".into(),
            version: String::new(),
            slots,
            pools: if gaps.is_empty() { vec!["native".into()] } else { vec![] },
            native_tools: vec![],
            gaps,
            posture: None,
            connected_at: self.parts.calls.now().await.unwrap(),
            actor: None,
        };
        let link = Arc::new(WorkerLink::new(info, sender));
        self.parts.workers.connect(link.clone());
        self.parts.queues.ring();
        (link, messages)
    }

    /// A worker that ends every call it is offered with success, at once.
    async fn eager_worker(&self, name: &str, slots: usize) -> Arc<WorkerLink> {
        let (link, mut messages) = self.worker_named(name, slots, vec![]).await;
        let calls = self.parts.calls.clone();
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                let WorkerMessage::Offer { record, .. } = message else { continue };
                let lease = LeaseKey::of(&record, record.lease.as_ref().unwrap());
                let calls = calls.clone();
                tokio::spawn(async move { finish(&calls, &lease).await });
            }
        });
        link
    }

    async fn admit(&self, ask: Ask) -> Result<Admitted, RecordError> {
        let admission = self.admission(ask).await;
        self.parts.admissions.admit(admission).await
    }

    /// Entries of `index`.
    async fn members(&self, index: &str) -> Vec<String> {
        let all = self.store.scan(index, toolplane_store::ScoreRange::all(), 10_000).await.unwrap();
        all.into_iter().map(|entry| entry.member).collect()
    }

    async fn call(&self, id: &str, idempotent: bool) -> Box<Admission> {
        self.admission(Ask { idempotent, ..ask(id) }).await
    }

    async fn admission(&self, ask: Ask) -> Box<Admission> {
        let Ask { id, idempotent, tenant, tool, band, key, guard } = ask;
        let id = InvocationId::from_trusted(id);
        let input = JsonPayload::from_checked(&b"{\"a\":1}"[..]);
        let reference = PayloadRef {
            uri: payload_uri(&id, &input.digest()).into(),
            media_type: "application/json".into(),
            digest: input.digest(),
            size_bytes: input.size(),
        };
        let plan = plan_of(tool, input.digest());
        let acceptance = Acceptance {
            invocation_id: id.clone(),
            tenant: TenantId::from_trusted(tenant),
            tool_id: plan.tool.tool_id.clone(),
            tool_name: tool.into(),
            surface_id: None,
            surface_moment: None,
            native_call_id: None,
            native_ids: Default::default(),
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
            idempotency_key: key.map(Into::into),
            request_digest: input.digest(),
            deadline_at: None,
            safety: InputSafety { is_idempotent: idempotent, ..InputSafety::default() },
            mutations: vec![],
            session_ref: None,
            band,
            resource_locks: Vec::new(),
            lock_domain: None,
            batch: None,
            background: false,
            held_by_batch: false,
            hooks: vec![],
            caller_ref: None,
            caller_actor: None,
            keeping: Default::default(),
            assurance: None,
            inherited_taints: Vec::new(),
            permission_mode: None,
        };
        let decision = allow(&id);
        let dispatch = toolplane_records::invocation::DispatchFacts {
            pool: "native".into(),
            plan_digest: plan.encode().unwrap().1,
            timeout_ms: plan.execution.timeout_ms,
            supports_cancel: true,
            interrupt_behavior: InterruptBehavior::Block,
            max_attempts: 3,
            start_guard: guard,
            retry_on_timeout: false,
            quarantine_key: None,
            context_modifier_policy: None,
            policy_digest: SmolStr::default(),
            permit_until: None,
            denied_paths: toolplane_records::decision::DeniedPaths::default(),
        };
        let now = self.parts.calls.now().await.unwrap();
        let transition = accept(acceptance, Preparation::Ready { decision: decision.clone(), dispatch }, now).unwrap();
        Box::new(Admission {
            transition,
            payloads: vec![input],
            decisions: vec![decision],
            plan: Some(Arc::new(plan)),
            traceparent: None,
            facts: None,
            decided: None,
        })
    }
}

fn plan_of(tool: &str, declaration_digest: Digest) -> DispatchPlan {
    DispatchPlan {
        tool: PlannedTool {
            tool_id: ToolId::from_trusted(format!("tool_{tool}")),
            full_name: tool.into(),
            declaration_digest,
        },
        execution: PlannedExecution {
            kind: ExecutionKind::EmbeddedRuntime,
            binding: ExecutionBinding::Native { name: "native.echo".into() },
            sandboxed: false,
            sandbox_profile: None,
            timeout_ms: 30_000,
        },
        inline: InlineLimits { max_chars: 1_000, max_bytes: 1_000 },
        supports_context_modifiers: false,
        supports_cancel: true,
        matching: PlannedMatching::default(),
        output_schema: None,
        declared: PlannedOutput::default(),
    }
}

fn allow(id: &InvocationId) -> PermissionDecision {
    serde_json::from_value(serde_json::json!({
        "decision_id": format!("perm_{id}"), "invocation_id": id, "behavior": "allow",
        "decided_at": "2026-01-01T00:00:00Z",
    }))
    .unwrap()
}

fn succeeded(text: &str) -> Box<ReportedOutcome> {
    Box::new(ReportedOutcome {
        status: ResultStatus::Succeeded,
        content: vec![ContentBlock::Text { text: text.into() }],
        model_facing_content: vec![ContentBlock::Text { text: text.into() }],
        structured_content: None,
        ui_facing_summary: String::new(),
        error: None,
        persistence: Vec::new(),
        resource_refs: vec![],
        artifact_refs: vec![],
        evidence_refs: vec![],
        context_modifiers: vec![],
        hooks: vec![],
        undeclared_modifiers: 0,
        redaction_state: None,
        cleaned: Vec::new(),
        rendering_hints: None,
        taints: Vec::new(),
        execution: None,
    })
}

/// The call `id` of the tenant of most tests.
fn call_key(id: impl AsRef<str>) -> InvocationKey {
    InvocationKey::new(&TenantId::unauthenticated(), &InvocationId::from_trusted(id))
}

async fn offered(messages: &mut mpsc::UnboundedReceiver<WorkerMessage>) -> (Arc<Invocation>, LeaseKey, JsonPayload) {
    loop {
        let message = tokio::time::timeout(Duration::from_secs(10), messages.recv()).await.unwrap().unwrap();
        if let WorkerMessage::Offer { record, input, .. } = message {
            let lease = LeaseKey::of(&record, record.lease.as_ref().unwrap());
            return (record, lease, input);
        }
    }
}

async fn finish(calls: &Calls, lease: &LeaseKey) -> Result<Arc<Invocation>, RecordError> {
    let command = |_: &Invocation| Command::Complete { lease: lease.clone(), outcome: succeeded("done") };
    calls.command(&lease.call(), command).await
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
