//! Removing what is shared when it is not needed any more: ended batches, and lock domains without tickets.

use toolplane_records::batch::Batch;
use toolplane_records::locks::LockDomain;
use toolplane_records::time::Timestamp;
use toolplane_store::{Expect, Family, RecordKey, ScoreRange};

use super::accept::key_note;
use super::keys;
use crate::storage::commit::{Builder, score};
use crate::storage::keys::TOMBSTONES;
use crate::storage::{RecordError, Storage};

/// Entries handled at once.
const PASS: usize = 128;
/// How long a lock domain is idle before its record is removed. A call that read it before has long come to an end.
const IDLE_MS: i64 = 3_600_000;

/// Removes what batches and locks no longer need.
#[derive(Debug)]
pub(crate) struct GroupRetention {
    storage: Storage,
    /// How long ended batches are kept, milliseconds.
    retention_ms: i64,
    /// How long idempotency keys are remembered after their batches ended, milliseconds.
    key_window_ms: i64,
}

impl GroupRetention {
    pub(crate) fn new(storage: Storage, retention_ms: i64, key_window_ms: i64) -> Self {
        Self { storage, retention_ms, key_window_ms }
    }

    /// Removes batches whose time is over, and lock domains that were idle for long; at most a page of each. Returns an
    /// error when the store does.
    pub(crate) async fn tidy(&self, now: Timestamp) -> Result<(), RecordError> {
        let old = ScoreRange::up_to(score(now.plus_millis(-self.retention_ms)));
        for entry in self.storage.scan(keys::ENDED_BATCHES, old, PASS).await? {
            self.remove_batch(&entry.member).await?;
        }
        let idle = ScoreRange::up_to(score(now.plus_millis(-IDLE_MS)));
        for entry in self.storage.scan(keys::IDLE_DOMAINS, idle, PASS).await? {
            self.remove_domain(entry.member).await?;
        }
        Ok(())
    }

    async fn remove_batch(&self, name: &str) -> Result<(), RecordError> {
        let mut builder = Builder::default();
        builder.leave(keys::ENDED_BATCHES, name);
        let key = RecordKey::new(Family::Batch, name);
        if let Some(stored) = self.storage.get(&key).await? {
            let batch: Batch = serde_json::from_slice(&stored.bytes)?;
            builder.compare(key.clone(), Expect::Version(stored.version));
            builder.leave(keys::batches(&batch.tenant), name);
            builder.delete(key);
            if let Some(note) = key_note(self.storage.shards(), &batch) {
                let remembered = batch.ended_at.unwrap_or(batch.created_at).plus_millis(self.key_window_ms);
                builder.enter(TOMBSTONES, note.to_string(), score(remembered));
            }
        }
        self.storage.write(builder.done(true)).await.map(drop)
    }

    async fn remove_domain(&self, id: String) -> Result<(), RecordError> {
        let key = RecordKey::new(Family::LockDomain, id.clone());
        let mut builder = Builder::default();
        builder.leave(keys::IDLE_DOMAINS, id);
        if let Some(stored) = self.storage.get(&key).await? {
            let domain: LockDomain = serde_json::from_slice(&stored.bytes)?;
            // Lost when a call draws a ticket just now: then the entry is gone already.
            builder.compare(key.clone(), Expect::Version(stored.version));
            if domain.tickets.is_empty() {
                builder.delete(key);
            }
        }
        self.storage.write(builder.done(true)).await.map(drop)
    }
}
