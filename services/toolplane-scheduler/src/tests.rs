//! The scheduler between stand-ins for the services it asks: what reaches a worker, and what happens to a call when
//! rules, tools or people change their mind while it waits.

mod again;
mod asked_results;
mod cleaned;
mod declared;
mod drained;
mod edits;
mod endings;
mod fakes;
mod hooks;
mod kept;
mod large;
mod originals;
mod rechecks;
mod secrets;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolplane_hooks::Hooks;
use toolplane_lifecycle::LeaseKey;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::ids::{InvocationId, InvocationKey, TenantId, WorkerId};
use toolplane_records::invocation::Invocation;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ToolResult;
use toolplane_records::vocabulary::{HookEvent, InvocationStatus};
use toolplane_results::PayloadStore;
use toolplane_runtime::client::{PeerSettings, connect};
use toolplane_runtime::config::HookConfig;
use toolplane_runtime::{Caller, Config};
use toolplane_store::MemoryStore;

use crate::calls::{Admitted, Moment};
use crate::cleaning::{Cleaning, CleaningRule};
use crate::dispatch::{Decisions as _, WorkerInfo, WorkerLink, WorkerMessage};
use crate::ending::{self, Endings, NextSteps};
use crate::environment::Environment;
use crate::intake::{
    CallSpec, HOOK_EVENTS, PermissionPeer, Preparer, SpecLimits, SurfacePeer, ToolLimits, follow_catalog,
};
use crate::kept::Orphans;
use crate::originals::Originals;
use crate::parts::{Opened, Outside, Parts, PartsOptions};
use crate::provider_news::ProviderNews;
use crate::recheck::{Approvals, DecisionsInForce, RecheckLoop, Rechecker};
use crate::result_questions::ResultQuestions;
use crate::rpc::{InvocationApi, InvocationParts, StreamLimit};
use fakes::Fakes;

const LIMITS: SpecLimits = SpecLimits {
    json: JsonLimits { max_bytes: 1 << 20, max_depth: 64, max_nodes: 10_000 },
    max_deadline_ms: 1_000_000,
    shards: crate::storage::Shards::ONE,
};

/// A scheduler whose services are stand-ins; everything ends with it.
struct World {
    parts: Parts,
    in_force: Arc<DecisionsInForce>,
    approvals: Approvals,
    permission: PermissionPeer,
    questions: ResultQuestions,
    preparer: Arc<Preparer>,
    store: Arc<MemoryStore>,
    objects: PayloadStore,
    endings: Endings,
    originals: Originals,
    fakes: Fakes,
    stop: CancellationToken,
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl World {
    async fn new() -> Self {
        Self::with_hooks(&[]).await
    }

    /// With a hook of each of these names, all of them the stand-in's.
    async fn with_hooks(ids: &[&str]) -> Self {
        Self::with_all_hooks(ids, &[]).await
    }

    /// With hooks after calls.
    async fn with_hooks_after(ids: &[&str]) -> Self {
        Self::with_all_hooks(&[], ids).await
    }

    async fn with_all_hooks(ids: &[&str], after: &[&str]) -> Self {
        Self::with_all(ids, after, Cleaning::usual()).await
    }

    /// That cleans outputs so.
    async fn cleaning(cleaning: Cleaning) -> Self {
        Self::with_all(&[], &[], cleaning).await
    }

    async fn with_all(ids: &[&str], after: &[&str], cleaning: Cleaning) -> Self {
        Self::keeping(ids, after, cleaning, Originals::none()).await
    }

    async fn keeping(ids: &[&str], after: &[&str], cleaning: Cleaning, originals: Originals) -> Self {
        let fakes = Fakes::start().await;
        let store = Arc::new(MemoryStore::default());
        let objects = PayloadStore::in_memory(Default::default());
        let options = PartsOptions { tick_ms: 20, ..PartsOptions::default() };
        let peer = || connect(&fakes.url, &PeerSettings::default()).unwrap();
        let limits = ToolLimits { default_timeout_ms: 30_000, max_timeout_ms: 60_000, max_inline_bytes: 65_536 };
        let surface = SurfacePeer::new(peer(), limits);
        let hooks_before = hooks_of(ids, HOOK_EVENTS, &fakes.url).await;
        let hooks_after = hooks_of(after, ending::HOOK_EVENTS, &fakes.url).await;
        let (in_force, asked) = DecisionsInForce::new(surface.clone());
        let permission = PermissionPeer::new(peer(), in_force.clone());
        let outside = Outside {
            environment: Environment::real(),
            decisions: in_force.clone(),
            asks_hooks: ending::asks_hooks(hooks_after.clone()),
            questions: Arc::new(permission.clone()),
        };
        let Opened { parts, loops, .. } = Parts::open(store.clone(), objects.clone(), options, outside).await.unwrap();
        let calls = parts.calls.clone();
        let preparer = Arc::new(Preparer::new(
            surface.clone(),
            permission.clone(),
            hooks_before,
            calls.storage().clone(),
            in_force.clone(),
            parts.workers.clone(),
            (parts.quarantine.clone(), parts.taints.clone()),
        ));
        let rechecker = Rechecker::new(calls.clone(), preparer.clone(), in_force.clone());
        let questions = ResultQuestions::new(rechecker.clone(), permission.client());
        let endings = Endings::new(
            calls.clone(),
            hooks_after,
            (objects.clone(), cleaning, originals.clone(), parts.taints.clone()),
            (ProviderNews::default(), NextSteps::default()),
            65_536,
            false,
            Some(questions.clone()),
        );
        let approvals = Approvals::new(permission.client(), calls, rechecker.clone(), Arc::new(endings.clone()));
        let rechecks = RecheckLoop {
            rechecker,
            approvals: approvals.clone(),
            in_force: in_force.clone(),
            queues: parts.queues.clone(),
            asked,
        };
        let stop = CancellationToken::new();
        tokio::spawn(follow_catalog(surface, "test".into(), stop.clone()));
        tokio::spawn(in_force.clone().follow(permission.clone(), stop.clone()));
        tokio::spawn(rechecks.run(stop.clone()));
        tokio::spawn(approvals.clone().follow(stop.clone()));
        let until = stop.clone();
        tokio::spawn(async move { loops.run(until.cancelled()).await });
        Self {
            parts,
            in_force,
            approvals,
            permission,
            questions,
            preparer,
            store,
            objects,
            endings,
            originals,
            fakes,
            stop,
        }
    }

    /// What finds kept outputs that nobody names.
    fn orphans(&self) -> Orphans {
        let records = self.parts.calls.records().clone();
        let kept = (self.objects.clone(), self.parts.holds.clone());
        Orphans::new(records, kept, Some(0), 24 * 60 * 60 * 1000)
    }

    /// The handlers, as the role has them.
    fn api(&self) -> InvocationApi {
        let Parts { calls, admissions, groups, fleet, watchers, taints, holds, deletions, stays, .. } =
            self.parts.clone();
        InvocationApi::new(InvocationParts {
            orphans: self.orphans(),
            calls,
            admissions,
            groups,
            fleet,
            preparer: self.preparer.clone(),
            payloads: self.objects.clone(),
            limits: LIMITS,
            export_settle_ms: 0,
            approvals: self.approvals.clone(),
            watchers,
            taints,
            streams: Arc::new(StreamLimit::new(10, 10)),
            holds,
            deletions,
            originals: self.originals.clone(),
            stays,
            drains: self.stop.clone(),
        })
    }

    /// Accepts a call of the one tool there is.
    async fn call(&self, input: &str) -> Arc<Invocation> {
        self.call_with(spec(input)).await
    }

    async fn call_with(&self, spec: v1::InvocationSpec) -> Arc<Invocation> {
        self.call_by(Caller::clone(&Caller::unauthenticated()), spec).await
    }

    async fn call_by(&self, caller: Caller, spec: v1::InvocationSpec) -> Arc<Invocation> {
        let spec = CallSpec::decode(Some(spec), &Arc::new(caller), &LIMITS).unwrap();
        let admission = self.preparer.prepare(&spec, Vec::new()).await.unwrap();
        let Admitted::New(record) = self.parts.admissions.admit(admission).await.unwrap() else {
            panic!("accepted before")
        };
        record
    }

    /// What a scheduler that starts now on the same store makes of endings.
    async fn endings_of(&self, after: &[&str]) -> (Endings, mpsc::UnboundedReceiver<InvocationKey>) {
        let hooks = hooks_of(after, ending::HOOK_EVENTS, &self.fakes.url).await;
        let outside = Outside {
            environment: Environment::real(),
            decisions: self.in_force.clone(),
            asks_hooks: ending::asks_hooks(hooks.clone()),
            questions: Arc::new(crate::keeping::NoQuestions),
        };
        let opened =
            Parts::open(self.store.clone(), self.objects.clone(), PartsOptions::default(), outside).await.unwrap();
        let endings = Endings::new(
            opened.parts.calls,
            hooks,
            (self.objects.clone(), Cleaning::usual(), self.originals.clone(), opened.parts.taints),
            (ProviderNews::default(), NextSteps::default()),
            65_536,
            false,
            None,
        );
        (endings, opened.hooks_overdue)
    }

    async fn worker(&self) -> mpsc::UnboundedReceiver<WorkerMessage> {
        let (sender, messages) = mpsc::unbounded_channel();
        let info = WorkerInfo {
            image: String::new(),
            credentials: None,
            worker_id: WorkerId::from_trusted("w1"),
            incarnation: "first".into(),
            version: String::new(),
            slots: 4,
            pools: vec!["native".into()],
            native_tools: vec![],
            gaps: vec![],
            posture: None,
            connected_at: self.parts.calls.now().await.unwrap(),
            actor: None,
        };
        self.parts.workers.connect(Arc::new(WorkerLink::new(info, sender)));
        self.parts.queues.ring();
        messages
    }

    /// Makes a change in the services, and waits until the scheduler has heard of it.
    async fn change(&self, change: impl FnOnce(&Fakes)) {
        self.settled().await;
        let before = self.in_force.moment();
        change(&self.fakes);
        self.heard_after(before).await;
    }

    /// Waits until the streams of changes are open.
    async fn settled(&self) {
        while self.in_force.moment().policy == 0 || self.in_force.moment().catalog == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn heard_after(&self, before: Moment) {
        let unheard = |now: Moment| (now.policy, now.catalog) == (before.policy, before.catalog);
        while unheard(self.in_force.moment()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn record(&self, id: &InvocationId) -> Arc<Invocation> {
        self.parts.calls.records().get(&key(id)).await.unwrap()
    }

    /// The record once it has the status.
    async fn until(&self, id: &InvocationId, status: InvocationStatus) -> Arc<Invocation> {
        let reached = |record: &Invocation| record.status == status;
        self.until_it(id, reached).await.unwrap_or_else(|record| panic!("{} and not {status}", record.status))
    }

    async fn until_it(
        &self,
        id: &InvocationId,
        fits: impl Fn(&Invocation) -> bool,
    ) -> Result<Arc<Invocation>, Arc<Invocation>> {
        for _ in 0..1_000 {
            let record = self.record(id).await;
            if fits(&record) {
                return Ok(record);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err(self.record(id).await)
    }

    async fn result(&self, id: &InvocationId) -> ToolResult {
        self.parts.calls.records().result(&key(id)).await.unwrap().expect("a result").result
    }

    /// The code a call ended with.
    async fn code(&self, id: &InvocationId) -> String {
        self.result(id).await.error.expect("a failure").error_code
    }
}

async fn hooks_of(ids: &[&str], events: &[HookEvent], url: &str) -> Hooks {
    let hook = |id: &&str| HookConfig {
        id: (*id).to_owned(),
        events: events.to_vec(),
        grpc: Some(url.to_owned()),
        ..HookConfig::default()
    };
    let config = Config { hooks: ids.iter().map(hook).collect(), ..Config::default() };
    Hooks::open(&config, events).await.unwrap()
}

fn payload(text: &str) -> v1::JsonPayload {
    v1::JsonPayload { body: Some(Body::Inline(text.to_owned().into())), ..Default::default() }
}

fn spec(input: &str) -> v1::InvocationSpec {
    v1::InvocationSpec {
        surface_id: "s".into(),
        tool_name: "test.tool".into(),
        model_input: Some(payload(input)),
        ..Default::default()
    }
}

/// The call `id` of the tenant of these tests.
fn key(id: &InvocationId) -> InvocationKey {
    InvocationKey::new(&TenantId::unauthenticated(), id)
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

fn value(payload: &JsonPayload) -> serde_json::Value {
    payload.to_value()
}
