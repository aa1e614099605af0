//! Retention: ended calls are removed with everything that belongs to them when their time is over, and some of what they leave before that.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::RecordClass;
use toolplane_store::{Family, RecordKey, ScoreRange};

use crate::calls::CachedCall;
use crate::cluster::Members;
use crate::groups::GroupRetention;
use crate::keeping::{Agenda, Due, KeepTimes, Removal};
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Written, keys};
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
    pub(crate) members: Arc<Members>,
    pub(crate) groups: GroupRetention,
    pub(crate) taints: SessionTaints,
    /// How long ended calls are kept.
    pub(crate) times: KeepTimes,
    /// When which of them are looked at.
    pub(crate) agenda: Mutex<Agenda>,
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
        self.agenda.lock().begin(now.as_millis(), self.times.shortest());
        for _ in 0..PAGES {
            if !self.retire_page(now).await? {
                break;
            }
        }
        self.forget_keys(now).await?;
        self.taints.tidy(now).await?;
        self.removal.unfinished.finish().await?;
        self.removal.remove_originals(now).await?;
        self.groups.tidy(now).await
    }

    /// Removes what is due of one page of ended calls: of those whose time has come as far as is known here, else of those that are found
    /// next. False when there are no more.
    async fn retire_page(&self, now: Timestamp) -> Result<bool, RecordError> {
        let expected = self.agenda.lock().take(now.as_millis(), PAGE);
        if !expected.is_empty() {
            let read = self.read(&expected).await?;
            // One that is not there any more was removed by another scheduler, or deleted.
            self.look_at(read.into_iter().flatten().collect(), now).await?;
            return Ok(true);
        }
        let mut over = ScoreRange::up_to(score(now.plus_millis(-self.times.shortest())));
        if let Some(place) = self.agenda.lock().place() {
            over = over.after(place);
        }
        let page = self.removal.calls.storage().scan(keys::ENDED, over, PAGE).await?;
        let more = page.len() == PAGE;
        let new = self.agenda.lock().found(page);
        let members: Vec<String> = new.iter().map(|entry| entry.member.clone()).collect();
        let mut ended = Vec::with_capacity(new.len());
        for (entry, call) in new.iter().zip(self.read(&members).await?) {
            match call {
                Some(call) => ended.push(call),
                None => drop(self.removal.calls.set_aside(keys::ENDED, entry).await),
            }
        }
        self.look_at(ended, now).await?;
        Ok(more)
    }

    async fn read(&self, members: &[String]) -> Result<Vec<Option<CachedCall>>, RecordError> {
        let wanted: Vec<_> = members.iter().map(|member| RecordKey::new(Family::Invocation, member.as_str())).collect();
        let found = self.removal.calls.storage().readable(&wanted).await?;
        Ok(found.into_iter().map(|stored| CachedCall::read(&stored?).ok()).collect())
    }

    /// Removes what is due of ended calls, and remembers when to look at the others again.
    async fn look_at(&self, calls: Vec<CachedCall>, now: Timestamp) -> Result<(), RecordError> {
        let patience = i64::try_from(self.tick_ms).unwrap_or(i64::MAX / 64).saturating_mul(30);
        let (mut old, mut parts) = (Vec::new(), Vec::new());
        for call in calls {
            let member = call.record.key().to_string();
            let (classes, since) = match self.times.due(&call.record, now) {
                Due::Later(at) => {
                    self.agenda.lock().later(&member, at.as_millis());
                    continue;
                }
                Due::Records(classes, since) => (classes, since),
                Due::Call(since) => (Vec::new(), since),
            };
            // Schedulers that share a store each remove their part; what was not handled for a while is the share of every scheduler.
            let late = now.as_millis().saturating_sub(since.as_millis());
            let is_held = self.removal.holds.on(&call.record).await?.is_some();
            if is_held || !self.members.mine(&member, late, patience) {
                self.agenda.lock().later(&member, now.plus_millis(patience).as_millis());
            } else if classes.is_empty() {
                old.push(call);
            } else {
                parts.push((call, classes));
            }
        }
        if self.archive && !old.is_empty() {
            self.write_archive(&old, now).await?;
        }
        let shards = self.removal.calls.storage().shards();
        for of_shard in shards.sorted(old, |call| shards.of_call(&call.record.key())) {
            for group in of_shard.chunks(GROUP) {
                self.remove(group, now).await?;
            }
        }
        for (call, classes) in &parts {
            self.remove_records(call, classes, now).await?;
        }
        Ok(())
    }

    /// Removes calls with all that belongs to them, in one commit. Their keys are remembered until the window is over.
    async fn remove(&self, group: &[CachedCall], now: Timestamp) -> Result<(), RecordError> {
        let mut builder = Builder::default();
        for call in group {
            let outputs = match self.times.rule_outputs(&call.record) {
                true => self.removal.outputs(&call.record).await?,
                false => Vec::new(),
            };
            self.removal.take_out(&mut builder, call, outputs, now).await?;
        }
        // Lost when one of them changed, or a hold was set, just now: they are looked at again.
        if !matches!(self.removal.calls.storage().write(builder.done(true)).await?, Written::Applied) {
            let mut agenda = self.agenda.lock();
            group.iter().for_each(|call| agenda.later(&call.record.key().to_string(), now.as_millis() + 1));
        }
        Ok(())
    }

    /// Removes records of `classes` of a call that stays, in one commit.
    async fn remove_records(
        &self,
        call: &CachedCall,
        classes: &[RecordClass],
        now: Timestamp,
    ) -> Result<(), RecordError> {
        let (key, mut builder) = (call.record.key(), Builder::default());
        let mut again = now.plus_millis(1);
        if let Some(left) = self.removal.take_records(&mut builder, call, classes, now).await?
            && matches!(self.removal.calls.storage().write(builder.done(true)).await?, Written::Applied)
        {
            let entry = self.removal.calls.lock(&key).await;
            self.removal.calls.forget(&key, entry);
            again = match self.times.due(&left, now) {
                Due::Later(at) | Due::Call(at) | Due::Records(_, at) => at,
            };
        }
        self.agenda.lock().later(&key.to_string(), again.as_millis());
        Ok(())
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
                // Its last execution is told with the others.
                "invocation": Invocation { last_execution: None, ..Invocation::clone(record) },
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
        Ok(self.removal.objects().put_archive(now, &name, Bytes::from(lines)).await?)
    }
}
