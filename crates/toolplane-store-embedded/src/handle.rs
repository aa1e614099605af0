//! What the rest of the process holds of a store.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot, watch};
use toolplane_records::time::Timestamp;
use toolplane_store::page::MAX_PAGE;
use toolplane_store::{
    Commit, CommitOutcome, Damage, Durability, EventPage, Family, Found, IndexEntry, MonotonicClock, RecordKey,
    ScoreRange, Store, StoreError, StoreFuture, Versioned,
};

use crate::base::RawRow;
use crate::checkpoint::Checkpointer;
use crate::company::Company;
use crate::fault::{Fault, OpenError};
use crate::files::Files;
use crate::operations::digest;
use crate::options::EmbeddedOptions;
use crate::recovery::{Recovered, recover};
use crate::scan::scan;
use crate::shared::{Shared, Stats, closed};
use crate::space::SpaceWatch;
use crate::writer::{Job, Writer, WriterRequest};

/// A durable store in one directory. Cheap to clone; all clones are the same store.
///
/// [`EmbeddedStore::close`] ends it with a last checkpoint. Dropping the last clone ends it without one, after what is
/// being written: nothing answered is lost, the next opening replays it. Both wait for the store's threads.
#[derive(Clone)]
pub struct EmbeddedStore {
    inner: Arc<WriterHandle>,
}

struct WriterHandle {
    shared: Arc<Shared>,
    requests: Sender<WriterRequest>,
    // One permit for each started KiB of a commit.
    waiting: Arc<Semaphore>,
    waiting_permits: u32,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl EmbeddedStore {
    /// Opens the store in the directory `path`, creating it when missing, readable for this user only.
    ///
    /// Proves every page of the tables and reads the log behind the last checkpoint, so it blocks for a moment, or for
    /// seconds where the tables are gigabytes. Tables with damaged rows are written anew, and the damaged rows set aside;
    /// see [`Store::damage`]. Tables of format 2, which had no checksums, are brought to the present one.
    ///
    /// Fails with [`OpenError::Locked`] while another process or handle has the directory open, and with
    /// [`OpenError::Corrupt`] when more is damaged than can be told apart.
    pub fn open(path: impl AsRef<Path>, options: EmbeddedOptions) -> Result<Self, OpenError> {
        let path = path.as_ref();
        Self::start(Files::open(path, &options)?, options).map_err(|error| error.below(path))
    }

    pub(crate) fn start(files: Files, options: EmbeddedOptions) -> Result<Self, OpenError> {
        let Files { log, state, mended, space, _lock } = files;
        let Recovered { tables, operations, clock, last_lsn, log } = recover(&state, log, mended, &options)?;
        let clock = MonotonicClock::starting_at(Timestamp::from_millis(clock));
        let shared = Arc::new(Shared::new(tables, clock));
        let thread_failed = |error: std::io::Error| OpenError::Storage { reason: error.to_string() };
        let checkpointer = Checkpointer::start(Arc::clone(&shared), state).map_err(thread_failed)?;
        let waiting_permits = permits(options.waiting_bytes, u32::MAX >> 3);
        let (requests, incoming) = channel();
        let writer = Writer {
            shared: Arc::clone(&shared),
            space: SpaceWatch::new(space, &options),
            options,
            requests: incoming,
            operations,
            company: Company::default(),
            began: Instant::now(),
            last_lsn,
            checkpointer,
            log,
            _lock,
        };
        let thread = Builder::new().name("store-writer".to_owned()).spawn(|| writer.run()).map_err(thread_failed)?;
        let inner = WriterHandle {
            shared,
            requests,
            waiting: Arc::new(Semaphore::new(waiting_permits as usize)),
            waiting_permits,
            thread: Mutex::new(Some(thread)),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Why the store stopped, once it did: a write or flush failed, every call answers [`StoreError::Poisoned`], and
    /// the process should end. `None` while it answers.
    pub fn poisoned(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.inner.shared.poisoned()
    }

    /// How much is known to be damaged, and every change of that; [`Store::damage`] names it.
    pub fn damaged(&self) -> watch::Receiver<usize> {
        self.inner.shared.known().damage.count()
    }

    /// What the store did since it was opened.
    pub fn stats(&self) -> Stats {
        let shared = &self.inner.shared;
        Stats {
            commits: shared.commits.load(Ordering::Relaxed),
            groups: shared.groups.load(Ordering::Relaxed),
            checkpoints: shared.checkpoints.load(Ordering::Relaxed),
        }
    }

    /// Moves everything committed so far to the tables and gives up what the log no longer needs. Nothing needs it for
    /// safety. Fails with [`StoreError::Poisoned`] when a write failed, now or before, and with
    /// [`StoreError::Unavailable`] when the store was closed.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        self.inner.shared.check_open()?;
        let (reply, done) = oneshot::channel();
        self.inner.send(WriterRequest::Checkpoint(reply))?;
        done.await.map_err(|_| self.inner.gone())
    }

    /// The rows of these records and streams as they lie in the tables, damaged or not, after a checkpoint: for a
    /// caller that backs up what is about to be deleted. Returns an error as [`checkpoint`](Self::checkpoint) does, and
    /// with [`StoreError::Corrupt`] when a page of the tables cannot be read.
    pub async fn rows(&self, records: &[RecordKey], streams: &[String]) -> Result<Vec<RawRow>, StoreError> {
        self.checkpoint().await?;
        self.read(|shared| shared.tables.read().lower.base.rows(records, streams))
    }

    /// Refuses further calls, applies what waits, makes a last checkpoint, and frees the directory. Fails with
    /// [`StoreError::Poisoned`] when the store is or becomes poisoned; what was answered is on disk even so.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.inner.shared.closed.store(true, Ordering::Release);
        // Gone already: then there is only the thread to wait for.
        drop(self.inner.requests.send(WriterRequest::Stop { checkpoint: true }));
        let thread = self.inner.thread.lock().take();
        if let Some(thread) = thread {
            let joined = tokio::task::spawn_blocking(move || thread.join()).await;
            // A panic in there has poisoned the store.
            drop(joined);
        }
        match self.inner.shared.check_open() {
            Err(poisoned @ StoreError::Poisoned { .. }) => Err(poisoned),
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    pub(crate) fn shared_for_tests(&self) -> Arc<Shared> {
        Arc::clone(&self.inner.shared)
    }

    async fn apply(&self, commit: Commit) -> Result<CommitOutcome, StoreError> {
        let inner = &self.inner;
        commit.validate()?;
        inner.shared.check_open()?;
        let size = commit.size();
        let wanted = permits(size, inner.waiting_permits);
        let permit = Arc::clone(&inner.waiting).acquire_many_owned(wanted).await.map_err(|_| inner.gone())?;
        // It may have closed while this commit waited for its turn.
        inner.shared.check_open()?;
        let operation = commit.operation_id.as_deref().map(digest);
        let (reply, answer) = oneshot::channel();
        inner.send(WriterRequest::Commit(Box::new(Job { commit, operation, size, reply, _permit: permit })))?;
        answer.await.unwrap_or_else(|_| Err(inner.unanswered()))
    }

    fn read<T>(&self, read: impl FnOnce(&Shared) -> Result<T, Fault>) -> Result<T, StoreError> {
        self.inner.shared.read(|| read(&self.inner.shared))
    }
}

impl std::fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedStore").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

fn permits(bytes: usize, most: u32) -> u32 {
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX).min(most)
}

// === impl Inner ===

impl WriterHandle {
    fn send(&self, request: WriterRequest) -> Result<(), StoreError> {
        self.requests.send(request).map_err(|_| self.gone())
    }

    // The writer ended before it came to a request: it was told to, or it poisoned the store.
    fn gone(&self) -> StoreError {
        self.shared.check_open().err().unwrap_or_else(closed)
    }

    // The same for a commit that was handed over; while the store is neither, the writer is about to poison it.
    fn unanswered(&self) -> StoreError {
        let lost = || StoreError::OutcomeUnknown { reason: "the store's writer ended".to_owned() };
        self.shared.check_open().err().unwrap_or_else(lost)
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get_mut().take() {
            drop(self.requests.send(WriterRequest::Stop { checkpoint: false }));
            drop(thread.join());
        }
    }
}

// === impl Store ===

// Reads run where they are called: what is hot lies in memory, and a page from disk is a short wait.
impl Store for EmbeddedStore {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(self.apply(commit))
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move { self.read(|shared| shared.record(key)) })
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        Box::pin(async move { self.read(|shared| shared.records(keys)) })
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        Box::pin(async move { self.read(|shared| scan(&shared.tables.read(), index, &range, limit.min(MAX_PAGE))) })
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move { self.read(|shared| shared.tables.read().indexes(prefix)) })
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(async move { self.read(|shared| shared.tables.read().index_len(index)) })
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        Box::pin(async move { self.read(|shared| shared.events(stream, from_seq, limit.min(MAX_PAGE))) })
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        Box::pin(async move {
            let after = after.unwrap_or_default();
            self.read(|shared| shared.tables.read().keys(family, after, limit.min(MAX_PAGE)))
        })
    }

    fn now(&self) -> StoreFuture<'_, Timestamp> {
        Box::pin(async move { self.read(|shared| Ok(shared.clock.now())) })
    }

    fn durability(&self) -> Durability {
        Durability::Fsynced
    }

    fn damage(&self) -> Vec<Damage> {
        self.inner.shared.damage()
    }
}
