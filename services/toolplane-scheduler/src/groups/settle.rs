//! Settling: reading a scope and the calls that asked for it, deciding, and storing all of it in one commit.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use toolplane_lifecycle::{Known, Scope, Transition, batch, locks};
use toolplane_records::batch::Batch;
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey, TenantId};
use toolplane_records::locks::LockDomain;
use toolplane_records::time::Timestamp;
use toolplane_store::{Expect, IndexEntry, RecordKey, ScoreRange, Versioned};

use super::keys;
use crate::calls::{Calls, CallsById, Joint, Together};
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, keys as store_keys};

/// Entries of one scope settled at once.
const PASS: usize = 256;
/// How often a scope is decided again in a row because another scheduler changed what was read. Then the next look has
/// its turn.
const TRIES: usize = 32;

/// Scopes being settled here. True: something changed since the settling began.
type Busy = Arc<Mutex<HashMap<Scope, bool>>>;

/// The outcome of one attempt.
enum Settled {
    /// Everything that was read is settled; true when there may be more entries.
    Stored { more: bool },
    /// Nothing to do, or nothing that can be done yet.
    Quiet,
    /// More has to be read, which was not asked for before: there is an end to that.
    Unread,
    /// Something changed meanwhile.
    Again,
}

/// Settles scopes. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Settler {
    calls: Calls,
    /// How often scopes are looked for that were not settled elsewhere, milliseconds.
    tick_ms: u64,
    /// How long a lock stays with an ended call whose worker may not know it, milliseconds: a lease.
    linger_ms: i64,
}

impl Settler {
    pub(crate) fn new(calls: Calls, tick_ms: u64, linger_ms: i64) -> Self {
        Self { calls, tick_ms, linger_ms }
    }

    /// Settles scopes as they ask for it, and looks for those that were not settled elsewhere, in an endless loop.
    pub(crate) async fn run(&self, mut asked: mpsc::Receiver<Scope>) {
        let busy = Busy::default();
        let mut look = tokio::time::interval(Duration::from_millis(self.tick_ms.max(10)));
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = look.tick() => {
                    if let Err(error) = self.settle_all(&busy).await {
                        tracing::warn!(%error, "scopes could not be looked through; trying again");
                    }
                }
                scope = asked.recv() => match scope {
                    Some(scope) => self.settle_beside(&busy, scope),
                    None => return std::future::pending().await,
                },
            }
        }
    }

    async fn settle_all(&self, busy: &Busy) -> Result<(), RecordError> {
        for index in self.calls.storage().indexes(store_keys::COORDINATION).await? {
            match index.strip_prefix(store_keys::COORDINATION).map(str::parse::<Scope>) {
                Some(Ok(scope)) => self.settle_beside(busy, scope),
                _ => tracing::error!(index, "an index of coordination names no scope"),
            }
        }
        Ok(())
    }

    /// Settles `scope` in a task of its own, one at a time.
    fn settle_beside(&self, busy: &Busy, scope: Scope) {
        if let Some(changed) = busy.lock().get_mut(&scope) {
            *changed = true;
            return;
        }
        busy.lock().insert(scope.clone(), false);
        let (settler, busy) = (self.clone(), busy.clone());
        self.calls.storage().environment().spawn(async move {
            loop {
                if let Err(error) = settler.settle_scope(&scope).await {
                    tracing::warn!(%scope, %error, "a scope could not be settled yet");
                }
                let mut busy = busy.lock();
                match busy.get_mut(&scope) {
                    Some(changed) if *changed => *changed = false,
                    _ => {
                        busy.remove(&scope);
                        return;
                    }
                }
            }
        });
    }

    /// Settles everything that is asked of `scope` now.
    pub(crate) async fn settle_scope(&self, scope: &Scope) -> Result<(), RecordError> {
        let (mut extra, mut tries) = (Vec::new(), 0);
        while tries < TRIES {
            let entries = self.calls.storage().scan(&store_keys::coordination(scope), ScoreRange::all(), PASS).await?;
            if entries.is_empty() {
                return Ok(());
            }
            let settled = match scope {
                Scope::Batch { tenant, id } => self.settle_batch(tenant, id, &entries, &mut extra).await?,
                Scope::Locks { tenant, domain } => self.settle_locks(tenant, domain, &entries, &mut extra).await?,
            };
            match settled {
                Settled::Stored { more: true } => tries = 0,
                Settled::Stored { more: false } | Settled::Quiet => return Ok(()),
                Settled::Unread => {}
                Settled::Again => tries += 1,
            }
        }
        Ok(())
    }

    async fn settle_batch(
        &self,
        tenant: &TenantId,
        id: &BatchId,
        entries: &[IndexEntry],
        extra: &mut Vec<InvocationKey>,
    ) -> Result<Settled, RecordError> {
        let scope = Scope::Batch { tenant: tenant.clone(), id: id.clone() };
        let key = keys::batch(tenant, id);
        let Some(stored) = self.calls.storage().get(&key).await? else {
            // Retention took the batch with everything in it.
            return self.drop_entries(&scope, key, entries).await;
        };
        let before: Batch = serde_json::from_slice(&stored.bytes)?;
        let read = ScopeRead::of(&scope, entries, extra);
        let mut missing = Vec::new();
        let outcome = self.calls.change_together(&read.ids, |records, now| {
            let step = batch::settle(&before, &read.known(records), now);
            if !step.missing.is_empty() {
                missing = step.missing;
                return Ok(None);
            }
            let mut rest = Builder::default();
            rest.compare(key.clone(), Expect::Version(stored.version));
            if step.batch != before {
                rest.put_json(key.clone(), &step.batch)?;
            }
            if let Some(ended_at) = step.batch.ended_at.filter(|_| before.ended_at.is_none()) {
                rest.enter(keys::ENDED_BATCHES, key.id.clone(), score(ended_at));
            }
            read.leave(&mut rest, &[]);
            Ok(Some(Joint { transitions: step.transitions, rest: rest.done(false) }))
        });
        let outcome = outcome.await?;
        Ok(read.settled(outcome, missing, extra))
    }

    async fn settle_locks(
        &self,
        tenant: &TenantId,
        name: &str,
        entries: &[IndexEntry],
        extra: &mut Vec<InvocationKey>,
    ) -> Result<Settled, RecordError> {
        let scope = Scope::Locks { tenant: tenant.clone(), domain: name.into() };
        let key = keys::domain(tenant, name);
        let stored = self.calls.storage().get(&key).await?;
        let before = match &stored {
            Some(stored) => serde_json::from_slice(&stored.bytes)?,
            None => new_domain(tenant, name, self.calls.now().await?),
        };
        let expect = expected(stored.as_ref());
        let read = ScopeRead::of(&scope, entries, extra);
        let linger_ms = self.linger_ms;
        let (mut missing, mut quiet) = (Vec::new(), false);
        let outcome = self.calls.change_together(&read.ids, |records, now| {
            let step = locks::settle(&before, &read.known(records), linger_ms, now);
            if !step.missing.is_empty() {
                missing = step.missing;
                return Ok(None);
            }
            quiet = step.domain == before && step.transitions.is_empty() && read.stays(&step.lingering);
            if quiet {
                return Ok(None);
            }
            let mut rest = Builder::default();
            rest.compare(key.clone(), expect);
            if step.domain != before || stored.is_none() {
                write_domain(&mut rest, &key, &step.domain, now)?;
            } else {
                note_idle(&mut rest, &key, &step.domain, now);
            }
            read.leave(&mut rest, &step.lingering);
            Ok(Some(Joint { transitions: step.transitions, rest: rest.done(false) }))
        });
        let outcome = outcome.await?;
        Ok(if quiet { Settled::Quiet } else { read.settled(outcome, missing, extra) })
    }

    /// Fulfils wishes about a batch that is no longer kept.
    async fn drop_entries(
        &self,
        scope: &Scope,
        key: RecordKey,
        entries: &[IndexEntry],
    ) -> Result<Settled, RecordError> {
        let read = ScopeRead::of(scope, entries, &[]);
        let outcome = self.calls.change_together(&read.ids, |_, _| {
            let mut rest = Builder::default();
            rest.compare(key, Expect::Absent);
            read.leave(&mut rest, &[]);
            Ok(Some(Joint { transitions: Vec::<Transition>::new(), rest: rest.done(false) }))
        });
        let outcome = outcome.await?;
        Ok(read.settled(outcome, Vec::new(), &mut Vec::new()))
    }
}

/// What an attempt reads: the calls that asked, and those an earlier attempt found missing.
struct ScopeRead<'a> {
    scope: &'a Scope,
    entries: &'a [IndexEntry],
    ids: Vec<InvocationKey>,
}

impl<'a> ScopeRead<'a> {
    fn of(scope: &'a Scope, entries: &'a [IndexEntry], extra: &[InvocationKey]) -> Self {
        let asked = entries.iter().filter_map(|entry| match InvocationKey::parse(&entry.member) {
            Ok(id) => Some(id),
            Err(_) => {
                tracing::error!(%scope, member = entry.member, "an entry to settle names no invocation; it is removed");
                None
            }
        });
        Self { scope, entries, ids: asked.chain(extra.iter().cloned()).collect() }
    }

    fn known(&self, records: &CallsById) -> Known {
        let record = |key: &InvocationKey| records.get(key).map(|record| (**record).clone());
        self.ids.iter().map(|key| (key.id.clone(), record(key))).collect()
    }

    /// Takes the entries that were read out of the index, except those of `staying`.
    fn leave(&self, rest: &mut Builder, staying: &[InvocationId]) {
        for entry in self.entries.iter().filter(|entry| !self.is_among(entry, staying)) {
            rest.leave(store_keys::coordination(self.scope), entry.member.clone());
        }
    }

    /// Whether all entries that were read are among `staying`.
    fn stays(&self, staying: &[InvocationId]) -> bool {
        self.entries.iter().all(|entry| self.is_among(entry, staying))
    }

    fn is_among(&self, entry: &IndexEntry, calls: &[InvocationId]) -> bool {
        calls.iter().any(|id| self.scope.tenant().scoped(id) == entry.member)
    }

    fn settled(&self, outcome: Together, missing: Vec<InvocationId>, extra: &mut Vec<InvocationKey>) -> Settled {
        match outcome {
            _ if !missing.is_empty() => {
                let missing = missing.iter().map(|id| InvocationKey::new(self.scope.tenant(), id));
                let unread: Vec<_> = missing.filter(|key| !self.ids.contains(key)).collect();
                let settled = if unread.is_empty() { Settled::Again } else { Settled::Unread };
                extra.extend(unread);
                settled
            }
            Together::Lost => Settled::Again,
            Together::Done => Settled::Stored { more: self.entries.len() == PASS },
        }
    }
}

/// A domain without tickets. Tickets are fences, and an idle domain's record is removed after a while: the clock makes
/// the numbers of its next life larger than those of the one before.
pub(super) fn new_domain(tenant: &TenantId, name: &str, now: Timestamp) -> LockDomain {
    LockDomain { next_ticket: score(now).saturating_mul(1000).max(1), ..LockDomain::new(tenant.clone(), name) }
}

/// What a decision about a domain was made on.
pub(super) fn expected(stored: Option<&Versioned>) -> Expect {
    stored.map_or(Expect::Absent, |stored| Expect::Version(stored.version))
}

/// Stores a domain as it is from now on.
pub(super) fn write_domain(
    rest: &mut Builder,
    key: &RecordKey,
    domain: &LockDomain,
    now: Timestamp,
) -> Result<(), RecordError> {
    rest.put_json(key.clone(), domain)?;
    note_idle(rest, key, domain, now);
    Ok(())
}

fn note_idle(rest: &mut Builder, key: &RecordKey, domain: &LockDomain, now: Timestamp) {
    match domain.tickets.is_empty() {
        true => rest.enter(keys::IDLE_DOMAINS, key.id.clone(), score(now)),
        false => rest.leave(keys::IDLE_DOMAINS, key.id.clone()),
    }
}
