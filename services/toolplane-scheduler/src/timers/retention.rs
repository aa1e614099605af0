//! Retention: ended calls are removed with everything that belongs to them when their time is over.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationKey;
use toolplane_records::time::Timestamp;
use toolplane_store::{Family, IndexEntry, RecordKey, ScoreRange};

use crate::calls::CachedCall;
use crate::cluster::Members;
use crate::groups::GroupRetention;
use crate::keeping::{Deletions, KeepTimes, Removal};
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, keys};
use crate::taints::SessionTaints;

/// Ended calls read at once.
const PAGE: usize = 256;
/// Calls removed in one commit.
const GROUP: usize = 32;
/// Pages removed in a row before anything else has its turn.
const PAGES: usize = 64;

/// Removes what is no longer kept.
#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) removal: Removal,
    /// Finishes deletions that broke off.
    pub(crate) deletions: Deletions,
    pub(crate) members: Arc<Members>,
    pub(crate) groups: GroupRetention,
    pub(crate) taints: SessionTaints,
    /// How long ended calls are kept.
    pub(crate) times: KeepTimes,
    /// Where the next page of ended calls begins; none at the beginning.
    pub(crate) place: Mutex<Option<IndexEntry>>,
    /// Whether ended calls are written to the object store before they are removed.
    pub(crate) archive: bool,
    pub(crate) tick_ms: u64,
}

impl Retention {
    /// Removes what is no longer kept, in an endless loop. Apart from the timers, so that these never wait for it.
    pub(crate) async fn run(&self) {
        let mut tick = tokio::time::interval(Duration::from_millis(self.tick_ms.max(10)));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = self.retire().await {
                tracing::warn!(%error, "records past their retention could not be removed; trying again");
            }
        }
    }

    async fn retire(&self) -> Result<(), RecordError> {
        let now = self.removal.calls.now().await?;
        for _ in 0..PAGES {
            if !self.retire_page(now).await? {
                break;
            }
        }
        self.forget_keys(now).await?;
        self.taints.tidy(now).await?;
        self.deletions.finish().await?;
        self.removal.remove_originals(now).await?;
        self.groups.tidy(now).await
    }

    /// Removes what is no longer kept of one page of ended calls; true when there is more. Where calls stay, because they are kept for
    /// longer or a hold is on them, the next page begins after them.
    async fn retire_page(&self, now: Timestamp) -> Result<bool, RecordError> {
        let mut over = ScoreRange::up_to(score(now.plus_millis(-self.times.shortest())));
        if let Some(place) = &*self.place.lock() {
            over = over.after(place);
        }
        let page = self.removal.calls.storage().scan(keys::ENDED, over, PAGE).await?;
        let last = page.last().cloned().filter(|_| page.len() == PAGE);
        let more = last.is_some();
        *self.place.lock() = last;
        let mine: Vec<IndexEntry> = page.into_iter().filter(|entry| self.is_mine_to_retire(entry, now)).collect();
        let wanted: Vec<_> =
            mine.iter().map(|entry| RecordKey::new(Family::Invocation, entry.member.as_str())).collect();
        let mut old = Vec::with_capacity(mine.len());
        for (entry, stored) in mine.iter().zip(self.removal.calls.storage().readable(&wanted).await?) {
            match stored.and_then(|stored| CachedCall::read(&stored).ok()) {
                Some(call) => old.push(call),
                None => drop(self.removal.calls.set_aside(keys::ENDED, entry).await),
            }
        }
        let old = self.not_held(old).await?;
        if self.archive && !old.is_empty() {
            self.write_archive(&old, now).await?;
        }
        let shards = self.removal.calls.storage().shards();
        for of_shard in shards.sorted(old, |call| shards.of_call(&call.record.key())) {
            for group in of_shard.chunks(GROUP) {
                self.remove(group, now).await?;
            }
        }
        Ok(more)
    }

    /// Schedulers that share a store each remove their part; what was not handled for a while is the share of every
    /// scheduler.
    fn is_mine_to_retire(&self, entry: &IndexEntry, now: Timestamp) -> bool {
        let Ok(id) = InvocationKey::parse(&entry.member) else { return true };
        let age = i64::try_from(score(now).saturating_sub(entry.score)).unwrap_or(i64::MAX);
        let patience = i64::try_from(self.tick_ms).unwrap_or(i64::MAX / 64).saturating_mul(30);
        let late = age.saturating_sub(self.times.of(&id.tenant));
        late >= 0 && self.members.mine(&entry.member, late, patience)
    }

    /// Those of `calls` no hold is on. The commit that removes them compares the holds once more.
    async fn not_held(&self, calls: Vec<CachedCall>) -> Result<Vec<CachedCall>, RecordError> {
        let mut free = Vec::with_capacity(calls.len());
        for call in calls {
            if !self.removal.is_held(&call.record).await? {
                free.push(call);
            }
        }
        Ok(free)
    }

    /// Removes calls with all that belongs to them, in one commit. Their keys are remembered until the window is over.
    async fn remove(&self, group: &[CachedCall], now: Timestamp) -> Result<(), RecordError> {
        let mut builder = Builder::default();
        for call in group {
            self.removal.take_out(&mut builder, call, now).await?;
        }
        // Lost when one of them changed, or a hold was set, just now: they are looked at again.
        self.removal.calls.storage().write(builder.done(true)).await.map(drop)
    }

    /// Forgets keys whose window is over.
    async fn forget_keys(&self, now: Timestamp) -> Result<(), RecordError> {
        let over = self.removal.calls.storage().scan(keys::TOMBSTONES, ScoreRange::up_to(score(now)), PAGE).await?;
        if over.is_empty() {
            return Ok(());
        }
        let shards = self.removal.calls.storage().shards();
        for of_shard in shards.sorted(over, |entry| shards.of_name(&entry.member)) {
            let mut builder = Builder::default();
            for entry in of_shard {
                if let Ok(id) = InvocationKey::parse(&entry.member) {
                    builder.delete(keys::tombstone(&id));
                }
                builder.leave(keys::TOMBSTONES, entry.member);
            }
            self.removal.calls.storage().write(builder.done(true)).await?;
        }
        Ok(())
    }

    /// Writes what is about to be removed as one object, a call a line. A crash before the removal writes it again under
    /// another name: archives may repeat a call, and never miss one.
    async fn write_archive(&self, old: &[CachedCall], now: Timestamp) -> Result<(), RecordError> {
        let mut lines = String::new();
        for call in old {
            let record = &call.record;
            let id = &record.key();
            let mut decisions = Vec::new();
            for decision in &record.permission_decision_refs {
                decisions.extend(self.removal.calls.records().decision(&record.tenant, decision.as_str()).await?);
            }
            let log: Vec<LogEvent> = self.removal.calls.records().log(id).await?;
            let inputs = self.removal.calls.records().inputs(record).await?;
            let line = serde_json::json!({
                "invocation": &**record,
                "inputs": { "model": inputs.model, "call": inputs.call },
                "result": self.removal.calls.records().result(id).await?,
                "decisions": decisions,
                "hooks": self.removal.calls.records().hooks(record).await?,
                "executions": self.removal.calls.records().executions(record).await?,
                "events": log,
            });
            let _ = writeln!(lines, "{line}");
        }
        let name = format!("{}-{}", now.as_millis(), self.removal.calls.storage().environment().uuid().simple());
        Ok(self.removal.objects.put_archive(now, &name, Bytes::from(lines)).await?)
    }
}
