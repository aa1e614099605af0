//! The thread every commit passes through.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use toolplane_store::{Commit, StoreError};

use crate::checkpoint::{Checkpointer, PoisonOnPanic};
use crate::company::Company;
use crate::fault::Fault;
use crate::files::DirectoryLock;
use crate::group::{CommitAnswer, Group};
use crate::log::CommitLog;
use crate::operations::{Digest, OperationMemory};
use crate::options::EmbeddedOptions;
use crate::shared::{Lower, Shared};
use crate::space::SpaceWatch;

/// What the writer is asked to do.
pub(crate) enum WriterRequest {
    /// Apply a commit.
    Commit(Box<Job>),
    /// Move everything to the tables now, and say when it is there.
    Checkpoint(oneshot::Sender<()>),
    /// End; after a last checkpoint if `checkpoint`.
    Stop { checkpoint: bool },
}

/// A well-formed commit and who waits for it.
pub(crate) struct Job {
    pub(crate) commit: Commit,
    pub(crate) operation: Option<Digest>,
    pub(crate) size: usize,
    pub(crate) reply: oneshot::Sender<CommitAnswer>,
    /// The commit's share of what may wait.
    pub(crate) _permit: OwnedSemaphorePermit,
}

/// The writer's own state.
pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) options: EmbeddedOptions,
    pub(crate) requests: Receiver<WriterRequest>,
    pub(crate) operations: OperationMemory,
    pub(crate) company: Company,
    /// When the last group began.
    pub(crate) began: Instant,
    pub(crate) last_lsn: u64,
    pub(crate) checkpointer: Checkpointer,
    pub(crate) log: CommitLog,
    pub(crate) space: SpaceWatch,
    /// Dropped after the files: only then may another process have them.
    pub(crate) _lock: Option<DirectoryLock>,
}

/// Between two looks for further commits.
const COMPANY_STEP: Duration = Duration::from_micros(100);

impl Writer {
    /// Serves requests until told to stop, until no sender is left, or until a write fails.
    pub(crate) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let _guard = PoisonOnPanic(&shared);
        if let Err(fault) = self.serve() {
            shared.poison(&fault.reason());
        }
    }

    fn serve(&mut self) -> Result<(), Fault> {
        let mut log = Vec::new();
        let mut due: Option<Instant> = None;
        loop {
            let mut jobs = Vec::new();
            let other = self.gather(&mut jobs, due);
            if self.shared.is_poisoned() {
                // By a read or a checkpoint. A waiting caller finds that out when the requests are dropped.
                return Ok(());
            }
            if !jobs.is_empty() {
                log = self.commit(jobs, log)?;
            }
            self.note_checkpoint(false)?;
            due = self.plan_checkpoint(due)?;
            match other {
                Some(WriterRequest::Stop { checkpoint }) => return if checkpoint { self.settle() } else { Ok(()) },
                Some(WriterRequest::Checkpoint(reply)) => {
                    self.settle()?;
                    due = None;
                    let asker_left = reply.send(()).is_err();
                    tracing::debug!(asker_left, "checkpoint on request");
                }
                Some(WriterRequest::Commit(_)) | None => {}
            }
        }
    }

    /// Takes what waits, up to a group; blocks only while nothing does (see also [`Company`]), and not beyond `due`.
    /// Answers the request that is not a commit and ended the gathering.
    fn gather(&mut self, jobs: &mut Vec<Job>, due: Option<Instant>) -> Option<WriterRequest> {
        let first = match due {
            None => self.requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => self.requests.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        let began = Instant::now();
        let (mut bytes, mut latest) = (0, began);
        let mut next = first;
        let other = loop {
            match next {
                Ok(WriterRequest::Commit(job)) => {
                    bytes += job.size;
                    jobs.push(*job);
                    latest = Instant::now();
                }
                Ok(other) => break Some(other),
                Err(RecvTimeoutError::Timeout) => {
                    if !self.company.is_expected(jobs.len(), began.elapsed(), latest.elapsed()) {
                        break None;
                    }
                    pause();
                }
                Err(RecvTimeoutError::Disconnected) => break Some(WriterRequest::Stop { checkpoint: false }),
            }
            if jobs.len() >= self.options.group_commits || bytes >= self.options.group_bytes {
                break None;
            }
            next = self.requests.try_recv().map_err(|_| RecvTimeoutError::Timeout);
        };
        self.company.note(jobs.len(), began.duration_since(self.began));
        self.began = began;
        other
    }

    /// Decides the commits, makes those that apply durable, shows them, and answers all. Gives the buffer back.
    fn commit(&mut self, jobs: Vec<Job>, buffer: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let clock = self.shared.clock.now().as_millis();
        self.operations.forget(clock);
        let mut group = Group::start(clock, buffer);
        match self.make_durable(&mut group, jobs) {
            Ok(answers) => {
                let buffer = self.publish(group);
                for (reply, answer) in answers {
                    // A caller that left does not change what was done.
                    drop(reply.send(answer));
                }
                Ok(buffer)
            }
            Err((fault, replies)) => {
                // First the flag, so that no caller who gets this answer finds the store still open.
                self.shared.poison(&fault.reason());
                let answer = Err(StoreError::Poisoned { reason: fault.reason() });
                replies.into_iter().for_each(|reply| drop(reply.send(answer.clone())));
                Err(fault)
            }
        }
    }

    fn make_durable(&mut self, group: &mut Group, jobs: Vec<Job>) -> Result<Answers, (Fault, Vec<Reply>)> {
        let mut decided = Ok(());
        let mut replies = Vec::with_capacity(jobs.len());
        let mut answers = Vec::with_capacity(jobs.len());
        let space = self.space.look(Instant::now());
        let tables = self.shared.tables.read();
        for job in jobs {
            let Job { commit, operation, reply, .. } = job;
            replies.push(reply);
            if decided.is_ok() {
                let answer = group.decide(commit, operation, &tables, &mut self.operations, &space);
                decided = answer.map(|answer| answers.push(answer));
            }
        }
        drop(tables);
        let written = decided.and_then(|()| if group.applied > 0 { self.write_log(&mut group.log) } else { Ok(()) });
        match written {
            Ok(()) => Ok(replies.into_iter().zip(answers).collect()),
            Err(fault) => Err((fault, replies)),
        }
    }

    fn write_log(&mut self, record: &mut Vec<u8>) -> Result<(), Fault> {
        let lsn = self.last_lsn + 1;
        self.log.append(record, lsn)?;
        self.space.note_written(record.len());
        self.last_lsn = lsn;
        Ok(())
    }

    fn publish(&self, group: Group) -> Vec<u8> {
        if group.applied == 0 {
            return group.log;
        }
        self.shared.commits.fetch_add(group.applied, Ordering::Relaxed);
        self.shared.groups.fetch_add(1, Ordering::Relaxed);
        let deleted = group.records.iter().filter(|(_, record)| record.is_none());
        self.shared.forget_damage(deleted.map(|(key, _)| key));
        self.shared.tables.write().active.absorb(group, self.last_lsn)
    }

    // === checkpoints ===

    /// Starts a checkpoint when one is due, and says when the next will be.
    fn plan_checkpoint(&mut self, due: Option<Instant>) -> Result<Option<Instant>, Fault> {
        let (empty, bytes) = {
            let tables = self.shared.tables.read();
            (tables.active.is_empty(), tables.active.bytes)
        };
        if empty {
            return Ok(None);
        }
        let interval = Duration::from_millis(self.options.checkpoint_interval_ms);
        let due = due.unwrap_or_else(|| Instant::now() + interval);
        let full = bytes >= self.options.checkpoint_bytes;
        if !full && Instant::now() < due {
            return Ok(Some(due));
        }
        if self.checkpointer.is_running() {
            if bytes < self.options.checkpoint_bytes.saturating_mul(2) {
                // Asked again with the next group, or soon when there is none.
                return Ok(Some(Instant::now() + interval.min(Duration::from_millis(50))));
            }
            // Commits outrun the tables: waiting here is what bounds the memory.
            self.note_checkpoint(true)?;
        }
        self.freeze();
        Ok(None)
    }

    /// Hands the active layer to the checkpoint thread. Only when none is running.
    fn freeze(&mut self) {
        let mut tables = self.shared.tables.write();
        let frozen = Arc::new(std::mem::take(&mut tables.active));
        let base = Arc::clone(&tables.lower.base);
        tables.lower = Arc::new(Lower { frozen: Some(Arc::clone(&frozen)), base });
        drop(tables);
        self.checkpointer.submit(frozen);
    }

    /// Takes note of a checkpoint that ended; waits for a running one if `wait`.
    fn note_checkpoint(&mut self, wait: bool) -> Result<(), Fault> {
        if let Some(lsn) = self.checkpointer.finished(wait)? {
            self.log.retire(lsn)?;
        }
        Ok(())
    }

    /// Moves everything to the tables and gives up what the log no longer needs.
    fn settle(&mut self) -> Result<(), Fault> {
        self.note_checkpoint(true)?;
        let empty = self.shared.tables.read().active.is_empty();
        if !empty {
            self.freeze();
            self.note_checkpoint(true)?;
        }
        self.log.shrink()
    }
}

type Reply = oneshot::Sender<CommitAnswer>;
type Answers = Vec<(Reply, CommitAnswer)>;

/// The writer is a thread of its own, and nothing ends this wait: requests that come meanwhile are found in the queue.
#[expect(clippy::disallowed_methods, reason = "a tenth of the time an fsync takes, on a thread that does nothing else")]
fn pause() {
    std::thread::sleep(COMPANY_STEP);
}
