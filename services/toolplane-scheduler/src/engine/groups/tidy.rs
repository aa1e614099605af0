//! Removing what is shared when nobody needs it any more: ended batches, and lock domains nobody has a ticket in.

use toolplane_records::batch::Batch;
use toolplane_records::locks::LockDomain;
use toolplane_records::time::Timestamp;
use toolplane_store::{Expect, Family, RecordKey, ScoreRange};

use super::keys;
use crate::engine::commit::{Builder, score};
use crate::engine::{Engine, EngineError};

/// Entries handled at once.
const PASS: usize = 128;
/// How long a lock domain stands idle before its record is removed. Whoever read it before has long come to an end.
const IDLE_MS: i64 = 3_600_000;

impl Engine {
    /// Removes batches that ended `retention_ms` ago, and lock domains that stood idle for long; at most a page of each.
    pub(crate) async fn tidy_groups(&self, now: Timestamp, retention_ms: i64) -> Result<(), EngineError> {
        let old = ScoreRange::up_to(score(now.plus_millis(-retention_ms)));
        for entry in self.0.store.scan(keys::ENDED_BATCHES, old, PASS).await? {
            self.remove_batch(&entry.member).await?;
        }
        let idle = ScoreRange::up_to(score(now.plus_millis(-IDLE_MS)));
        for entry in self.0.store.scan(keys::IDLE_DOMAINS, idle, PASS).await? {
            self.remove_domain(entry.member).await?;
        }
        Ok(())
    }

    async fn remove_batch(&self, name: &str) -> Result<(), EngineError> {
        let mut builder = Builder::default();
        builder.leave(keys::ENDED_BATCHES, name);
        let key = RecordKey::new(Family::Batch, name);
        if let Some(stored) = self.0.store.get(&key).await? {
            let batch: Batch = serde_json::from_slice(&stored.bytes)?;
            builder.compare(key.clone(), Expect::Version(stored.version));
            builder.leave(keys::batches(&batch.tenant), name);
            builder.delete(key);
        }
        self.write(builder.done(true)).await.map(drop)
    }

    async fn remove_domain(&self, id: String) -> Result<(), EngineError> {
        let key = RecordKey::new(Family::LockDomain, id.clone());
        let mut builder = Builder::default();
        builder.leave(keys::IDLE_DOMAINS, id);
        if let Some(stored) = self.0.store.get(&key).await? {
            let domain: LockDomain = serde_json::from_slice(&stored.bytes)?;
            // Lost when somebody draws a ticket just now: then the entry is gone already.
            builder.compare(key.clone(), Expect::Version(stored.version));
            if domain.tickets.is_empty() {
                builder.delete(key);
            }
        }
        self.write(builder.done(true)).await.map(drop)
    }
}
