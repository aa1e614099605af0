//! What the threads of a store share: the layers of state, the clock, and whether the store still answers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::RwLock;
use tokio::sync::watch;
use toolplane_store::{
    Damage, DamageLocation, EventPage, Family, Found, MonotonicClock, RecordKey, StoreError, Versioned,
};

use crate::base::{Base, KnownDamage};
use crate::fault::Fault;
use crate::layer::{Layer, Tail};

/// What a store did since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Commits applied.
    pub commits: u64,
    /// Flushes that made them durable; many commits share one.
    pub groups: u64,
    /// Checkpoints completed.
    pub checkpoints: u64,
}

pub(crate) struct Shared {
    pub(crate) tables: RwLock<Tables>,
    pub(crate) clock: MonotonicClock,
    pub(crate) closed: AtomicBool,
    pub(crate) commits: AtomicU64,
    pub(crate) groups: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    poison: watch::Sender<Option<Arc<str>>>,
}

/// All state, newest first.
pub(crate) struct Tables {
    /// Takes every group as it becomes durable.
    pub(crate) active: Layer,
    /// What no commit changes: readers may keep it beyond the lock.
    pub(crate) lower: Arc<Lower>,
}

/// Everything older than the active layer.
pub(crate) struct Lower {
    /// The layer a checkpoint is moving to the tables.
    pub(crate) frozen: Option<Arc<Layer>>,
    pub(crate) base: Arc<Base>,
}

// === impl Shared ===

impl Shared {
    pub(crate) fn new(tables: Tables, clock: MonotonicClock) -> Self {
        Self {
            tables: RwLock::new(tables),
            clock,
            closed: AtomicBool::new(false),
            commits: AtomicU64::new(0),
            groups: AtomicU64::new(0),
            checkpoints: AtomicU64::new(0),
            poison: watch::Sender::new(None),
        }
    }

    /// Refuses every call from now on. The first reason is kept.
    pub(crate) fn poison(&self, reason: &str) {
        let first = self.poison.send_if_modified(|current| {
            let first = current.is_none();
            if first {
                *current = Some(Arc::from(reason));
            }
            first
        });
        if first {
            tracing::error!(reason, "the store stopped after a failure");
        }
    }

    pub(crate) fn poisoned(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.poison.subscribe()
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.poison.borrow().is_some()
    }

    /// The error of a store that was poisoned or closed; nothing while it answers.
    pub(crate) fn check_open(&self) -> Result<(), StoreError> {
        if let Some(reason) = &*self.poison.borrow() {
            return Err(StoreError::Poisoned { reason: reason.to_string() });
        }
        if self.closed.load(Ordering::Acquire) { Err(closed()) } else { Ok(()) }
    }

    /// Runs a read; one that fails below the store's logic ends the store, one that meets corrupt data does not.
    pub(crate) fn read<T>(&self, read: impl FnOnce() -> Result<T, Fault>) -> Result<T, StoreError> {
        self.check_open()?;
        read().map_err(|fault| {
            if self.closed.load(Ordering::Acquire) {
                // It lost a race with the files being closed.
                return closed();
            }
            if let Fault::Storage(reason) = &fault {
                self.poison(reason);
            }
            fault.into()
        })
    }

    pub(crate) fn record(&self, key: &RecordKey) -> Result<Option<Versioned>, Fault> {
        let lower = {
            let tables = self.tables.read();
            if let Some(found) = tables.active.records.get(key) {
                return Ok(found.clone());
            }
            Arc::clone(&tables.lower)
        };
        lower.record(key)
    }

    /// What is known to be damaged; one list from the opening of the store to its end.
    pub(crate) fn known(&self) -> Arc<KnownDamage> {
        Arc::clone(&self.tables.read().lower.base.known)
    }

    /// The same, by name.
    pub(crate) fn damage(&self) -> Vec<Damage> {
        self.known().damage.all()
    }

    /// Records that were deleted are damaged no more.
    pub(crate) fn forget_damage<'a>(&self, deleted: impl Iterator<Item = &'a RecordKey>) {
        let known = self.known();
        deleted.for_each(|key| known.damage.forget(&DamageLocation::Record(key.clone())));
    }

    pub(crate) fn records(&self, keys: &[RecordKey]) -> Result<Vec<Found>, Fault> {
        let (newest, lower) = {
            let tables = self.tables.read();
            let newest: Vec<_> = keys.iter().map(|key| tables.active.records.get(key).cloned()).collect();
            (newest, Arc::clone(&tables.lower))
        };
        let found = |(key, newest): (_, Option<_>)| newest.map_or_else(|| lower.found(key), |record| Ok(Ok(record)));
        keys.iter().zip(newest).map(found).collect()
    }

    pub(crate) fn events(&self, stream: &str, from: u64, limit: usize) -> Result<EventPage, Fault> {
        let mut newest = Vec::new();
        let (tail, lower) = {
            let tables = self.tables.read();
            let tail = tables.active.streams.get(stream).map(|tail| {
                tail.collect(from, limit, &mut newest);
                (tail.reaches_back_to(from), tail.head())
            });
            (tail, Arc::clone(&tables.lower))
        };
        let mut events = Vec::new();
        // The newest events answer alone when they reach back far enough.
        if tail.is_none_or(|(reaches_back, _)| !reaches_back) {
            lower.events(stream, from, limit, &mut events)?;
        }
        newest.truncate(limit.saturating_sub(events.len()));
        events.append(&mut newest);
        let head_seq = match tail {
            Some((_, head)) => head,
            None => lower.head(stream)?,
        };
        Ok(EventPage { head_seq, oldest_seq: head_seq.min(1), events })
    }
}

pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable { reason: "the store is closed".to_owned() }
}

// === impl Tables ===

impl Tables {
    pub(crate) fn record(&self, key: &RecordKey) -> Result<Option<Versioned>, Fault> {
        match self.active.records.get(key) {
            Some(found) => Ok(found.clone()),
            None => self.lower.record(key),
        }
    }

    /// The length of `index` below the active layer.
    pub(crate) fn below_len(&self, index: &str) -> Result<u64, Fault> {
        match self.active.indexes.get(index) {
            Some(known) => Ok(known.below_len),
            None => self.lower.index_len(index),
        }
    }

    pub(crate) fn index_len(&self, index: &str) -> Result<u64, Fault> {
        match self.active.indexes.get(index) {
            Some(known) => Ok(known.len),
            None => self.lower.index_len(index),
        }
    }

    /// The score of `member`, given the length of its index below the active layer.
    pub(crate) fn score(&self, index: &str, member: &str, below_len: u64) -> Result<Option<u64>, Fault> {
        let newest = self.active.indexes.get(index).and_then(|known| known.members.get(member));
        match newest {
            Some(known) => Ok(known.now),
            None if below_len == 0 => Ok(None),
            None => self.lower.score(index, member),
        }
    }

    pub(crate) fn head(&self, stream: &str) -> Result<u64, Fault> {
        match self.active.streams.get(stream) {
            Some(tail) => Ok(tail.head()),
            None => self.lower.head(stream),
        }
    }

    /// The non-empty indexes whose name starts with `prefix`, sorted.
    pub(crate) fn indexes(&self, prefix: &str) -> Result<Vec<String>, Fault> {
        let mut names: BTreeSet<String> = self.lower.base.indexes(prefix)?.into_iter().collect();
        for layer in self.lower.frozen.as_deref().into_iter().chain([&self.active]) {
            let from = (std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded);
            let known = layer.indexes.range::<str, _>(from);
            for (name, index) in known.take_while(|(name, _)| name.starts_with(prefix)) {
                if index.len == 0 {
                    names.remove(&**name);
                } else if !names.contains(&**name) {
                    names.insert(name.to_string());
                }
            }
        }
        Ok(names.into_iter().collect())
    }

    /// Records of `family` after the id `after`, in order.
    pub(crate) fn keys(&self, family: Family, after: &str, limit: usize) -> Result<Vec<(String, Versioned)>, Fault> {
        let frozen = self.lower.frozen.as_deref();
        let newest = Self::layer_records(&self.active, family, after).map(|(id, found)| (id, found.clone()));
        let frozen_rows = frozen.into_iter().flat_map(|layer| {
            let rows = Self::layer_records(layer, family, after);
            rows.map(|(id, found)| (id, found.clone()))
        });
        let mut newest = newest.peekable();
        let mut frozen_rows = frozen_rows.peekable();
        let mut base = self.lower.base.records_after(family, after)?.peekable();
        let mut found = Vec::new();
        while found.len() < limit {
            if let Some(Err(fault)) = base.peek() {
                return Err(fault.clone());
            }
            let base_id = base.peek().and_then(|row| row.as_ref().ok()).map(|(id, _)| id.as_str());
            let candidates = [newest.peek().map(|(id, _)| *id), frozen_rows.peek().map(|(id, _)| *id), base_id];
            let Some(id) = candidates.into_iter().flatten().min().map(str::to_owned) else { break };
            let oldest = base.next_if(|row| row.as_ref().is_ok_and(|(other, _)| *other == id));
            let older = frozen_rows.next_if(|(other, _)| *other == id).map(|(_, record)| record);
            let newer = newest.next_if(|(other, _)| *other == id).map(|(_, record)| record);
            let oldest = || oldest.and_then(Result::ok).map(|(_, record)| record);
            if let Some(record) = newer.or(older).unwrap_or_else(oldest) {
                found.push((id, record));
            }
        }
        Ok(found)
    }

    fn layer_records<'a>(
        layer: &'a Layer,
        family: Family,
        after: &str,
    ) -> impl Iterator<Item = (&'a str, &'a Option<Versioned>)> + use<'a> {
        let start = std::ops::Bound::Excluded(RecordKey::new(family, after));
        let rows = layer.records.range((start, std::ops::Bound::Unbounded));
        rows.take_while(move |(key, _)| key.family == family).map(|(key, found)| (key.id.as_str(), found))
    }
}

// === impl Lower ===

impl Lower {
    fn record(&self, key: &RecordKey) -> Result<Option<Versioned>, Fault> {
        match self.frozen.as_ref().and_then(|layer| layer.records.get(key)) {
            Some(found) => Ok(found.clone()),
            None => self.base.record(key),
        }
    }

    fn found(&self, key: &RecordKey) -> Result<Found, Fault> {
        match self.frozen.as_ref().and_then(|layer| layer.records.get(key)) {
            Some(found) => Ok(Ok(found.clone())),
            None => self.base.found(key),
        }
    }

    fn index_len(&self, index: &str) -> Result<u64, Fault> {
        match self.frozen.as_ref().and_then(|layer| layer.indexes.get(index)) {
            Some(known) => Ok(known.len),
            None => self.base.index_len(index),
        }
    }

    fn score(&self, index: &str, member: &str) -> Result<Option<u64>, Fault> {
        let known = self.frozen.as_ref().and_then(|layer| layer.indexes.get(index));
        match known {
            Some(known) => match known.members.get(member) {
                Some(found) => Ok(found.now),
                None if known.below_len == 0 => Ok(None),
                None => self.base.score(index, member),
            },
            None => self.base.score(index, member),
        }
    }

    fn tail(&self, stream: &str) -> Option<&Tail> {
        self.frozen.as_ref().and_then(|layer| layer.streams.get(stream))
    }

    fn head(&self, stream: &str) -> Result<u64, Fault> {
        match self.tail(stream) {
            Some(tail) => Ok(tail.head()),
            None => self.base.head(stream),
        }
    }

    fn events(&self, stream: &str, from: u64, limit: usize, found: &mut Vec<(u64, Bytes)>) -> Result<(), Fault> {
        let tail = self.tail(stream);
        if tail.is_none_or(|tail| !tail.reaches_back_to(from)) {
            self.base.events(stream, from, limit, found)?;
        }
        if let Some(tail) = tail {
            tail.collect(from, limit, found);
        }
        Ok(())
    }
}
