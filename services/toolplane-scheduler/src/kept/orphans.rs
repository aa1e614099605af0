//! Kept outputs that nobody names: a crash came between keeping an output and the end of its call, or between the end and the removal of
//! what was replaced.
//!
//! Only that of a call whose end is stored is one, because nothing can name it any more. Of a call that is gone altogether nothing is known, so
//! what it kept is left to `objects.retention_days`.

use std::time::Duration;

use futures_util::StreamExt as _;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::Digest;
use toolplane_results::PayloadStore;
use toolplane_results::payload::{KeptPayload, key::PayloadKey};

use crate::calls::Records;
use crate::storage::RecordError;

/// How often is looked for them, unless they are to go sooner.
const INTERVAL: Duration = Duration::from_secs(10 * 60);
/// After so many payloads, everything else has its turn.
const AT_ONCE: usize = 256;
const PAUSE: Duration = Duration::from_millis(250);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Finds kept outputs that nobody names.
#[derive(Clone, Debug)]
pub(crate) struct Orphans {
    records: Records,
    payloads: PayloadStore,
    /// How long ago one must have been kept; none is removed when absent.
    grace_ms: Option<i64>,
    /// For how many days records of ended calls are there.
    days: u32,
}

impl Orphans {
    pub(crate) fn new(records: Records, payloads: PayloadStore, grace_ms: Option<i64>, retention_ms: i64) -> Self {
        let days = u32::try_from(retention_ms / DAY_MS + 1).unwrap_or(u32::MAX);
        Self { records, payloads, grace_ms, days }
    }

    /// How old one must be, in milliseconds, before it is removed.
    pub(crate) fn grace_ms(&self) -> Option<i64> {
        self.grace_ms
    }

    /// Removes them, in an endless loop.
    pub(crate) async fn run(&self) {
        let Some(grace_ms) = self.grace_ms else { return };
        let sooner = Duration::from_millis(u64::try_from(grace_ms).unwrap_or(u64::MAX));
        let mut tick = tokio::time::interval(INTERVAL.min(sooner).max(Duration::from_millis(100)));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            match self.remove(grace_ms).await {
                Ok((0, _)) => {}
                Ok((removed, bytes)) => {
                    tracing::info!(kind = "orphans_removed", removed, bytes, "outputs that no call names were removed");
                }
                Err(error) => {
                    tracing::warn!(%error, "outputs that no call names could not be looked for; trying again")
                }
            }
        }
    }

    /// Removes those that are so old; says how many, and how many bytes they had.
    pub(crate) async fn remove(&self, grace_ms: i64) -> Result<(u64, u64), RecordError> {
        let (mut removed, mut bytes) = (0, 0);
        let now = self.records.now().await?;
        let over = now.plus_millis(-grace_ms);
        let mut looked_at = 0;
        for day in self.payloads.days(self.days, now).await? {
            let mut kept = self.payloads.kept_on(&day);
            while let Some(kept) = kept.next().await.transpose()? {
                looked_at += 1;
                if looked_at % AT_ONCE == 0 {
                    tokio::time::sleep(PAUSE).await;
                }
                if kept.kept_at > over || !self.is_orphan(&kept.key).await? {
                    continue;
                }
                self.payloads.remove(&kept.key).await?;
                let uri = kept.key.uri();
                tracing::info!(kind = "orphan_removed", uri, bytes = kept.size_bytes, "no call names this output");
                (removed, bytes) = (removed + 1, bytes + kept.size_bytes);
            }
        }
        Ok((removed, bytes))
    }

    /// At most so many of those of a tenant, however old, and whether there are more. Changes nothing.
    pub(crate) async fn list(&self, tenant: &TenantId, most: usize) -> Result<(Vec<KeptPayload>, bool), RecordError> {
        let mut found = Vec::new();
        for day in self.payloads.days(self.days, self.records.now().await?).await? {
            let mut kept = self.payloads.kept_on(&day);
            while let Some(kept) = kept.next().await.transpose()? {
                if kept.key.belongs_to(tenant) && self.is_orphan(&kept.key).await? {
                    if found.len() == most {
                        return Ok((found, true));
                    }
                    found.push(kept);
                }
            }
        }
        Ok((found, false))
    }

    /// Whether the call that made it has ended and nothing of its end says anything of these bytes.
    async fn is_orphan(&self, key: &PayloadKey) -> Result<bool, RecordError> {
        let (Some(call), Some(digest)) = (key.call(), key.digest()) else { return Ok(false) };
        match self.records.get(&call).await {
            Ok(record) if record.status.is_terminal() => {}
            // What a call of unknown state names is not known.
            Ok(_) | Err(RecordError::NotFound | RecordError::Damaged(_)) => return Ok(false),
            Err(error) => return Err(error),
        }
        let Some(end) = self.records.result(&call).await? else { return Ok(false) };
        if mentions(&end, digest) {
            return Ok(false);
        }
        let original = self.records.original(&call).await?;
        Ok(!original.is_some_and(|kept| kept.parts.iter().any(|part| part.sealed.digest == digest)))
    }
}

/// Whether anything in an end has this digest, wherever it stands: what is named in a way of its own is named as well.
fn mentions(end: &toolplane_lifecycle::Terminal, digest: Digest) -> bool {
    serde_json::to_string(end).map_or(true, |text| text.contains(&digest.hex()))
}
