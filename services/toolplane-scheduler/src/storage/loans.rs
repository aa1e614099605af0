//! Counted bounds over several shards, exact: the places of a counted index are lent from shard to shard.
//!
//! At first its home shard has all places of an index. Each shard has a ledger: how many places it ever sent to each other
//! shard, and how many of those sent to it have arrived. What it has is what it began with, and what arrived, less what it
//! sent; a commit that takes a place compares the ledger and is bounded by that, in one shard and in one step. Who finds no
//! place left asks the other shards for free ones: one commit there sends them, bounded so that only free ones go, and the
//! commit here that needs them lets them arrive.
//!
//! INVARIANT: places of all shards and those on their way are the bound. Totals only grow, and what arrives is compared with
//! what was sent, so a step that is done twice, or half, changes nothing: places on their way stay so until a commit at their
//! goal needs them, whoever makes it. A bound that is lowered takes what it can of the home's places at once, and what is
//! lent when it comes back.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::hash::DashMap;
use serde::{Deserialize, Serialize};
use toolplane_store::{Bound, Commit, Expect, IndexOp, RecordKey, StoreError, Versioned, Write};

use super::{RecordError, Storage, Written, keys};

/// How often a commit is made again because others moved places meanwhile. Then it is as if none was left: it is tried again
/// by those who wait for one.
const TRIES: usize = 64;
/// Ledgers remembered at once; beyond it the memory starts anew.
const MAX_KNOWN: usize = 20_000;

/// What a shard sent and got of one counted index. Totals, by the number of the other shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Ledger {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sent: BTreeMap<usize, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    arrived: BTreeMap<usize, u64>,
}

impl Ledger {
    /// What a shard has that began with `first` places.
    fn places(&self, first: u64) -> i64 {
        let sum = |totals: &BTreeMap<usize, u64>| totals.values().fold(0_u64, |sum, total| sum.saturating_add(*total));
        signed(first).saturating_add(signed(sum(&self.arrived))).saturating_sub(signed(sum(&self.sent)))
    }

    fn sent_to(&self, shard: usize) -> u64 {
        self.sent.get(&shard).copied().unwrap_or_default()
    }

    /// Lets everything arrive that `from` sent in all; says whether there was anything.
    fn arrive(&mut self, from: usize, total: u64) -> bool {
        let known = self.arrived.entry(from).or_default();
        let is_new = total > *known;
        *known = total.max(*known);
        if *known == 0 {
            self.arrived.remove(&from);
        }
        is_new
    }

    fn send(&mut self, to: usize, count: u64) {
        *self.sent.entry(to).or_default() += count;
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// A ledger as it is stored.
#[derive(Clone, Debug, Default)]
struct Stored {
    /// 0 when there is none yet.
    version: u64,
    ledger: Ledger,
}

impl Stored {
    fn read(found: Option<&Versioned>) -> Result<Self, RecordError> {
        let Some(found) = found else { return Ok(Self::default()) };
        Ok(Self { version: found.version, ledger: serde_json::from_slice(&found.bytes)? })
    }

    fn expect(&self) -> Expect {
        if self.version == 0 { Expect::Absent } else { Expect::Version(self.version) }
    }
}

/// What a commit wants of one counted index.
#[derive(Debug)]
struct Wanted {
    index: String,
    /// The bound over all shards.
    most: u64,
    /// How many places are taken at once.
    taken: u64,
    /// What was found to be on its way here, by where it comes from.
    coming: BTreeMap<usize, u64>,
}

impl Wanted {
    fn of(commit: &Commit, bound: &Bound) -> Self {
        let takes = |op: &&IndexOp| matches!(op, IndexOp::Put { index, .. } if *index == bound.index);
        let taken = (commit.index.iter().filter(takes).count() as u64).max(1);
        // The bound of a commit is for the first place it takes.
        Self { index: bound.index.clone(), most: bound.below + taken - 1, taken, coming: BTreeMap::new() }
    }
}

/// Keeps bounds that are counted over several shards. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Loans {
    known: Arc<DashMap<(usize, String), Stored>>,
}

impl Loans {
    /// Commits what takes places, within bounds that hold over all shards. Returns an error as [`Storage::write`] does.
    pub(super) async fn write(&self, storage: &Storage, commit: Commit) -> Result<Written, RecordError> {
        let Some(here) = storage.shards.of_commit(&commit) else { return storage.settle(commit).await };
        if let Some(none) = commit.bounds.iter().find(|bound| bound.below == 0) {
            return Ok(Written::Full(none.index.clone()));
        }
        let mut wanted: Vec<Wanted> = commit.bounds.iter().map(|bound| Wanted::of(&commit, bound)).collect();
        for _ in 0..TRIES {
            let missing = match self.attempt(storage, here, &commit, &wanted).await? {
                Attempt::Settled(written) => return Ok(written),
                Attempt::Again => continue,
                Attempt::Missing(index) => index,
            };
            let Some(short) = wanted.iter_mut().find(|wanted| wanted.index == missing) else { break };
            if !self.borrow(storage, here, short).await? {
                return Ok(Written::Full(missing));
            }
        }
        Ok(Written::Full(wanted.into_iter().next().map(|wanted| wanted.index).unwrap_or_default()))
    }

    async fn attempt(
        &self,
        storage: &Storage,
        here: usize,
        commit: &Commit,
        wanted: &[Wanted],
    ) -> Result<Attempt, RecordError> {
        let mut commit = Commit { bounds: Vec::new(), ..commit.clone() };
        let mut changed = Vec::new();
        for Wanted { index, most, taken, coming } in wanted {
            let stored = self.known(storage, here, index).await?;
            let mut ledger = stored.ledger.clone();
            for (from, total) in coming {
                ledger.arrive(*from, *total);
            }
            let places = ledger.places(first_places(storage, here, index, *most));
            let Ok(below) = u64::try_from(places - signed(*taken) + 1) else {
                return Ok(Attempt::Missing(index.clone()));
            };
            if below == 0 {
                return Ok(Attempt::Missing(index.clone()));
            }
            let key = keys::places(here, index);
            commit.compare.push((key.clone(), stored.expect()));
            if ledger != stored.ledger {
                commit.writes.push(put(key, &ledger)?);
                changed.push((index, Stored { version: stored.version + 1, ledger }));
            }
            commit.bounds.push(Bound { index: index.clone(), below });
        }
        match storage.settle(commit).await? {
            Written::Applied => {
                changed.into_iter().for_each(|(index, stored)| self.remember(here, index, stored));
                Ok(Attempt::Settled(Written::Applied))
            }
            Written::Full(index) => Ok(Attempt::Missing(index)),
            Written::Lost(current) => {
                let of_index = |key: &RecordKey| wanted.iter().find(|wanted| *key == keys::places(here, &wanted.index));
                let (moved, lost): (Vec<_>, Vec<_>) = current.into_iter().partition(|(key, _)| of_index(key).is_some());
                for (key, found) in &moved {
                    if let Some(wanted) = of_index(key) {
                        self.remember(here, &wanted.index, Stored::read(found.as_ref())?);
                    }
                }
                Ok(if lost.is_empty() { Attempt::Again } else { Attempt::Settled(Written::Lost(lost)) })
            }
        }
    }

    /// Finds places on their way here, or has some sent. False when no shard has any to spare.
    async fn borrow(&self, storage: &Storage, here: usize, short: &mut Wanted) -> Result<bool, RecordError> {
        let index = short.index.clone();
        let believed = self.known(storage, here, &index).await?.version;
        let ledgers = self.read_all(storage, &index).await?;
        let Stored { version, ledger: own } = ledgers.get(here).cloned().unwrap_or_default();
        if version != believed {
            return Ok(true);
        }
        let mut on_their_way = false;
        for (from, stored) in ledgers.iter().enumerate() {
            let (total, mut own) = (stored.ledger.sent_to(here), own.clone());
            if own.arrive(from, total) && short.coming.insert(from, total) != Some(total) {
                on_their_way = true;
            }
        }
        if on_their_way {
            return Ok(true);
        }
        let places = own.places(first_places(storage, here, &index, short.most));
        let need = signed(short.taken).max(signed(short.taken) - places);
        let count = storage.shards.count();
        let home = storage.shards.home_of(&index);
        let others = (0..count).map(|step| (home + step) % count).filter(|from| *from != here);
        let mut raced = false;
        for from in others {
            let has = self.spare(storage, from, &ledgers, short);
            match self.send(storage, (from, here), has, need, short).await? {
                Sent::Some => return Ok(true),
                Sent::Raced => raced = true,
                Sent::Nothing => {}
            }
        }
        Ok(raced)
    }

    /// The ledger of `from` with everything arrived that was sent to it, and the places it has then.
    fn spare(&self, storage: &Storage, from: usize, ledgers: &[Stored], short: &Wanted) -> (Stored, i64) {
        let mut stored = ledgers.get(from).cloned().unwrap_or_default();
        for (other, of_other) in ledgers.iter().enumerate() {
            stored.ledger.arrive(other, of_other.ledger.sent_to(from));
        }
        let places = stored.ledger.places(first_places(storage, from, &short.index, short.most));
        (stored, places)
    }

    /// Sends free places: a part of what there is, so that not every call has to ask again, or as many as are needed, or one.
    async fn send(
        &self,
        storage: &Storage,
        (from, here): (usize, usize),
        (stored, has): (Stored, i64),
        need: i64,
        short: &mut Wanted,
    ) -> Result<Sent, RecordError> {
        let part = has / (2 * signed(storage.shards.count() as u64));
        let mut counts: Vec<i64> =
            [part.max(need), need, need / 2, 1].into_iter().map(|count| count.min(has)).collect();
        counts.retain(|count| *count > 0);
        counts.dedup();
        for count in counts {
            let mut ledger = stored.ledger.clone();
            ledger.send(here, count.unsigned_abs());
            let key = keys::places(from, &short.index);
            let below = (has - count + 1).unsigned_abs();
            let commit = Commit {
                compare: vec![(key.clone(), stored.expect())],
                writes: vec![put(key, &ledger)?],
                bounds: vec![Bound { index: short.index.clone(), below }],
                essential: true,
                ..Commit::default()
            };
            match storage.settle(commit).await? {
                Written::Applied => {
                    short.coming.insert(from, ledger.sent_to(here));
                    self.remember(from, &short.index, Stored { version: stored.version + 1, ledger });
                    return Ok(Sent::Some);
                }
                Written::Full(_) => {}
                Written::Lost(_) => return Ok(Sent::Raced),
            }
        }
        Ok(Sent::Nothing)
    }

    async fn known(&self, storage: &Storage, here: usize, index: &str) -> Result<Stored, RecordError> {
        if let Some(known) = self.known.get(&(here, index.to_owned())) {
            return Ok(known.clone());
        }
        let stored = Stored::read(storage.get(&keys::places(here, index)).await?.as_ref())?;
        self.remember(here, index, stored.clone());
        Ok(stored)
    }

    async fn read_all(&self, storage: &Storage, index: &str) -> Result<Vec<Stored>, RecordError> {
        let wanted: Vec<RecordKey> = (0..storage.shards.count()).map(|shard| keys::places(shard, index)).collect();
        let found = storage.get_many(&wanted).await?;
        let all: Vec<Stored> =
            found.iter().map(|found| Stored::read(found.as_ref())).collect::<Result<_, RecordError>>()?;
        for (shard, stored) in all.iter().enumerate() {
            self.remember(shard, index, stored.clone());
        }
        Ok(all)
    }

    /// What is remembered may be old: then a compare says so.
    fn remember(&self, shard: usize, index: &str, stored: Stored) {
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert((shard, index.to_owned()), stored);
    }
}

/// The outcome of one attempt.
enum Attempt {
    Settled(Written),
    /// What was remembered of a ledger was old.
    Again,
    /// This index has no place left in this shard.
    Missing(String),
}

/// The outcome of asking one shard.
enum Sent {
    Some,
    Nothing,
    Raced,
}

fn first_places(storage: &Storage, shard: usize, index: &str, most: u64) -> u64 {
    if storage.shards.home_of(index) == shard { most } else { 0 }
}

fn put(key: RecordKey, ledger: &Ledger) -> Result<Write, StoreError> {
    let bytes = serde_json::to_vec(ledger).map_err(|error| StoreError::InvalidCommit { reason: error.to_string() })?;
    Ok(Write::Put { key, bytes: bytes.into() })
}

#[cfg(test)]
mod tests;
