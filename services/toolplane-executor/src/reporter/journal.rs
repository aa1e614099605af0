//! Endings on disk: what a tool gave is durable here before it is reported, so that a worker that dies between the
//! effect and the report still reports it when it is back.
//!
//! One append-only log in segments, written by one thread: endings that come together share one `fdatasync`. A call costs
//! that one wait, so only those are kept that cannot simply run again: calls that must not be repeated, and long ones. An
//! ending leaves the log when the scheduler has acknowledged it; a segment whose endings have all left is removed, and the newest is emptied
//! when its worker has had nothing to do for a while or stops.
//!
//! A log that cannot be written is no reason to lose a result: the call is reported as without a journal.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use toolplane_sandbox::{OutputFile, output_file};

use crate::error::ExecutorError;
use crate::messages::Lease;

mod entry;
mod frame;
#[cfg(test)]
mod fuzz;
mod log;
#[cfg(test)]
mod tests;

pub(crate) use entry::{Finished, Frame};
use log::{Log, key_of};

/// Orders taken at once.
const GROUP: usize = 256;

/// How long nothing is asked before a log without endings is emptied.
const QUIET: Duration = Duration::from_secs(10);

/// What the writing thread is asked to do.
#[derive(Debug)]
enum Order {
    /// Make an ending durable, then answer.
    Keep { key: String, entry: Vec<u8>, kept: oneshot::Sender<io::Result<()>> },
    /// An ending is needed no more.
    Settle { key: String },
}

/// The journal of a worker. Dropping it waits until everything that was asked of it is written: the directory is free then.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Both are there until this is dropped.
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    /// Endings in the log, with their outputs in files.
    live: Arc<Mutex<HashMap<String, Vec<Arc<OutputFile>>>>>,
}

impl Journal {
    /// Opens the journal in `dir`, and gives the endings an earlier start of this worker left there, oldest first. Outputs that do
    /// not fit into memory are in `outputs`; those that no ending names are removed. The caller must be the only one to use the
    /// directories.
    pub(crate) fn open(dir: &Path, outputs: &Path) -> Result<(Self, Vec<Finished>), ExecutorError> {
        let (log, left) = Log::open(dir).map_err(ExecutorError::file(dir))?;
        let left: Vec<_> = left.iter().filter_map(|entry| Finished::read(entry, outputs)).collect();
        let live: HashMap<_, _> = left.iter().map(|finished| (key_of(&finished.lease), finished.files())).collect();
        let named: Vec<_> = live.values().flatten().map(|file| file.path()).collect();
        remove_unnamed(outputs, &named).map_err(ExecutorError::file(outputs))?;
        let live = Arc::new(Mutex::new(live));
        let (orders, taken) = mpsc::channel();
        let thread = std::thread::Builder::new().name("executor-journal".to_owned());
        let thread = thread.spawn(move || write(log, &taken)).map_err(ExecutorError::Session)?;
        Ok((Self { orders: Some(orders), thread: Some(thread), live }, left))
    }

    /// Keeps an ending; when this returns without an error it survives the worker and its machine.
    pub(crate) async fn keep(&self, finished: &Finished) -> io::Result<()> {
        let (kept, answer) = oneshot::channel();
        let key = key_of(&finished.lease);
        let gone = || io::Error::other("the journal's thread is gone");
        let files = finished.files();
        if !files.is_empty() {
            synced(files.clone()).await?;
        }
        self.live.lock().insert(key.clone(), files);
        let order = Order::Keep { key, entry: finished.write(), kept };
        let kept = match self.order(order) {
            true => answer.await.unwrap_or_else(|_| Err(gone())),
            false => Err(gone()),
        };
        if kept.is_err() {
            self.settle(&finished.lease);
        }
        kept
    }

    /// The ending of `lease`, if there is one, is needed no more. Returns at once.
    pub(crate) fn settle(&self, lease: &Lease) {
        let key = key_of(lease);
        if self.live.lock().remove(&key).is_some() {
            // Without its thread there is nothing to forget in.
            self.order(Order::Settle { key });
        }
    }

    /// False when no thread is left to carry it out.
    fn order(&self, order: Order) -> bool {
        self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        drop(self.orders.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the journal of endings panicked");
        }
        // The log still names them.
        self.live.lock().values().flatten().for_each(|file| file.leave());
    }
}

/// Removes outputs that no ending names: their calls were not in the journal.
fn remove_unnamed(outputs: &Path, named: &[&Path]) -> io::Result<()> {
    let files = match std::fs::read_dir(outputs) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for file in files {
        let path = file?.path();
        if path.extension().is_some_and(|ending| ending == output_file::ENDING) && !named.contains(&path.as_path()) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Makes files durable, with their names.
async fn synced(files: Vec<Arc<OutputFile>>) -> io::Result<()> {
    let synced = tokio::task::spawn_blocking(move || {
        for file in files {
            File::open(file.path())?.sync_all()?;
            if let Some(dir) = file.path().parent() {
                File::open(dir)?.sync_all()?;
            }
        }
        Ok(())
    });
    synced.await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Carries out orders until no sender is left. What is needed no more is not left lying about: endings are as tools gave them.
fn write(mut log: Log, orders: &Receiver<Order>) {
    loop {
        let first = match orders.recv_timeout(QUIET) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => {
                log.empty();
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return log.empty(),
        };
        let more = std::iter::from_fn(|| orders.try_recv().ok()).take(GROUP);
        let group: Vec<_> = std::iter::once(first).chain(more).collect();
        let mut answers = Vec::new();
        for order in group {
            match order {
                Order::Keep { key, entry, kept } => {
                    let taken = log.keep(key, &entry);
                    answers.push((kept, taken));
                }
                Order::Settle { key } => log.settle(&key),
            }
        }
        let wanted = answers.iter().any(|(_, taken)| taken.is_ok());
        let synced = log.commit(wanted).map_err(|error| error.to_string());
        if let Err(error) = &synced {
            tracing::warn!(error, "the journal of endings cannot be written");
        }
        for (kept, taken) in answers {
            let durable = taken.and_then(|()| synced.clone().map_err(io::Error::other));
            let _ = kept.send(durable);
        }
    }
}
