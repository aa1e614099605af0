//! Callers that make one call after the other and try again only when no scheduler was reachable.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, is_away, payload};

use crate::bed::PATIENCE;

/// Between a call without an answer and the next try.
const PAUSE: Duration = Duration::from_millis(25);

/// Load on a cluster.
pub(crate) struct Load {
    shared: Arc<Shared>,
    callers: JoinSet<()>,
}

struct Shared {
    ways: Vec<Clients>,
    surface_id: String,
    stopped: AtomicBool,
    done: AtomicUsize,
    tries: AtomicUsize,
    failed: Mutex<Vec<String>>,
}

/// What came of it.
pub(crate) struct Made {
    pub(crate) calls: usize,
    pub(crate) tries: usize,
    /// What went wrong, in words.
    pub(crate) failed: Vec<String>,
}

impl Load {
    /// So many callers, each taking the ways in turn.
    pub(crate) fn start(callers: usize, ways: Vec<Clients>, surface_id: &str) -> Self {
        let shared = Arc::new(Shared {
            ways,
            surface_id: surface_id.to_owned(),
            stopped: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            tries: AtomicUsize::new(0),
            failed: Mutex::default(),
        });
        let mut set = JoinSet::new();
        for number in 0..callers {
            set.spawn(Arc::clone(&shared).caller(number));
        }
        Self { shared, callers: set }
    }

    /// Calls that have a result.
    pub(crate) fn done(&self) -> usize {
        self.shared.done.load(Ordering::Relaxed)
    }

    /// Waits until so many calls have a result.
    pub(crate) async fn until_done(&self, calls: usize) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while self.done() < calls && self.shared.failed.lock().unwrap().is_empty() {
                toolplane_wait::look_again().await;
            }
        });
        assert!(waited.await.is_ok(), "calls stand still at {}", self.done());
    }

    /// Lets every caller finish its call.
    pub(crate) async fn finish(mut self) -> Made {
        self.shared.stopped.store(true, Ordering::Relaxed);
        while let Some(ended) = tokio::time::timeout(PATIENCE, self.callers.join_next()).await.unwrap() {
            ended.unwrap();
        }
        let failed = self.shared.failed.lock().unwrap().clone();
        Made { calls: self.done(), tries: self.shared.tries.load(Ordering::Relaxed), failed }
    }
}

impl Shared {
    async fn caller(self: Arc<Self>, number: usize) {
        for call in 0.. {
            if self.stopped.load(Ordering::Relaxed) {
                return;
            }
            match self.call(number, call).await {
                Ok(result) if !result.is_error => drop(self.done.fetch_add(1, Ordering::Relaxed)),
                Ok(result) => self.failed.lock().unwrap().push(format!("{}: {:?}", result.invocation_id, result.error)),
                Err(said) => self.failed.lock().unwrap().push(said),
            }
        }
    }

    /// One call under one key, tried until there is an answer; each try takes the next way.
    async fn call(&self, number: usize, call: usize) -> Result<v1::ToolResult, String> {
        let spec = v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: "native.echo".to_owned(),
            model_input: Some(payload(format!("{{\"text\":\"{number}/{call}\"}}"))),
            idempotency_key: format!("load-{number}-{call}"),
            ..Default::default()
        };
        let mut last = String::new();
        for attempt in 0..400 {
            self.tries.fetch_add(1, Ordering::Relaxed);
            match once(&self.ways[(number + call + attempt) % self.ways.len()], spec.clone()).await {
                Ok(result) => return Ok(result),
                Err(status) if is_away(&status) => last = format!("{status:?}"),
                Err(status) => return Err(format!("load-{number}-{call}: {status:?}")),
            }
            toolplane_wait::pause(PAUSE, "callers come back after a while").await;
        }
        Err(format!("load-{number}-{call}: nobody was ever there: {last}"))
    }
}

async fn once(clients: &Clients, spec: v1::InvocationSpec) -> Result<v1::ToolResult, tonic::Status> {
    let mut stream =
        clients.invocations().invoke(v1::InvokeRequest { spec: Some(spec), ..Default::default() }).await?.into_inner();
    let mut result = None;
    while let Some(message) = stream.message().await? {
        result = message.result.or(result);
    }
    result.map(|result| *result).ok_or_else(|| tonic::Status::unavailable("the stream ended without a result"))
}
