//! A running worker.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolplane_execution::Toolbox;
use toolplane_records::ids::WorkerId;
use toolplane_runtime::{Shutdown, tasks};

use crate::assignments::{Assignments, Terms};
use crate::error::ExecutorError;
use crate::options::Options;
use crate::outbox::Outbox;
use crate::reporter::{Finished, Journal, ReportSettings, Reporter, Uploader};
use crate::runner::{RunSettings, Runner};
use crate::schedulers::Schedulers;
use crate::session::{Commands, Drain, Heartbeats, Session};
use crate::wire::ReadBounds;
use crate::worker::{Capabilities, Identity, Introduction};

/// Starts workers.
#[derive(Debug)]
pub struct Executor;

/// A worker that was started. It lives on when this is dropped; [`Handle::ended`] waits for its end.
#[derive(Debug)]
pub struct Handle {
    worker_id: WorkerId,
    incarnation: String,
    capabilities: Capabilities,
    connected: watch::Receiver<bool>,
    ended: watch::Receiver<bool>,
}

impl Executor {
    /// Takes the worker's identity and starts its session with one of `schedulers`. Returns at once; they may be away. Must
    /// be called within a multi-threaded runtime, which then runs the tools.
    ///
    /// `shutdown` drains the worker: it takes no more calls, gives back what has not begun, lets what runs finish within
    /// [`Options::drain`], and says goodbye.
    ///
    /// # Errors
    ///
    /// - [`ExecutorError::Locked`] when another worker uses the same [`Options::data_dir`].
    /// - [`ExecutorError::File`] when a file in it cannot be made, read or locked.
    /// - [`ExecutorError::WorkerId`] when the kept name of the worker is damaged.
    /// - [`ExecutorError::Option`] when [`Options::pools`] names a pool that does not exist.
    /// - [`ExecutorError::Session`] when a thread cannot be started.
    pub fn start(
        options: Options,
        toolbox: Arc<Toolbox>,
        schedulers: Schedulers,
        shutdown: Shutdown,
    ) -> Result<Handle, ExecutorError> {
        let identity = Identity::take(&options.data_dir, options.worker_id.clone())?;
        let (journal, left) = Journal::open(&identity.home.join("journal"))?;
        let introduction = Arc::new(Introduction {
            slots: options.slots.max(1),
            capabilities: Capabilities::of(&toolbox.capabilities(), &options.egress, options.pools.as_deref())?,
            identity,
        });
        announce(&introduction);
        let (connected, seen_connected) = watch::channel(false);
        let own_thread = options.own_thread;
        let (worker_id, incarnation) =
            (introduction.identity.worker_id.clone(), introduction.identity.incarnation.clone());
        let capabilities = introduction.capabilities.clone();
        let parts = wire(options, toolbox, schedulers, introduction, journal, shutdown, connected);
        let ended = parts.spawn(own_thread, left)?;
        Ok(Handle { worker_id, incarnation, capabilities, connected: seen_connected, ended })
    }
}

/// The parts of a worker that do something by themselves.
struct Parts {
    session: Session,
    heartbeats: Heartbeats,
    drain: Drain,
    reporter: Arc<Reporter>,
}

/// Makes the parts of a worker, each from the few it uses.
fn wire(
    options: Options,
    toolbox: Arc<Toolbox>,
    schedulers: Schedulers,
    introduction: Arc<Introduction>,
    journal: Journal,
    shutdown: Shutdown,
    connected: watch::Sender<bool>,
) -> Parts {
    let slots = introduction.slots as usize;
    let bounds = ReadBounds { max_input_bytes: options.max_message_bytes, shown: options.capture_content };
    let (assignments, terms) = (Arc::new(Assignments::new(slots)), Arc::new(Terms::default()));
    let outbox = Arc::new(Outbox::default());
    let uploader = Uploader::new(schedulers.clone(), introduction.clone(), bounds);
    let settings = ReportSettings {
        max_persist_bytes: options.max_persist_bytes,
        persist_timeout: options.persist_timeout,
        journal_after: options.journal_after,
    };
    let reporter = Arc::new(Reporter::new(settings, journal, uploader, assignments.clone(), outbox.clone()));
    let settings = RunSettings {
        workspaces: options.workspaces,
        egress: options.egress,
        queue_parenting: options.queue_parenting,
        capture_content: options.capture_content,
    };
    let runner = Runner {
        settings,
        toolbox,
        slots: Semaphore::new(slots),
        assignments: assignments.clone(),
        terms: terms.clone(),
        outbox: outbox.clone(),
        reporter: reporter.clone(),
    };
    let commands = Arc::new(Commands {
        runner: Arc::new(runner),
        assignments: assignments.clone(),
        terms,
        outbox: outbox.clone(),
        reporter: reporter.clone(),
        runtime: tokio::runtime::Handle::current(),
    });
    let drained = CancellationToken::new();
    Parts {
        drain: Drain {
            bound: options.drain,
            others: options.own_thread,
            shutdown,
            assignments,
            outbox,
            reporter: reporter.clone(),
            drained: drained.clone(),
        },
        heartbeats: Heartbeats {
            introduction: introduction.clone(),
            schedulers: schedulers.clone(),
            bounds,
            commands: commands.clone(),
        },
        session: Session { introduction, schedulers, bounds, commands, connected, drained },
        reporter,
    }
}

impl Parts {
    /// The stream and everything that keeps leases alive, on a thread of its own where [`Options::own_thread`] says so: a
    /// tool that keeps every thread of the runtime busy then delays its own end, never a heartbeat.
    ///
    /// `left` are endings of an earlier start; they are finished before the worker introduces itself.
    fn spawn(self, own_thread: bool, left: Vec<Finished>) -> Result<watch::Receiver<bool>, ExecutorError> {
        let (ended, seen_ended) = watch::channel(false);
        let over = CancellationToken::new();
        let Self { session, heartbeats, drain, reporter } = self;
        heartbeats.spawn(over.clone())?;
        let session = async move {
            // Also when the session panics: a waiting task must not wait without end.
            let _over = SessionOver(ended, over.drop_guard());
            let work = async {
                reporter.recover(left).await;
                session.run().await;
            };
            tokio::select! {
                () = work => {}
                () = drain.run() => {}
            }
        };
        if own_thread {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ExecutorError::Session)?;
            let thread = std::thread::Builder::new().name("executor-session".to_owned());
            thread.spawn(move || runtime.block_on(session)).map_err(ExecutorError::Session)?;
        } else {
            tasks::spawn("executor session", session);
        }
        Ok(seen_ended)
    }
}

/// Says that the session ended; with it the heartbeats do, last of all.
struct SessionOver(watch::Sender<bool>, #[expect(dead_code, reason = "only its drop matters")] DropGuard);

impl Drop for SessionOver {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

impl Handle {
    /// Name of the worker, stable over restarts.
    pub fn worker_id(&self) -> &WorkerId {
        &self.worker_id
    }

    /// This start of it.
    pub fn incarnation(&self) -> &str {
        &self.incarnation
    }

    /// What it serves, and what it does not.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Waits until a scheduler has welcomed the worker.
    pub async fn connected(&mut self) {
        let _ = self.connected.wait_for(|connected| *connected).await;
    }

    /// Waits until the worker has drained and ended. Ask for it through the [`Shutdown`] it was started with.
    pub async fn ended(mut self) {
        let _ = self.ended.wait_for(|ended| *ended).await;
    }
}

fn announce(introduction: &Introduction) {
    let Introduction { identity, slots, capabilities } = introduction;
    let Identity { worker_id, incarnation, .. } = identity;
    tracing::info!(%worker_id, incarnation, slots, pools = capabilities.pools.join(","), "executor starts");
    for gap in &capabilities.gaps {
        tracing::warn!(pool = gap.pool, reason = gap.reason_code, "pool not served: {}", gap.message);
    }
}
