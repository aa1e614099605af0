//! The store itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::{Cmd, Value};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;
use toolplane_store::likeness::Patterns;
use toolplane_store::{Commit, CommitOutcome, DamageList, Durability, StoreError};
use uuid::Uuid;

use crate::barrier::Barrier;
use crate::clock::ServerClock;
use crate::connector::Connector;
use crate::failure::{Class, Failure};
use crate::hints::Inbox;
use crate::identity::StoreIdentity;
use crate::keys::KeySpace;
use crate::layout::{self, Opening};
use crate::link::Link;
use crate::open_error::OpenError;
use crate::options::RedisOptions;
use crate::pulse::Pulse;
use crate::reply::{self, Judged};
use crate::request::{self, CallId, Publisher};
use crate::scripts::By;
use crate::standing::Standing;
use crate::stats::{Counters, Stats};
use crate::task;
use crate::trouble::Trouble;
use crate::value::VERSION_BYTES;

/// The pause before a commit is repeated, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));
/// How often another server is asked when the first one says that it is not the one.
const MOVES: u32 = 3;

/// The cluster's state in Redis, shared by every process that opens the same namespace.
///
/// Cheap to clone; all clones are one store. Needs a Tokio runtime, on which it reads the server's clock twice a second
/// until the last clone is dropped.
#[derive(Clone, Debug)]
pub struct RedisStore {
    inner: Arc<OpenStore>,
}

#[derive(Debug)]
struct OpenStore {
    keys: KeySpace,
    identity: StoreIdentity,
    publisher: Publisher,
    calls: AtomicU64,
    patience: Duration,
    in_cluster: bool,
    link: Link,
    barrier: Option<Barrier>,
    clock: Arc<ServerClock>,
    inbox: Arc<Inbox>,
    standing: Arc<Standing>,
    counters: Arc<Counters>,
    known: DamageList,
    patterns: Patterns,
    _pulse: AbortOnDropHandle<()>,
}

impl RedisStore {
    /// Checks options without connecting. Fails with [`OpenError::InvalidOption`] when the namespace is not 1 to 64
    /// letters, digits, `-`, `_` or `.`, when no server is named, or when an address is not a `redis://` or `rediss://`
    /// URL, and with [`OpenError::File`] when a certificate or key cannot be read.
    pub fn check(options: RedisOptions) -> Result<(), OpenError> {
        let keys = KeySpace::new(&options.namespace, 0)?;
        Connector::new(options, &keys).map(drop)
    }

    /// Connects, and refuses a server that would lose records: one that evicts, is a replica, or is older than 7.0; and a
    /// store of several shards.
    pub async fn open(options: RedisOptions) -> Result<Self, OpenError> {
        let missing = || OpenError::Unreachable { reason: "no store was opened".to_owned() };
        Self::open_shards(vec![options]).await?.pop().ok_or_else(missing)
    }

    /// Opens every shard of one namespace, in their order: each a store of its own, with its own options. Fails as
    /// [`RedisStore::open`] does, and with [`OpenError::Shards`] when the store was made with another number of shards, or one
    /// of them is not where it is looked for. One shard is the store that [`RedisStore::open`] opens.
    pub async fn open_shards(shards: Vec<RedisOptions>) -> Result<Vec<Self>, OpenError> {
        let (mut connectors, mut openings) = (Vec::new(), Vec::new());
        for (number, options) in shards.into_iter().enumerate() {
            let keys = KeySpace::new(&options.namespace, number)?;
            let connector = Arc::new(Connector::new(options, &keys)?);
            let (connection, facts) = connector.primary(None).await?;
            facts.check()?;
            openings.push(Opening { keys, servers: connector.options.servers.clone(), connection });
            connectors.push(connector);
        }
        let names = layout::claim(&mut openings).await?;
        let mut opened = Vec::new();
        for ((connector, opening), identity) in connectors.into_iter().zip(openings).zip(names) {
            opened.push(Self::start(connector, opening.keys, identity).await?);
        }
        Ok(opened)
    }

    async fn start(connector: Arc<Connector>, keys: KeySpace, identity: StoreIdentity) -> Result<Self, OpenError> {
        let (standing, counters) =
            (Arc::new(Standing::unknown(connector.options.refuse_buffered)), Arc::new(Counters::default()));
        let command = if connector.is_cluster() { "SPUBLISH" } else { "PUBLISH" };
        let publisher = Publisher { sender: Uuid::new_v4().into_bytes(), command };
        let (clock, inbox) = (Arc::new(ServerClock::default()), Arc::new(Inbox::new(publisher.sender)));
        let pulse = Pulse {
            connector: Arc::clone(&connector),
            standing: Arc::clone(&standing),
            clock: Arc::clone(&clock),
            inbox: Arc::clone(&inbox),
            channel: keys.channel(),
            identity: (keys.identity(), identity.clone()),
        };
        let beating = pulse.start().await?;
        let waits = connector.options.replicas > 0;
        let inner = OpenStore {
            keys,
            identity,
            publisher,
            calls: AtomicU64::new(0),
            patience: connector.options.command_timeout * 2,
            in_cluster: connector.is_cluster(),
            link: Link::new(Arc::clone(&connector), Arc::clone(&standing), Arc::clone(&counters)),
            barrier: waits.then(|| Barrier::start(&connector, &standing, &counters)),
            clock,
            inbox,
            standing,
            counters,
            known: DamageList::default(),
            patterns: Patterns::default(),
            _pulse: task::owned(pulse.run(beating)),
        };
        let store = Self { inner: Arc::new(inner) };
        store.unlist().await;
        // Whoever meets one reads them; here it only saves the first reader that.
        if let Err(failure) = store.read_patterns().await {
            tracing::debug!(reason = %failure.reason, "the patterns of stored values are read later");
        }
        Ok(store)
    }

    /// Gives back the memory of lists that nothing reads any more.
    async fn unlist(&self) {
        let mut command = redis::cmd("UNLINK");
        command.arg(self.keys().former_lists());
        // The next process that opens the store tries again.
        if let Err(failure) = self.read(&command).await {
            tracing::debug!(reason = %failure.reason, "lists of an earlier version stay where they are");
        }
    }

    /// What the store did so far.
    pub fn stats(&self) -> Stats {
        self.inner.counters.read()
    }

    /// What is wrong with the server at the moment, and every change of it.
    pub fn trouble(&self) -> watch::Receiver<Option<Trouble>> {
        self.inner.standing.trouble()
    }

    /// How much damage was found and is still there as far as is known, and every change of that.
    pub fn damaged(&self) -> watch::Receiver<usize> {
        self.inner.known.count()
    }

    pub(crate) fn keys(&self) -> &KeySpace {
        &self.inner.keys
    }

    pub(crate) fn identity(&self) -> &StoreIdentity {
        &self.inner.identity
    }

    /// What stored values are told by.
    pub(crate) fn patterns(&self) -> &Patterns {
        &self.inner.patterns
    }

    pub(crate) fn clock(&self) -> &ServerClock {
        &self.inner.clock
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inner.inbox
    }

    /// The damage that was found so far.
    pub(crate) fn known(&self) -> &DamageList {
        &self.inner.known
    }

    /// Takes note of damage in an answer.
    pub(crate) fn noted<T>(&self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        answer.map_err(|error| match error {
            StoreError::Damaged(damage) => StoreError::Damaged(self.known().note(damage)),
            other => other,
        })
    }

    pub(crate) fn standing(&self) -> Durability {
        self.inner.standing.durability()
    }

    /// Sends a well-formed commit, and the same one again for as long as its outcome is unknown.
    pub(crate) async fn settle(&self, commit: Commit) -> Result<CommitOutcome, StoreError> {
        if let Some(trouble) = self.inner.standing.stops_commit(commit.essential) {
            return Err(Failure::unfit(&trouble).into());
        }
        Counters::add(&self.inner.counters.commits);
        let call = self.next_call();
        let end = Instant::now() + self.inner.patience;
        let (mut attempt, mut moves, mut pause) = (1, 0, PAUSE.0);
        // The failure when an attempt went out and no answer came: from then on only an answer is an end.
        let mut doubt: Option<String> = None;
        loop {
            let failure = match self.attempt(&commit, (&call, attempt)).await {
                Ok(Judged::Applied) => return Ok(CommitOutcome::Applied),
                Ok(Judged::Outcome(outcome)) => return outcome,
                // The attempt that was answered instead is this call's own, so its answer would have ended the call.
                Ok(Judged::Emptied) => {
                    self.inner.standing.kept(false);
                    Failure::unfit(&Trouble::Emptied)
                }
                Ok(Judged::Patternless) => self.keep_again().await,
                Ok(Judged::TooLate) => Failure::strange("a later attempt was answered first"),
                Err(failure) => failure,
            };
            let met = failure.reason.clone();
            match failure.class {
                Class::Torn => {
                    tracing::error!(reason = %failure.reason, "a commit failed after its first write");
                    return Err(StoreError::Corrupt { reason: failure.reason });
                }
                // In a cluster, nodes learn from each other where a slot went.
                Class::Elsewhere if moves < MOVES || self.inner.in_cluster => moves += 1,
                Class::Moving => {}
                Class::NoOp | Class::Elsewhere | Class::NoScript | Class::Unfit if doubt.is_none() => {
                    return Err(failure.into());
                }
                Class::NoOp | Class::Elsewhere | Class::NoScript | Class::Unfit => {}
                Class::Ambiguous => drop(doubt.get_or_insert(failure.reason)),
            }
            if Instant::now() + pause >= end {
                // Without a doubt nothing was done, however often it was tried.
                let Some(first) = doubt else { return Err(StoreError::Unavailable { reason: met }) };
                return Err(StoreError::OutcomeUnknown { reason: format!("{first}; at last: {met}") });
            }
            Counters::add(&self.inner.counters.repeats);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
            attempt += 1;
        }
    }

    // The sender and a count: as unique as the sender, and cheaper than drawing again.
    fn next_call(&self) -> CallId {
        let count = self.inner.calls.fetch_add(1, Ordering::Relaxed);
        u128::from_be_bytes(self.inner.publisher.sender).wrapping_add(u128::from(count)).to_be_bytes()
    }

    async fn attempt(&self, commit: &Commit, (call, attempt): (&CallId, u32)) -> Result<Judged, Failure> {
        let encode = |by| {
            let OpenStore { keys, publisher, identity, patterns, .. } = &*self.inner;
            request::encode(commit, keys, publisher, identity, patterns, (call, attempt), by)
        };
        let answer = self.run(&encode, self.inner.barrier.as_ref()).await?;
        self.keep_found();
        self.learn(&answer, VERSION_BYTES).await?;
        reply::judged(answer, commit, call, self.patterns())
    }

    /// Runs a script that only reads.
    pub(crate) async fn read_script(&self, encode: &(dyn Fn(By) -> Cmd + Sync)) -> Result<Value, Failure> {
        self.readable()?;
        let mut patience = Patience::new(&self.inner);
        loop {
            let answer = self.run(encode, None).await;
            if !patience.allows_another(&answer).await {
                return answer;
            }
        }
    }

    /// Runs a command that only reads.
    pub(crate) async fn read(&self, command: &Cmd) -> Result<Value, Failure> {
        self.readable()?;
        let mut patience = Patience::new(&self.inner);
        loop {
            let answer = self.inner.link.ask(command).await;
            if !patience.allows_another(&answer).await {
                return answer;
            }
        }
    }

    fn readable(&self) -> Result<(), Failure> {
        self.inner.standing.stops_read().map_or(Ok(()), |trouble| Err(Failure::unfit(&trouble)))
    }

    async fn run(&self, encode: &(dyn Fn(By) -> Cmd + Sync), barrier: Option<&Barrier>) -> Result<Value, Failure> {
        Counters::add(&self.inner.counters.scripts);
        let mut by = By::Digest;
        loop {
            let command = encode(by);
            let answer = match barrier {
                Some(barrier) => barrier.ask(command).await,
                None => self.inner.link.ask(&command).await,
            };
            match answer {
                Err(failure) if failure.class == Class::NoScript && by == By::Digest => by = By::Text,
                other => return other,
            }
        }
    }
}

/// How long a read goes on when answers are lost: reading twice does no harm.
struct Patience<'a> {
    inner: &'a OpenStore,
    end: Instant,
    pause: Duration,
}

impl<'a> Patience<'a> {
    fn new(inner: &'a OpenStore) -> Self {
        Self { inner, end: Instant::now() + inner.patience, pause: PAUSE.0 }
    }

    /// Waits a little and says yes when the answer was lost, or is given elsewhere, and there is time.
    async fn allows_another(&mut self, answer: &Result<Value, Failure>) -> bool {
        let lost = answer.as_ref().is_err_and(Failure::passes);
        if !lost || Instant::now() + self.pause >= self.end {
            return false;
        }
        Counters::add(&self.inner.counters.repeats);
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE.1);
        true
    }
}
