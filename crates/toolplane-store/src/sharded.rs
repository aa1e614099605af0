//! One store made of several, its shards. What lies in which of them is said by a [`Placement`], which knows names; this
//! file knows none of them.
//!
//! A commit is made in one shard, so it is as atomic as a commit of that shard. One that names things of two shards is
//! refused as a whole. Reads of one name go to its shard; reads that go over all names ask every shard and put the answers
//! together in the order of the contract. What is read from several shards is not as of one moment.

mod merge;
#[cfg(test)]
mod tests;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::{join_all, try_join_all};
use toolplane_records::time::Timestamp;

use crate::commit::{Commit, CommitOutcome, IndexOp, Write};
use crate::damage::Damage;
use crate::error::StoreError;
use crate::key::{Family, RecordKey, Versioned};
use crate::page::{EventPage, IndexEntry, MAX_PAGE, ScoreRange};
use crate::store::{Durability, Found, HintStream, Store, StoreFuture};

/// Where a name lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In this shard, counted from 0, and nowhere else.
    At(usize),
    /// Wherever the rest of its commit lies; the name does not say. It may be in several shards, and then says the same there.
    WithTheRest,
}

/// What lies where. The same name always lies in the same place.
pub trait Placement: fmt::Debug + Send + Sync + 'static {
    /// Where a record lies.
    fn record(&self, key: &RecordKey) -> Place;

    /// Where an entry of an index lies.
    fn entry(&self, index: &str, member: &str) -> Place;

    /// Where all entries of an index lie; [`Place::WithTheRest`] when they may lie in different shards.
    fn index(&self, index: &str) -> Place;

    /// Where a stream lies.
    fn stream(&self, stream: &str) -> Place;
}

/// Several stores as one. Its clock is that of the first shard.
pub struct ShardedStore {
    shards: Vec<Arc<dyn Store>>,
    placement: Arc<dyn Placement>,
}

impl fmt::Debug for ShardedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardedStore").field("shards", &self.shards.len()).field("placement", &self.placement).finish()
    }
}

/// In which shards a commit is made.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    One(usize),
    /// It only takes out what lies wherever it lies.
    Each,
}

impl ShardedStore {
    /// The store whose shards are `shards`, in this order. `placement` must name no others.
    pub fn new(shards: Vec<Arc<dyn Store>>, placement: Arc<dyn Placement>) -> Self {
        Self { shards, placement }
    }

    fn shard(&self, number: usize) -> Result<&Arc<dyn Store>, StoreError> {
        self.shards.get(number).ok_or_else(|| StoreError::invalid(format!("there is no shard {number}")))
    }

    /// The shards in which something of this place may be.
    fn within(&self, place: Place) -> Result<&[Arc<dyn Store>], StoreError> {
        match place {
            Place::At(number) => self.shard(number).map(std::slice::from_ref),
            Place::WithTheRest => Ok(&self.shards),
        }
    }

    /// Asks `shards` at once. Fails when one of them does not answer.
    async fn ask<'a, T, Answer>(
        shards: &'a [Arc<dyn Store>],
        question: impl Fn(&'a Arc<dyn Store>) -> Answer,
    ) -> Result<Vec<T>, StoreError>
    where
        Answer: Future<Output = Result<T, StoreError>>,
    {
        match shards {
            [one] => Ok(vec![question(one).await?]),
            several => try_join_all(several.iter().map(question)).await,
        }
    }

    fn target(&self, commit: &Commit) -> Result<Target, StoreError> {
        let mut found: Option<(usize, String)> = None;
        let mut meet = |place: Place, name: &dyn fmt::Display| match (place, &found) {
            (Place::WithTheRest, _) => Ok(()),
            (Place::At(here), None) => {
                found = Some((here, name.to_string()));
                Ok(())
            }
            (Place::At(here), Some((there, _))) if here == *there => Ok(()),
            (Place::At(here), Some((there, other))) => Err(StoreError::invalid(format!(
                "`{name}` lies in shard {here} and `{other}` in shard {there}: a commit is made in one shard"
            ))),
        };
        for key in commit.compare.iter().map(|(key, _)| key).chain(commit.writes.iter().map(Write::key)) {
            meet(self.placement.record(key), key)?;
        }
        for bound in &commit.bounds {
            meet(self.placement.index(&bound.index), &bound.index)?;
        }
        for (index, member) in commit.index.iter().map(IndexOp::target) {
            meet(self.placement.entry(index, member), &format_args!("{index}: {member}"))?;
        }
        for stream in commit.events.iter().map(|append| &append.stream).chain(&commit.forget) {
            meet(self.placement.stream(stream), stream)?;
        }
        match found {
            Some((number, _)) => Ok(Target::One(number)),
            None if only_takes_out(commit) => Ok(Target::Each),
            None => Err(StoreError::invalid("nothing of the commit says in which shard it is made")),
        }
    }

    /// A commit that only takes out is made in every shard: done again in one that had done it, it changes nothing.
    async fn commit_to_each(&self, mut commit: Commit) -> Result<CommitOutcome, StoreError> {
        let hints = std::mem::take(&mut commit.hints);
        let mut outcome = CommitOutcome::Applied;
        for (number, shard) in self.shards.iter().enumerate() {
            let hints = if number == 0 { hints.clone() } else { Vec::new() };
            match shard.commit(Commit { hints, ..commit.clone() }).await {
                Ok(CommitOutcome::Applied) => {}
                // Then the whole was done before, or begun.
                Ok(other) => outcome = other,
                // What the shards before this one did is done.
                Err(error) if number > 0 => return Err(StoreError::OutcomeUnknown { reason: error.to_string() }),
                Err(error) => return Err(error),
            }
        }
        Ok(outcome)
    }
}

fn only_takes_out(commit: &Commit) -> bool {
    let only_deletes = commit.writes.iter().all(|write| matches!(write, Write::Delete { .. }));
    let only_removes = commit.index.iter().all(|op| matches!(op, IndexOp::Remove { .. }));
    commit.compare.is_empty() && commit.bounds.is_empty() && commit.events.is_empty() && only_deletes && only_removes
}

impl Store for ShardedStore {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(async move {
            commit.validate()?;
            match self.target(&commit)? {
                Target::One(number) => self.shard(number)?.commit(commit).await,
                Target::Each => self.commit_to_each(commit).await,
            }
        })
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            if let Place::At(number) = self.placement.record(key) {
                return self.shard(number)?.get(key).await;
            }
            // It says the same wherever it is: a shard that does not answer matters only where no other has it.
            let mut answers = join_all(self.shards.iter().map(|shard| shard.get(key))).await;
            let found = answers.iter().position(|answer| matches!(answer, Ok(Some(_))));
            match found.or_else(|| answers.iter().position(Result::is_err)) {
                Some(at) => answers.swap_remove(at),
                None => Ok(None),
            }
        })
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        Box::pin(async move {
            let mut wanted: Vec<(Vec<usize>, Vec<RecordKey>)> = vec![Default::default(); self.shards.len()];
            for (at, key) in keys.iter().enumerate() {
                let place = self.placement.record(key);
                for (number, (places, of_shard)) in wanted.iter_mut().enumerate() {
                    if place == Place::At(number) || place == Place::WithTheRest {
                        places.push(at);
                        of_shard.push(key.clone());
                    }
                }
            }
            let asked = self.shards.iter().zip(&wanted).filter(|(_, (places, _))| !places.is_empty());
            let answers = try_join_all(asked.map(|(shard, (places, of_shard))| async move {
                Ok::<_, StoreError>((places, shard.get_each(of_shard).await?))
            }));
            let mut all: Vec<Found> = vec![Ok(None); keys.len()];
            for (places, found) in answers.await? {
                for (at, found) in places.iter().zip(found) {
                    if let Some(place) = all.get_mut(*at)
                        && *place == Ok(None)
                    {
                        *place = found;
                    }
                }
            }
            Ok(all)
        })
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        Box::pin(async move {
            let shards = self.within(self.placement.index(index))?;
            let pages = Self::ask(shards, |shard| shard.scan(index, range.clone(), limit)).await?;
            Ok(merge::entries(pages, range.reverse, limit.min(MAX_PAGE)))
        })
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move { Ok(merge::names(Self::ask(&self.shards, |shard| shard.indexes(prefix)).await?)) })
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let shards = self.within(self.placement.index(index))?;
            Ok(Self::ask(shards, |shard| shard.index_len(index)).await?.into_iter().sum())
        })
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        Box::pin(async move {
            let shards = self.within(self.placement.stream(stream))?;
            let pages = Self::ask(shards, |shard| shard.events(stream, from_seq, limit)).await?;
            Ok(pages.into_iter().max_by_key(|page| page.head_seq).unwrap_or_default())
        })
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        Box::pin(async move {
            let pages = Self::ask(&self.shards, |shard| shard.keys(family, after, limit)).await?;
            Ok(merge::records(pages, limit.min(MAX_PAGE)))
        })
    }

    fn now(&self) -> StoreFuture<'_, Timestamp> {
        Box::pin(async move { self.shard(0)?.now().await })
    }

    /// That of the shard that promises least.
    fn durability(&self) -> Durability {
        let rank = |class: &Durability| match class {
            Durability::Buffered => 0,
            Durability::Fsynced => 1,
            Durability::FsyncedReplicated => 2,
        };
        self.shards.iter().map(|shard| shard.durability()).min_by_key(rank).unwrap_or(Durability::Buffered)
    }

    fn damage(&self) -> Vec<Damage> {
        self.shards.iter().flat_map(|shard| shard.damage()).collect()
    }

    fn is_shared(&self) -> bool {
        self.shards.iter().any(|shard| shard.is_shared())
    }

    fn hints(&self) -> HintStream {
        Box::pin(futures_util::stream::select_all(self.shards.iter().map(|shard| shard.hints())))
    }
}
