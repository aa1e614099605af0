//! Lessons in the store: a record for each notebook, which processes add to one after the other, and an index that says when each was
//! written last.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use toolplane_backend::let_others_through;
use toolplane_catalog::search::{Learned, Lesson, Notebook};
use toolplane_records::ids::TenantId;
use toolplane_store::{Commit, CommitOutcome, Expect, Found, IndexOp, ScoreRange, StoreError, Versioned, Write};

use super::{Inner, Learning, OfTenant, Waiting};
use crate::keys;

/// How many notebooks are read at once.
const READ_PAGE: usize = 100;
/// How often another process may get in between.
const ATTEMPTS: u32 = 16;
/// A process may have taken the time of its commit so long before the commit was there.
const LATE: u64 = 60_000;

/// Which notebooks are in memory, as they were written when.
#[derive(Debug, Default)]
struct Seen {
    written: HashMap<String, u64>,
    newest: u64,
}

impl Learning {
    /// Reads what is known, and from then on writes down what is learned here and takes in what is learned elsewhere, until `stop`.
    /// What waits then is written before this ends.
    pub(crate) async fn follow(self, stop: CancellationToken) {
        let Some(inner) = self.0 else { return };
        let mut seen = Seen::default();
        let mut tick = tokio::time::interval(inner.options.every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut complete = false;
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            inner.write().await;
            if complete && !inner.store.is_shared() {
                continue;
            }
            match inner.read_newer(&mut seen).await {
                Ok(()) => complete = true,
                Err(error) => tracing::warn!(%error, "what use has taught cannot be read now"),
            }
        }
        // A store that is gone keeps no process from ending.
        if tokio::time::timeout(Duration::from_secs(5), inner.write()).await.is_err() {
            tracing::warn!("what use has taught in the last seconds is not written");
        }
    }
}

impl Inner {
    /// Writes what waits.
    async fn write(&self) {
        let Waiting { lessons, .. } = std::mem::take(&mut *self.waiting.lock());
        let mut changed = BTreeSet::new();
        for ((tenant, number), lessons) in lessons {
            match self.write_one(&tenant, number, &lessons).await {
                Ok(true) => drop(changed.insert(tenant)),
                Ok(false) => {}
                Err(error @ (StoreError::Damaged(_) | StoreError::Corrupt { .. })) => {
                    tracing::warn!(%error, %tenant, number, "what use teaches cannot be kept");
                }
                Err(error) => {
                    tracing::debug!(%error, %tenant, "what use teaches is written later");
                    let mut waiting = self.waiting.lock();
                    lessons.into_iter().for_each(|lesson| waiting.add(&tenant, lesson));
                }
            }
        }
        changed.iter().for_each(|tenant| self.put_together(tenant));
    }

    /// Adds lessons to a notebook; whether they say anything new.
    async fn write_one(&self, tenant: &TenantId, number: u8, lessons: &[Lesson]) -> Result<bool, StoreError> {
        let (key, member) = (keys::learned(tenant, number), keys::learned_member(tenant, number));
        for tries in 1..=ATTEMPTS {
            let found = self.store.get(&key).await?;
            let version = found.as_ref().map_or(0, |found| found.version);
            let expected = if version == 0 { Expect::Absent } else { Expect::Version(version) };
            let mut notebook = found.map(|found| read(&found)).transpose()?.unwrap_or_default();
            let half_life = self.options.half_life_days;
            let new = lessons.iter().filter(|lesson| notebook.learn(lesson, half_life)).count();
            if new == 0 {
                return Ok(false);
            }
            let bytes = serde_json::to_vec(&notebook).map_err(unreadable)?;
            let score = keys::score(self.store.now().await?);
            let commit = Commit {
                compare: vec![(key.clone(), expected)],
                writes: vec![Write::Put { key: key.clone(), bytes: Bytes::from(bytes) }],
                index: vec![IndexOp::Put { index: keys::LEARNED.to_owned(), score, member: member.clone() }],
                ..Commit::default()
            };
            match self.store.commit(commit).await? {
                CommitOutcome::Applied | CommitOutcome::Replayed => {
                    self.of(tenant).put(number, version + 1, notebook);
                    return Ok(true);
                }
                CommitOutcome::Lost { .. } => let_others_through(tries).await,
                CommitOutcome::Full { .. } => return Ok(false),
            }
        }
        Err(StoreError::Unavailable { reason: "too many writers of one notebook".to_owned() })
    }

    /// Takes in the notebooks that were written since.
    async fn read_newer(&self, seen: &mut Seen) -> Result<(), StoreError> {
        let mut range = ScoreRange::between(seen.newest.saturating_sub(LATE), u64::MAX);
        let mut changed = BTreeSet::new();
        loop {
            let page = self.store.scan(keys::LEARNED, range.clone(), READ_PAGE).await?;
            let Some(last) = page.last() else { break };
            range = range.after(last);
            let newer = page.iter().filter(|entry| seen.written.get(&entry.member) != Some(&entry.score));
            let wanted: Vec<_> = newer
                .filter_map(|entry| keys::learned_of(&entry.member).map(|(tenant, number)| (entry, tenant, number)))
                .collect();
            let records: Vec<_> = wanted.iter().map(|(_, tenant, number)| keys::learned(tenant, *number)).collect();
            for ((entry, tenant, number), found) in wanted.into_iter().zip(self.store.get_each(&records).await?) {
                if self.take_in(&tenant, number, found) {
                    changed.insert(tenant);
                }
                seen.written.insert(entry.member.clone(), entry.score);
                seen.newest = seen.newest.max(entry.score);
            }
        }
        changed.iter().for_each(|tenant| self.put_together(tenant));
        Ok(())
    }

    /// Takes in a notebook that was read; whether there is one.
    pub(super) fn take_in(&self, tenant: &TenantId, number: u8, found: Found) -> bool {
        let read = |found: Versioned| read(&found).map(|notebook| (found.version, notebook));
        match found.map_err(StoreError::Damaged).and_then(|found| found.map(read).transpose()) {
            Ok(Some((version, notebook))) => {
                self.of(tenant).put(number, version, notebook);
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::warn!(%error, %tenant, number, "what use has taught cannot be read");
                false
            }
        }
    }

    pub(super) fn of(&self, tenant: &TenantId) -> Arc<OfTenant> {
        Arc::clone(&self.tenants.entry(tenant.clone()).or_default())
    }

    /// Makes what searches look at of the notebooks of a tenant.
    pub(super) fn put_together(&self, tenant: &TenantId) {
        let known = self.of(tenant);
        let notebooks: Vec<_> = known.notebooks.lock().values().map(|written| Arc::clone(&written.notebook)).collect();
        let learned = Learned::of(notebooks.iter().map(|notebook| &**notebook), self.options.half_life_days);
        known.learned.store(Arc::new(learned));
    }
}

pub(super) fn read(found: &Versioned) -> Result<Notebook, StoreError> {
    serde_json::from_slice(&found.bytes).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError::Corrupt { reason: format!("what use has taught cannot be read: {error}") }
}
