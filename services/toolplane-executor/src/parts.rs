//! All parts of a worker, made and wired. Reading [`wire`] shows the whole house: each part is made from the few it uses, and none of
//! them knows the part that uses it.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolplane_cleaning::Cleaner;
use toolplane_execution::Toolbox;
use toolplane_runtime::{Shutdown, tasks};

use crate::assignments::{Assignments, Terms};
use crate::error::ExecutorError;
use crate::options::ExecutorOptions;
use crate::outbox::Outbox;
use crate::reporter::{Finished, Journal, ReportSettings, Reporter, Uploader};
use crate::runner::{RunSettings, Runner};
use crate::schedulers::Schedulers;
use crate::session::{Commands, Drain, Heartbeats, Session};
use crate::wire::ReadBounds;
use crate::worker::Introduction;

/// The parts of a worker that do something by themselves.
pub(crate) struct Parts {
    session: Session,
    heartbeats: Heartbeats,
    drain: Drain,
    reporter: Arc<Reporter>,
}

/// Makes the parts of a worker, each from the few it uses.
pub(crate) fn wire(
    options: ExecutorOptions,
    toolbox: Arc<Toolbox>,
    schedulers: Schedulers,
    introduction: Arc<Introduction>,
    journal: Journal,
    shutdown: Shutdown,
    connected: watch::Sender<bool>,
) -> Parts {
    let (slots, changes) = (introduction.slots as usize, toolbox.provider_changes());
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
        captured: options.capture_content.then(|| Cleaner::new(&options.cleaning)),
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
        session: Session { introduction, schedulers, bounds, commands, changes, connected, drained },
        reporter,
    }
}

impl Parts {
    /// The stream and everything that keeps leases alive, on a thread of its own where [`ExecutorOptions::own_thread`] says so: a
    /// tool that keeps every thread of the runtime busy then delays its own end, never a heartbeat.
    ///
    /// `left` are endings of an earlier start; they are finished before the worker introduces itself.
    pub(crate) fn spawn(self, own_thread: bool, left: Vec<Finished>) -> Result<watch::Receiver<bool>, ExecutorError> {
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
