//! The scheduler for a simulation of a whole cluster: the same parts and the same sessions with workers as in a real one, over
//! a store, chance and tasks that are passed in.
//!
//! Calls come in where their preparation ends, because rules, tools and people are not part of a simulation: as a decided
//! first transition. Everything after that is what a cluster runs.

use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use toolplane_hooks::Hooks;
use toolplane_lifecycle::{Command, Terminal, Transition};
use toolplane_proto::v1;
use toolplane_records::batch::Batch;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_results::PayloadStore;
use toolplane_runtime::server::ConnectionLife;
use toolplane_runtime::{Caller, Config, Shutdown};
use toolplane_store::Store;

pub use crate::environment::{Environment, HostProcess, Task};
pub use crate::error::CallError;
pub use crate::plan::{DispatchPlan, InlineLimits, PlannedExecution, PlannedMatching, PlannedTool};
pub use crate::storage::RecordError;

use crate::calls::{Admission, Admitted};
use crate::cleaning::Cleaning;
use crate::dispatch::EveryDecisionHolds;
use crate::ending::{Endings, NextSteps};
use crate::groups::{AdmittedBatch, BatchAdmission};
use crate::keeping::NoQuestions;
use crate::originals::Originals;
use crate::parts::{Opened, Outside, Parts, PartsOptions};
use crate::provider_news::ProviderNews;
use crate::rpc::{Session, WorkerParts, WorkerTerms, heartbeat, worker_command};

/// Results larger than this are not kept inline; bytes.
const MAX_INLINE_BYTES: u64 = 65_536;

/// Durations of a simulated scheduler, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Durations {
    /// A full lease.
    pub lease: u32,
    /// How long an offer waits for its receipt.
    pub offer: u32,
    /// How often due timers are looked for.
    pub tick: u32,
}

/// A call whose preparation is over.
#[derive(Clone, Debug)]
pub struct PreparedCall {
    /// Its first transition.
    pub transition: Transition,
    /// What it runs with.
    pub input: JsonPayload,
    /// How it runs.
    pub plan: Arc<DispatchPlan>,
}

impl From<PreparedCall> for Admission {
    fn from(call: PreparedCall) -> Self {
        let PreparedCall { transition, input, plan } = call;
        Self {
            transition,
            payloads: vec![input],
            decisions: Vec::new(),
            plan: Some(plan),
            traceparent: None,
            facts: None,
            decided: None,
        }
    }
}

/// A running scheduler. Cheap to clone; it ends with the tasks of its environment.
#[derive(Clone, Debug)]
pub struct SimulatedScheduler {
    parts: Parts,
    sessions: WorkerParts,
}

impl SimulatedScheduler {
    /// Opens a scheduler over `store` and runs its loops in `environment`. Returns an error when the store does.
    pub async fn open(
        store: Arc<dyn Store>,
        durations: Durations,
        environment: Environment,
    ) -> Result<Self, RecordError> {
        let options = PartsOptions {
            lease_ms: durations.lease.into(),
            offer_ms: durations.offer.into(),
            tick_ms: durations.tick.into(),
            ..PartsOptions::default()
        };
        let outside = Outside {
            environment: environment.clone(),
            decisions: Arc::new(EveryDecisionHolds),
            asks_hooks: Box::new(|_| false),
            questions: Arc::new(NoQuestions),
        };
        let objects = PayloadStore::in_memory(Default::default());
        let Opened { parts, loops, .. } = Parts::open(store, objects.clone(), options, outside).await?;
        environment.spawn(loops.run(std::future::pending()));
        let calls = parts.calls.clone();
        let (cleaning, taints) = (Cleaning::usual(), parts.taints.clone());
        let endings = Endings::new(
            calls.clone(),
            no_hooks().await,
            (objects, cleaning.clone(), Originals::none(), taints.clone()),
            (ProviderNews::default(), NextSteps::default()),
            MAX_INLINE_BYTES,
            false,
            None,
        );
        let terms = WorkerTerms {
            heartbeat_ms: durations.lease / 3,
            lease_ms: durations.lease,
            max_inline_bytes: MAX_INLINE_BYTES,
        };
        let (starts, fleet) = (parts.starts.clone(), parts.fleet.clone());
        let sessions =
            WorkerParts { calls, starts, fleet, endings, cleaning, taints, news: ProviderNews::default(), terms };
        Ok(Self { parts, sessions })
    }

    /// Accepts a call, unless one of its id was accepted before. Returns an error as acceptance does in a cluster.
    pub async fn accept(&self, call: PreparedCall) -> Result<Arc<Invocation>, RecordError> {
        match self.parts.admissions.admit(Box::new(call.into())).await? {
            Admitted::New(record) | Admitted::Exists(record) => Ok(record),
        }
    }

    /// Accepts a batch with all its calls, unless one of its id was accepted before. False when another call has the id of one
    /// of its calls.
    pub async fn accept_batch(&self, batch: Batch, calls: Vec<PreparedCall>) -> Result<bool, RecordError> {
        let admissions = calls.into_iter().map(Into::into).collect();
        let admitted = self.parts.groups.admit_batch(BatchAdmission { batch, admissions }).await?;
        Ok(!matches!(admitted, AdmittedBatch::Taken(_)))
    }

    /// Applies what an agent or a person asks of a call. Fails with [`RecordError::Refused`] when the lifecycle refuses.
    pub async fn command(&self, id: &InvocationKey, command: Command) -> Result<Arc<Invocation>, RecordError> {
        self.parts.calls.command(id, |_| command.clone()).await
    }

    /// A call and its result, as far as there is one.
    pub async fn look(&self, id: &InvocationKey) -> Result<(Arc<Invocation>, Option<Terminal>), RecordError> {
        let records = self.parts.calls.records();
        Ok((records.get(id).await?, records.result(id).await?))
    }

    /// Connects a worker that says `hello` first and then what comes through `reports`, until that is closed. What comes back is
    /// what the worker is told. Returns an error as the stream of a real worker would.
    pub async fn connect(
        &self,
        hello: v1::WorkRequest,
        reports: mpsc::UnboundedReceiver<v1::WorkRequest>,
    ) -> Result<impl Stream<Item = v1::WorkerCommand> + Send + Unpin + use<>, CallError> {
        let caller = Caller::unauthenticated();
        let (session, messages) = Session::open(self.sessions.clone(), &caller, hello).await?;
        let reports = UnboundedReceiverStream::new(reports).map(Ok);
        let run = session.run(reports, Shutdown::new(), ConnectionLife::default());
        self.parts.calls.storage().environment().spawn(run);
        Ok(UnboundedReceiverStream::new(messages).map(worker_command))
    }

    /// The heartbeat beside the stream. Returns an error as a real one would.
    pub async fn heartbeat(&self, request: v1::HeartbeatRequest) -> Result<v1::HeartbeatResponse, CallError> {
        heartbeat(&self.sessions, &Caller::unauthenticated(), request).await
    }
}

#[expect(clippy::expect_used, reason = "hooks are opened from an empty list")]
async fn no_hooks() -> Hooks {
    Hooks::open(&Config::default(), &[]).await.expect("no hook can fail to open")
}
