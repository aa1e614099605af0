//! Sessions that are kept and lent: one for each key, begun when it is wanted, replaced when it is old, and given up when its server keeps
//! failing.
//!
//! ```text
//! lend ──► nothing kept ──start──► kept ──lent, given back──► kept ── idle, old, used up, over ──► gone
//!              ▲                     │                                (its calls end first)
//!              └──── backoff ◄───────┴─ start failed, or it was over before any answer
//!                       └─ too often: nothing is started until one try is due
//! ```
//!
//! All times are those of the runtime's clock.

mod kept;
mod slot;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard, OwnedSemaphorePermit, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use toolplane_records::codes::{self, Code};

use crate::failure::StartError;
use crate::meta::Era;
use crate::session::{Order, Session, SessionOptions, Transport};
use kept::Kept;
pub use kept::Lent;
use slot::{Next, Slot};

/// What keeps a server running. Dropping it ends everything that was started for it, the whole tree of processes; the streams of the
/// session are closed then, so it may give a server a moment to end by itself.
pub type Guard = Box<dyn std::any::Any + Send + Sync>;

/// What is done when a server says that its tools have changed.
pub type OnChange = Box<dyn Fn() + Send>;

/// A server that was started, or an address that is used.
pub struct Started {
    /// How it is reached.
    pub transport: Transport,
    /// What keeps it running.
    pub guard: Guard,
    /// Done whenever the server says that its tools have changed, as long as its session is kept.
    pub on_change: Option<OnChange>,
    /// It is for more calls than the one that wants it.
    pub is_shared: bool,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("transport", &self.transport).finish_non_exhaustive()
    }
}

/// Starts a server. The reason of a failure is told to who wanted a session.
pub type Start<'a> = dyn Fn() -> BoxFuture<'a, Result<Started, String>> + Send + Sync + 'a;

/// How long sessions are kept, and how much they are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// How long a session that is not lent is kept.
    pub idle: Duration,
    /// How long a session is lent at all. Its calls end first.
    pub lifetime: Duration,
    /// How often a session is lent at most.
    pub calls: u64,
    /// How many calls share a session at once; further ones wait.
    pub at_once: usize,
    /// Most sessions in all, those included that only end their calls. When all are in use, no other is started.
    pub sessions: usize,
    /// The wait before the second start after a failure; doubles with each further one.
    pub first_wait: Duration,
    /// The longest of these waits.
    pub longest_wait: Duration,
    /// So many failures in a row, and nobody waits for the next try any more: it is refused until that is due, and then one tries.
    pub failures: u32,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(300),
            lifetime: Duration::from_secs(3_600),
            calls: 10_000,
            at_once: 8,
            sessions: 64,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            failures: 3,
        }
    }
}

/// Why there is no session. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LendError {
    /// The server was not started.
    #[error("the server was not started: {0}")]
    NotStarted(String),
    /// It was started, and no session began.
    #[error("no session with the server began: {0}")]
    NoSession(StartError),
    /// It failed so often that it is left alone for a while.
    #[error("the server failed {failures} times in a row, and is tried again in {} s: {last}", wait.as_secs())]
    LeftAlone {
        /// How often.
        failures: u32,
        /// Until the next try.
        wait: Duration,
        /// The last failure.
        last: String,
    },
    /// As many sessions as there may be are in use.
    #[error("all {0} sessions with servers are in use")]
    AllInUse(usize),
}

impl LendError {
    /// The code of a call that ends so.
    pub fn code(&self) -> Code {
        codes::MCP_NOT_STARTED
    }
}

/// Sessions by key, e.g. a server and a tenant. The key must say all that the sessions of two keys must not share.
pub struct Sessions<K> {
    limits: PoolLimits,
    options: SessionOptions,
    inside: Mutex<Inside<K>>,
    /// Something is kept that may have to go.
    kept: Arc<Notify>,
    /// Sessions that begin. They end with the pool.
    beginning: Mutex<JoinSet<()>>,
    /// Places for sessions, those included that only end their calls.
    places: Arc<tokio::sync::Semaphore>,
}

/// What there is.
#[derive(Debug)]
struct Inside<K> {
    slots: HashMap<K, Arc<Slot>>,
}

/// Keys that are remembered beside those of sessions, for what failed and what is spoken.
const IDLE_KEYS: usize = 1_024;

impl<K> fmt::Debug for Sessions<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl<K: Hash + Eq + Clone> Sessions<K> {
    /// No session yet. `options` are those of every session.
    pub fn new(limits: PoolLimits, options: SessionOptions) -> Self {
        let places = Arc::new(tokio::sync::Semaphore::new(limits.sessions));
        let inside = Mutex::new(Inside { slots: HashMap::new() });
        Self { limits, options, inside, kept: Arc::default(), beginning: Mutex::default(), places }
    }

    /// A session of that key: the one that is kept, or a new one. Waits for its turn, and for a short while after a failure. When the
    /// future is dropped, a server that was started for more calls than one goes on beginning its session, for the next call.
    pub async fn lend(&self, key: &K, start: &Start<'_>) -> Result<Lent, LendError> {
        let slot = self.slot(key);
        loop {
            if let Some(kept) = slot.usable(&self.limits, Instant::now())
                && let Some(lent) = kept.lend(&self.limits).await
            {
                return Ok(lent);
            }
            // One start at a time for each key; who waited looks again for what it started.
            let turn = Arc::clone(&slot.starting).lock_owned().await;
            if slot.usable(&self.limits, Instant::now()).is_some() {
                continue;
            }
            match slot.next(&self.limits, Instant::now()) {
                Next::Start => {}
                Next::Wait(until) => {
                    tokio::time::sleep_until(until).await;
                }
                Next::Refuse(error) => return Err(error),
            }
            self.start(&slot, turn, start).await?;
        }
    }

    /// Sessions that are kept, lent or not.
    pub fn len(&self) -> usize {
        self.limits.sessions - self.places.available_permits()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets all sessions of keys go for which this is so: calls end first, and the next one gets a new session.
    pub fn let_go(&self, which: impl Fn(&K) -> bool) {
        let slots: Vec<_> =
            self.inside.lock().slots.iter().filter(|(key, _)| which(key)).map(|(_, slot)| slot.clone()).collect();
        slots.iter().for_each(|slot| slot.let_go(&self.limits, Instant::now()));
    }

    /// Lets go what is idle, old or over, when it is due. To be run beside the pool, until it is dropped: without it nothing goes until
    /// it is wanted again.
    pub async fn tend(&self) {
        loop {
            let now = Instant::now();
            let slots: Vec<_> = self.inside.lock().slots.values().cloned().collect();
            let due = slots.iter().filter_map(|slot| slot.tend(&self.limits, now)).min();
            tokio::select! {
                () = self.kept.notified() => {}
                () = until(due) => {}
            }
        }
    }

    fn slot(&self, key: &K) -> Arc<Slot> {
        let mut inside = self.inside.lock();
        if inside.slots.len() > IDLE_KEYS {
            inside.slots.retain(|_, slot| Arc::strong_count(slot) > 1 || !slot.is_forgettable(Instant::now()));
        }
        inside.slots.entry(key.clone()).or_default().clone()
    }

    /// Starts a server and begins a session with it. That one is kept for others, too, when the call that wanted it does not wait.
    async fn start(&self, slot: &Arc<Slot>, turn: OwnedMutexGuard<()>, start: &Start<'_>) -> Result<(), LendError> {
        let place = self.place(slot)?;
        let started = start().await.map_err(|why| {
            let error = LendError::NotStarted(why);
            slot.failed(&self.limits, error.to_string(), Instant::now());
            error
        })?;
        let order = if slot.spoke() == Some(Era::Initialized) { Order::OldFirst } else { self.options.order };
        let options = SessionOptions { order, ..self.options.clone() };
        let is_shared = started.is_shared;
        let begin = begin(started, options, place, Arc::clone(slot), self.limits.clone(), Arc::clone(&self.kept));
        if !is_shared {
            return begin.await;
        }
        let (tell, told) = oneshot::channel();
        {
            let mut beginning = self.beginning.lock();
            while beginning.try_join_next().is_some() {}
            beginning.spawn(async move {
                let begun = begin.await;
                drop(turn);
                let _ = tell.send(begun);
            });
        }
        told.await.unwrap_or_else(|_| Err(LendError::NotStarted("its beginning was broken off".to_owned())))
    }

    /// A place for one more session; one that nobody uses makes room.
    fn place(&self, wanting: &Slot) -> Result<OwnedSemaphorePermit, LendError> {
        let take = || self.places.clone().try_acquire_owned();
        if let Ok(place) = take() {
            return Ok(place);
        }
        let slots: Vec<_> = self.inside.lock().slots.values().cloned().collect();
        let idle = slots.iter().filter(|slot| !std::ptr::eq(slot.as_ref(), wanting));
        if let Some((_, idlest)) =
            idle.filter_map(|slot| Some((slot.idle_since()?, slot))).min_by_key(|(since, _)| *since)
        {
            idlest.let_go(&self.limits, Instant::now());
        }
        take().map_err(|_| LendError::AllInUse(self.limits.sessions))
    }
}

/// Begins a session with a server that was started, and keeps it.
async fn begin(
    started: Started,
    options: SessionOptions,
    place: OwnedSemaphorePermit,
    slot: Arc<Slot>,
    limits: PoolLimits,
    kept: Arc<Notify>,
) -> Result<(), LendError> {
    let Started { transport, guard, on_change, .. } = started;
    let session = Session::start(transport, options).await.map_err(|error| {
        let error = LendError::NoSession(error);
        slot.failed(&limits, error.to_string(), Instant::now());
        error
    })?;
    if let Some(on_change) = on_change {
        session.on_change(on_change);
    }
    slot.keep(Kept::new(session, guard, place, &limits));
    kept.notify_one();
    Ok(())
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
