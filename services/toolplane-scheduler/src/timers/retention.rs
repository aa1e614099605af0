//! Retention: ended calls are removed with everything that belongs to them when their time is over.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::StartGuard;
use toolplane_results::PayloadStore;
use toolplane_store::{Expect, Family, IndexEntry, RecordKey, ScoreRange};

use crate::calls::{CachedCall, Calls, Remembered, Tombstone};
use crate::cluster::Members;
use crate::groups::GroupRetention;
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
    pub(crate) calls: Calls,
    pub(crate) members: Arc<Members>,
    pub(crate) objects: PayloadStore,
    pub(crate) groups: GroupRetention,
    pub(crate) taints: SessionTaints,
    /// How long ended calls are kept, milliseconds.
    pub(crate) retention_ms: i64,
    /// How long idempotency keys are remembered after their calls ended, milliseconds.
    pub(crate) key_window_ms: i64,
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
        let now = self.calls.now().await?;
        for _ in 0..PAGES {
            if !self.retire_page(now).await? {
                break;
            }
        }
        self.forget_keys(now).await?;
        self.taints.tidy(now).await?;
        self.groups.tidy(now).await
    }

    /// Removes a page of what is no longer kept; true when there is more.
    async fn retire_page(&self, now: Timestamp) -> Result<bool, RecordError> {
        let over = ScoreRange::up_to(score(now.plus_millis(-self.retention_ms)));
        let page = self.calls.storage().scan(keys::ENDED, over, PAGE).await?;
        let full = page.len() == PAGE;
        let mine: Vec<IndexEntry> = page.into_iter().filter(|entry| self.is_mine_to_retire(entry, now)).collect();
        let more = full && !mine.is_empty();
        let wanted: Vec<_> =
            mine.iter().map(|entry| RecordKey::new(Family::Invocation, entry.member.as_str())).collect();
        let mut old = Vec::with_capacity(mine.len());
        for (entry, stored) in mine.iter().zip(self.calls.storage().readable(&wanted).await?) {
            match stored.and_then(|stored| CachedCall::read(&stored).ok()) {
                Some(call) => old.push(call),
                None => drop(self.calls.set_aside(keys::ENDED, entry).await),
            }
        }
        if self.archive && !old.is_empty() {
            self.write_archive(&old, now).await?;
        }
        let shards = self.calls.storage().shards();
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
        let age = i64::try_from(score(now).saturating_sub(entry.score)).unwrap_or(i64::MAX);
        let patience = i64::try_from(self.tick_ms).unwrap_or(i64::MAX / 64).saturating_mul(30);
        self.members.mine(&entry.member, age.saturating_sub(self.retention_ms), patience)
    }

    /// Removes calls with all that belongs to them, in one commit. Their keys are remembered until the window is over.
    async fn remove(&self, group: &[CachedCall], now: Timestamp) -> Result<(), RecordError> {
        let mut builder = Builder::default();
        for call in group {
            let record = &call.record;
            if record.dispatch.as_ref().is_some_and(|dispatch| dispatch.start_guard == StartGuard::Object) {
                self.objects.forget_start(&record.key()).await?;
            }
            builder.compare(keys::invocation(&record.key()), Expect::Version(call.version));
            take_out(&mut builder, record);
            for input in self.former_inputs(record).await? {
                builder.delete(input);
            }
            let ended_at = record.ended_at.unwrap_or(record.created_at);
            let remembered = ended_at.plus_millis(self.key_window_ms);
            if remembered > now {
                let (request_digest, status) = (record.request_digest, record.status);
                let tombstone = Tombstone { request_digest, status, ended_at: record.ended_at };
                builder.put_json(keys::tombstone(&record.key()), &Remembered::Call(tombstone))?;
                builder.enter(keys::TOMBSTONES, record.key().to_string(), score(remembered));
            }
            let asked = self.calls.records().asked(record);
            if let Some(key) = &asked.key
                && self.calls.records().holds_key(&asked).await?
            {
                builder.enter(keys::TOMBSTONES, key.to_string(), score(remembered));
            }
        }
        // Lost when one of them changed just now: they are looked at again.
        self.calls.storage().write(builder.done(true)).await.map(drop)
    }

    /// Inputs the call had on the way to the one it ran with.
    async fn former_inputs(&self, record: &Invocation) -> Result<Vec<RecordKey>, RecordError> {
        let inputs = &record.inputs;
        if inputs.call.as_ref().is_none_or(|call| call.digest == inputs.model.digest) {
            return Ok(Vec::new());
        }
        let mutations = self.calls.records().mutations(record).await?;
        let places = mutations.iter().flat_map(|mutation| [&mutation.from_input_ref, &mutation.to_input_ref]);
        Ok(places.filter_map(|uri| keys::input_at(&record.tenant, uri)).collect())
    }

    /// Forgets keys whose window is over.
    async fn forget_keys(&self, now: Timestamp) -> Result<(), RecordError> {
        let over = self.calls.storage().scan(keys::TOMBSTONES, ScoreRange::up_to(score(now)), PAGE).await?;
        if over.is_empty() {
            return Ok(());
        }
        let shards = self.calls.storage().shards();
        for of_shard in shards.sorted(over, |entry| shards.of_name(&entry.member)) {
            let mut builder = Builder::default();
            for entry in of_shard {
                if let Ok(id) = InvocationKey::parse(&entry.member) {
                    builder.delete(keys::tombstone(&id));
                }
                builder.leave(keys::TOMBSTONES, entry.member);
            }
            self.calls.storage().write(builder.done(true)).await?;
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
                decisions.extend(self.calls.records().decision(&record.tenant, decision.as_str()).await?);
            }
            let log: Vec<LogEvent> = self.calls.records().log(id).await?;
            let inputs = self.calls.records().inputs(record).await?;
            let line = serde_json::json!({
                "invocation": &**record,
                "inputs": { "model": inputs.model, "call": inputs.call },
                "result": self.calls.records().result(id).await?,
                "decisions": decisions,
                "hooks": self.calls.records().hooks(record).await?,
                "events": log,
            });
            let _ = writeln!(lines, "{line}");
        }
        let name = format!("{}-{}", now.as_millis(), self.calls.storage().environment().uuid().simple());
        Ok(self.objects.put_archive(now, &name, Bytes::from(lines)).await?)
    }
}

fn take_out(builder: &mut Builder, record: &Invocation) {
    let id = &record.key();
    builder.delete(keys::invocation(id));
    builder.delete(keys::result(id));
    for decision in &record.permission_decision_refs {
        builder.delete(keys::decision(&record.tenant, decision.as_str()));
    }
    for hook_ref in &record.hook_refs {
        builder.delete(keys::hook(&record.tenant, hook_ref));
    }
    builder.delete(keys::facts(id));
    let inputs = &record.inputs;
    let optional = [&inputs.observable, &inputs.permission, &inputs.call].into_iter().flatten();
    for payload in std::iter::once(&inputs.model).chain(optional) {
        builder.delete(keys::payload(id, &payload.digest));
    }
    builder.forget(keys::stream(id));
    builder.leave(keys::ENDED, id.to_string());
    builder.leave(keys::listing(&record.tenant), id.to_string());
}
