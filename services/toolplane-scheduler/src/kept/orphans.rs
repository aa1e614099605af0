//! Kept outputs that nobody names: a crash came between keeping an output and the end of its call, or between the end and the removal of
//! what was replaced.
//!
//! Only that of a call whose end is stored is one, because nothing can name it any more. Of a call that is gone altogether nothing is known, so
//! what it kept is left to `objects.retention_days`.
//!
//! Outputs whose tool wants them kept for less time (`retention_hint`) go in the same round, unless a legal hold is on their call.

use std::time::Duration;

use futures_util::StreamExt as _;
use toolplane_lifecycle::Terminal;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_results::PayloadStore;
use toolplane_results::payload::{KeptPayload, key::PayloadKey};

use crate::calls::Records;
use crate::keeping::Holds;
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
    holds: Holds,
    /// How long ago one must have been kept; none is removed when absent.
    grace_ms: Option<i64>,
    /// For how many days records of ended calls are there.
    days: u32,
}

impl Orphans {
    pub(crate) fn new(
        records: Records,
        (payloads, holds): (PayloadStore, Holds),
        grace_ms: Option<i64>,
        retention_ms: i64,
    ) -> Self {
        let days = u32::try_from(retention_ms / DAY_MS + 1).unwrap_or(u32::MAX);
        Self { records, payloads, holds, grace_ms, days }
    }

    /// How old one must be, in milliseconds, before it is removed.
    pub(crate) fn grace_ms(&self) -> Option<i64> {
        self.grace_ms
    }

    /// Removes them, in an endless loop.
    pub(crate) async fn run(&self) {
        let sooner = self.grace_ms.and_then(|grace| u64::try_from(grace).ok()).map_or(INTERVAL, Duration::from_millis);
        let mut tick = tokio::time::interval(INTERVAL.min(sooner).max(Duration::from_millis(100)));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            match self.remove(self.grace_ms).await {
                Ok((0, _)) => {}
                Ok((removed, bytes)) => {
                    tracing::info!(
                        kind = "orphans_removed",
                        removed,
                        bytes,
                        "outputs that no call names, or whose time is over, were removed"
                    );
                }
                Err(error) => {
                    tracing::warn!(%error, "outputs that no call names could not be looked for; trying again")
                }
            }
        }
    }

    /// Removes those that are so old, none where nothing is said, and outputs that their tool wanted kept for less time than has
    /// passed; says how many, and how many bytes they had.
    pub(crate) async fn remove(&self, grace_ms: Option<i64>) -> Result<(u64, u64), RecordError> {
        let (mut removed, mut bytes) = (0, 0);
        let now = self.records.now().await?;
        let mut looked_at = 0;
        for day in self.payloads.days(self.days, now).await? {
            let mut kept = self.payloads.kept_on(&day);
            while let Some(kept) = kept.next().await.transpose()? {
                looked_at += 1;
                if looked_at % AT_ONCE == 0 {
                    tokio::time::sleep(PAUSE).await;
                }
                let old = grace_ms.is_some_and(|grace| kept.kept_at <= now.plus_millis(-grace));
                let kind = match self.standing(&kept.key, now).await? {
                    Standing::Named => continue,
                    Standing::Orphan if !old => continue,
                    Standing::Orphan => "orphan_removed",
                    Standing::Over => "output_expired",
                };
                self.payloads.remove(&kept.key).await?;
                let uri = kept.key.uri();
                tracing::info!(kind, uri, bytes = kept.size_bytes, "an output is kept no longer");
                (removed, bytes) = (removed + 1, bytes + kept.size_bytes);
            }
        }
        Ok((removed, bytes))
    }

    /// At most so many of those of a tenant, however old, and whether there are more. Changes nothing.
    pub(crate) async fn list(&self, tenant: &TenantId, most: usize) -> Result<(Vec<KeptPayload>, bool), RecordError> {
        let mut found = Vec::new();
        let now = self.records.now().await?;
        for day in self.payloads.days(self.days, now).await? {
            let mut kept = self.payloads.kept_on(&day);
            while let Some(kept) = kept.next().await.transpose()? {
                if kept.key.belongs_to(tenant) && self.standing(&kept.key, now).await? == Standing::Orphan {
                    if found.len() == most {
                        return Ok((found, true));
                    }
                    found.push(kept);
                }
            }
        }
        Ok((found, false))
    }

    /// What is known of a kept output by the end of the call that made it. Where that is not known, it stands as if it were named.
    async fn standing(&self, key: &PayloadKey, now: Timestamp) -> Result<Standing, RecordError> {
        let (Some(call), Some(digest)) = (key.call(), key.digest()) else { return Ok(Standing::Named) };
        let record = match self.records.get(&call).await {
            Ok(record) if record.status.is_terminal() => record,
            // What a call of unknown state names is not known.
            Ok(_) | Err(RecordError::NotFound | RecordError::Damaged(_)) => return Ok(Standing::Named),
            Err(error) => return Err(error),
        };
        let Some(end) = self.records.result(&call).await? else { return Ok(Standing::Named) };
        if !mentions(&end, digest) {
            let original = self.records.original(&call).await?;
            let sealed = original.is_some_and(|kept| kept.parts.iter().any(|part| part.sealed.digest == digest));
            return Ok(if sealed { Standing::Named } else { Standing::Orphan });
        }
        let over = is_over(&end, &key.uri(), now) && self.holds.on(&record).await?.is_none();
        Ok(if over { Standing::Over } else { Standing::Named })
    }
}

/// What is known of a kept output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Something may name it.
    Named,
    /// Nobody names it.
    Orphan,
    /// It was to be kept until now, and nothing holds it.
    Over,
}

/// Whether the decision about the output at `uri` says that its time is over.
pub(crate) fn is_over(end: &Terminal, uri: &str, now: Timestamp) -> bool {
    let mut of_it = end.decisions().filter(|kept| kept.persisted_ref.as_ref().is_some_and(|kept| kept.uri == uri));
    of_it.any(|kept| kept.expires_at.is_some_and(|until| until <= now))
}

/// Whether anything in an end has this digest, wherever it stands: what is named in a way of its own is named as well.
fn mentions(end: &Terminal, digest: Digest) -> bool {
    serde_json::to_string(end).map_or(true, |text| text.contains(&digest.hex()))
}
