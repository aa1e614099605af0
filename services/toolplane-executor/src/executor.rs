//! A running worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolplane_execution::Toolbox;
use toolplane_proto::v1::WorkerHello;
use toolplane_records::ids::WorkerId;
use toolplane_runtime::{Shutdown, tasks};

use crate::beats;
use crate::capabilities::Capabilities;
use crate::drain;
use crate::error::ExecutorError;
use crate::execution;
use crate::identity::{Identity, PREVIOUS_INCARNATION_DEAD};
use crate::journal::{Finished, Journal};
use crate::leases::Leases;
use crate::options::Options;
use crate::outbox::Outbox;
use crate::schedulers::Schedulers;
use crate::session;
use crate::terms::Terms;
use crate::upload::Uploader;

/// Bytes of one text or JSON value in a report until a scheduler says otherwise.
const DEFAULT_INLINE_BYTES: u64 = 64 * 1024;

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

/// What all parts of a worker share.
pub(crate) struct Core {
    pub(crate) options: Options,
    pub(crate) identity: Identity,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) capabilities: Capabilities,
    pub(crate) leases: Leases,
    pub(crate) outbox: Outbox,
    pub(crate) journal: Journal,
    pub(crate) terms: Terms,
    /// Rings when a lease should be renewed at once.
    pub(crate) beat_now: Notify,
    pub(crate) schedulers: Schedulers,
    pub(crate) uploader: Uploader,
    pub(crate) slots: Semaphore,
    /// Where tools run; never the session's own thread.
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) shutdown: Shutdown,
    pub(crate) connected: watch::Sender<bool>,
    /// Cancelled when the drain's time is up: what is still being kept is given up.
    pub(crate) hurry: CancellationToken,
    draining: AtomicBool,
    drained: AtomicBool,
    inline_bytes: AtomicU64,
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
        let capabilities = Capabilities::of(&toolbox.capabilities(), &options.egress, options.pools.as_deref())?;
        let (journal, left) = Journal::open(&identity.home.join("journal"))?;
        announce(&identity, &options, &capabilities);
        let slots = options.slots.max(1) as usize;
        let (connected, seen_connected) = watch::channel(false);
        let core = Arc::new(Core {
            toolbox,
            capabilities,
            leases: Leases::new(slots),
            outbox: Outbox::default(),
            journal,
            terms: Terms::default(),
            beat_now: Notify::new(),
            uploader: Uploader::new(schedulers.clone(), &identity),
            schedulers,
            slots: Semaphore::new(slots),
            runtime: tokio::runtime::Handle::current(),
            shutdown,
            connected,
            hurry: CancellationToken::new(),
            draining: AtomicBool::new(false),
            drained: AtomicBool::new(false),
            inline_bytes: AtomicU64::new(DEFAULT_INLINE_BYTES),
            options,
            identity,
        });
        let handle = Handle {
            worker_id: core.identity.worker_id.clone(),
            incarnation: core.identity.incarnation.clone(),
            capabilities: core.capabilities.clone(),
            connected: seen_connected,
            ended: spawn_session(core, left)?,
        };
        Ok(handle)
    }
}

/// The stream and everything that keeps leases alive, on a thread of its own where [`Options::own_thread`] says so: a
/// tool that keeps every thread of the runtime busy then delays its own end, never a heartbeat.
///
/// `left` are endings of an earlier start; they are finished before the worker introduces itself.
fn spawn_session(core: Arc<Core>, left: Vec<Finished>) -> Result<watch::Receiver<bool>, ExecutorError> {
    let (ended, seen_ended) = watch::channel(false);
    let own_thread = core.options.own_thread;
    let over = CancellationToken::new();
    beats::spawn(core.clone(), over.clone())?;
    let session = async move {
        // Also when the session panics: whoever waits must not wait for ever.
        let _ended = Ended(ended, over.drop_guard());
        let work = async {
            execution::report_recovered(&core, left).await;
            session::run(core.clone()).await;
        };
        tokio::select! {
            () = work => {}
            () = drain::run(core.clone()) => {}
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

/// Says that the session ended; with it the heartbeats do, last of all.
struct Ended(watch::Sender<bool>, #[expect(dead_code, reason = "only its drop matters")] DropGuard);

impl Drop for Ended {
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

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Core {
    /// Takes no more calls, for good.
    pub(crate) fn start_draining(&self) {
        self.draining.store(true, Ordering::Release);
        self.outbox.want_calls(false);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Everything is said; the goodbye is for good.
    pub(crate) fn end_drain(&self) {
        self.drained.store(true, Ordering::Release);
        self.outbox.goodbye();
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.drained.load(Ordering::Acquire)
    }

    /// Most bytes of one text or JSON value in a report.
    pub(crate) fn inline_bytes(&self) -> u64 {
        self.inline_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn set_inline_bytes(&self, bytes: u64) {
        self.inline_bytes.store(bytes, Ordering::Relaxed);
    }

    /// How this worker introduces itself; what it holds is added by the outbox.
    pub(crate) fn hello(&self) -> WorkerHello {
        WorkerHello {
            worker_id: self.identity.worker_id.to_string(),
            incarnation: self.identity.incarnation.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            slots: self.options.slots.max(1),
            pools: self.capabilities.pools.clone(),
            native_tools: self.capabilities.native_tools.clone(),
            gaps: self.capabilities.gaps.clone(),
            posture: Some((&self.capabilities.posture).into()),
            held: Vec::new(),
            finished: Vec::new(),
            previous_incarnation_dead: PREVIOUS_INCARNATION_DEAD,
            kept_endings_follow: false,
        }
    }
}

fn announce(identity: &Identity, options: &Options, capabilities: &Capabilities) {
    tracing::info!(
        worker_id = %identity.worker_id,
        incarnation = identity.incarnation,
        slots = options.slots,
        pools = capabilities.pools.join(","),
        "executor starts"
    );
    for gap in &capabilities.gaps {
        tracing::warn!(pool = gap.pool, reason = gap.reason_code, "pool not served: {}", gap.message);
    }
}
