//! Which workers the cluster knows: one record for each in the store, so that every scheduler can tell about all of them,
//! and about those that went without a word.
//!
//! What is recorded is for people. Who may run what is decided from the workers connected here (`workers.rs`).

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_records::ids::{InvocationKey, WorkerId};
use toolplane_records::time::Timestamp;
use toolplane_runtime::page;
use toolplane_store::{Commit, Expect, Family, RecordKey, StoreError, Write};

use super::link::{WorkerInfo, WorkerLink};
use crate::storage::{Storage, Written};

/// How long a worker that went without a word is told about.
const REMEMBERED_MS: i64 = 24 * 60 * 60 * 1000;
/// Pause between two times the records are brought up to date, where other schedulers read them, and where none do.
const SHARED_EVERY_MS: i64 = 10_000;
const ALONE_EVERY_MS: i64 = 60_000;
/// Records read at once.
const PAGE: usize = 256;
/// Most calls a record names.
const MAX_CALLS: usize = 64;

/// The records of all workers.
#[derive(Debug)]
pub(crate) struct Roster {
    storage: Storage,
    /// The name of this scheduler, made up at each start.
    scheduler: String,
    every_ms: i64,
    refreshed_millis: AtomicI64,
}

/// One worker as it was last recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedWorker {
    /// What it said of itself.
    pub info: WorkerInfo,
    /// The scheduler it is connected to, or was.
    pub scheduler: String,
    /// When it was last heard of, as far as it was recorded.
    pub seen_at: Timestamp,
    /// It takes no new calls.
    pub draining: bool,
    /// Calls it ran then, at most 64.
    pub calls: Vec<InvocationKey>,
    /// Its stream ended, and it did not say goodbye.
    gone: bool,
}

impl RecordedWorker {
    fn new(link: &WorkerLink, scheduler: &str) -> Self {
        let mut calls = link.in_flight();
        calls.truncate(MAX_CALLS);
        Self {
            info: link.info_now(),
            scheduler: scheduler.to_owned(),
            seen_at: link.last_seen(),
            draining: link.is_draining(),
            calls,
            gone: false,
        }
    }

    /// Whether it has a newer stream elsewhere than `link`, which is connected to `scheduler`.
    pub(crate) fn is_newer_than(&self, link: &WorkerLink, scheduler: &str) -> bool {
        self.scheduler != scheduler && !self.gone && self.info.connected_at > link.info.connected_at
    }

    /// Whether no scheduler holds its stream any more; `lives` says whether a scheduler does.
    pub(crate) fn is_lost(&self, lives: impl Fn(&str) -> bool) -> bool {
        self.gone || !lives(&self.scheduler)
    }

    fn put(&self) -> Result<Write, StoreError> {
        let bytes =
            serde_json::to_vec(self).map_err(|error| StoreError::InvalidCommit { reason: error.to_string() })?;
        Ok(Write::Put { key: key(&self.info.worker_id), bytes: Bytes::from(bytes) })
    }
}

fn key(id: &WorkerId) -> RecordKey {
    RecordKey::new(Family::Worker, id.as_str())
}

impl Roster {
    pub(crate) fn new(storage: Storage, scheduler: String) -> Self {
        let every_ms = if storage.is_shared() { SHARED_EVERY_MS } else { ALONE_EVERY_MS };
        Self { storage, scheduler, every_ms, refreshed_millis: AtomicI64::new(0) }
    }

    /// A worker is connected here from now on.
    pub(crate) async fn enlist(&self, link: &WorkerLink) {
        let written = async {
            let writes = vec![RecordedWorker::new(link, &self.scheduler).put()?];
            self.storage.write_once(Commit { writes, ..Commit::default() }).await
        };
        self.told(&link.info.worker_id, written.await.map(drop));
    }

    /// The stream of a worker ended here. One that said goodbye is forgotten, unless it is connected elsewhere by now.
    pub(crate) async fn left(&self, link: &WorkerLink, said_goodbye: bool) {
        let key = key(&link.info.worker_id);
        let written = async {
            // A record that is just being brought up to date is read again.
            while let Some(stored) = self.storage.get(&key).await? {
                let known = serde_json::from_slice::<RecordedWorker>(&stored.bytes).ok();
                let ours = known.is_none_or(|known| {
                    known.scheduler == self.scheduler && known.info.incarnation == link.info.incarnation
                });
                if !ours {
                    break;
                }
                let write = match said_goodbye {
                    true => Write::Delete { key: key.clone() },
                    false => RecordedWorker { gone: true, ..RecordedWorker::new(link, &self.scheduler) }.put()?,
                };
                let compare = vec![(key.clone(), Expect::Version(stored.version))];
                let commit = Commit { compare, writes: vec![write], essential: true, ..Commit::default() };
                if !matches!(self.storage.write_once(commit).await?, Written::Lost(_)) {
                    break;
                }
            }
            Ok(())
        };
        self.told(&link.info.worker_id, written.await);
    }

    /// Brings the records of the workers connected here up to date, and forgets who is gone for long; now and then.
    pub(crate) async fn refresh(&self, links: &[Arc<WorkerLink>], now: Timestamp) -> Result<(), StoreError> {
        let millis = now.as_millis();
        if millis - self.refreshed_millis.load(Ordering::Relaxed) < self.every_ms {
            return Ok(());
        }
        self.refreshed_millis.store(millis, Ordering::Relaxed);
        let known = self.read().await?;
        // A stream that was left for another scheduler may not have ended here yet: the scheduler that has the newer
        // one records it. And one that was seen here may have ended since.
        let over = |link: &WorkerLink| {
            let of_it = known.iter().find(|(_, recorded)| recorded.info.worker_id == link.info.worker_id);
            of_it.is_some_and(|(_, recorded)| {
                let ended = recorded.gone && recorded.info.connected_at == link.info.connected_at;
                ended || recorded.is_newer_than(link, &self.scheduler)
            })
        };
        let mine = links.iter().filter(|link| !over(link));
        let writes =
            mine.map(|link| RecordedWorker::new(link, &self.scheduler).put()).collect::<Result<Vec<_>, _>>()?;
        let bytes = |write: &Write| if let Write::Put { bytes, .. } = write { bytes.len() } else { 0 };
        for writes in page::split(writes, bytes) {
            self.update(writes, &known).await?;
        }
        for (version, recorded) in known {
            let here = links.iter().any(|link| link.info.worker_id == recorded.info.worker_id);
            if !here && now.since_millis(recorded.seen_at) > REMEMBERED_MS {
                let key = key(&recorded.info.worker_id);
                let compare = vec![(key.clone(), Expect::Version(version))];
                let writes = vec![Write::Delete { key }];
                self.storage.write_once(Commit { compare, writes, essential: true, ..Commit::default() }).await?;
            }
        }
        Ok(())
    }

    /// Writes those records that are still as they were `known`: what was recorded meanwhile, like the end of a stream, is newer.
    async fn update(&self, mut writes: Vec<Write>, known: &[(u64, RecordedWorker)]) -> Result<(), StoreError> {
        let version =
            |written: &RecordKey| known.iter().find(|(_, recorded)| key(&recorded.info.worker_id) == *written);
        while !writes.is_empty() {
            let expected = |write: &Write| {
                let known = version(write.key());
                (write.key().clone(), known.map_or(Expect::Absent, |(version, _)| Expect::Version(*version)))
            };
            let compare = writes.iter().map(expected).collect();
            let commit = Commit { compare, writes: writes.clone(), ..Commit::default() };
            let Written::Lost(newer) = self.storage.write_once(commit).await? else { break };
            writes.retain(|write| newer.iter().all(|(key, _)| key != write.key()));
        }
        Ok(())
    }

    /// The worker of this id, as it was recorded last.
    pub(crate) async fn one(&self, id: &WorkerId) -> Result<Option<RecordedWorker>, StoreError> {
        let stored = self.storage.get(&key(id)).await?;
        Ok(stored.and_then(|stored| serde_json::from_slice(&stored.bytes).ok()))
    }

    /// Every worker that is recorded, by id; also those connected here.
    pub(crate) async fn all(&self) -> Result<Vec<RecordedWorker>, StoreError> {
        Ok(self.read().await?.into_iter().map(|(_, recorded)| recorded).collect())
    }

    /// The records with their versions. One that cannot be read is about no worker.
    async fn read(&self) -> Result<Vec<(u64, RecordedWorker)>, StoreError> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = self.storage.keys(Family::Worker, after.as_deref(), PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(found) };
            after = Some(last.clone());
            let read = |(_, stored): (String, toolplane_store::Versioned)| {
                Some((stored.version, serde_json::from_slice(&stored.bytes).ok()?))
            };
            found.extend(page.into_iter().filter_map(read));
        }
    }

    /// A record that cannot be written stops no worker.
    fn told(&self, worker_id: &WorkerId, written: Result<(), StoreError>) {
        if let Err(error) = written {
            tracing::debug!(%worker_id, %error, "what is known of a worker could not be recorded");
        }
    }
}
