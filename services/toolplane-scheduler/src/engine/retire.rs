//! Retention: ended calls are removed with everything that belongs to them when their time is over.

use std::fmt::Write as _;

use bytes::Bytes;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationId;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::StartGuard;
use toolplane_store::{Expect, IndexEntry, ScoreRange};

use super::admit::Tombstone;
use super::commit::{Builder, score};
use super::hot::Hot;
use super::{Engine, EngineError, keys};

/// Ended calls removed in one tick.
const PAGE: usize = 256;

impl Engine {
    /// Removes a page of what is no longer kept.
    pub(crate) async fn retire_page(&self, now: Timestamp) -> Result<(), EngineError> {
        let over = ScoreRange::up_to(score(now.plus_millis(-self.0.options.retention_ms)));
        let page = self.0.store.scan(keys::ENDED, over, PAGE).await?;
        let patience = i64::try_from(self.0.options.tick_ms).unwrap_or(i64::MAX / 4).saturating_mul(30);
        let overdue = |entry: &IndexEntry| {
            let age = score(now).saturating_sub(entry.score);
            i64::try_from(age).unwrap_or(i64::MAX).saturating_sub(self.0.options.retention_ms)
        };
        let mine: Vec<IndexEntry> =
            page.into_iter().filter(|entry| self.0.members.mine(&entry.member, overdue(entry), patience)).collect();
        let mut old = Vec::with_capacity(mine.len());
        for entry in mine {
            match self.read_ended(&entry).await? {
                Some(hot) => old.push(hot),
                None => drop(self.set_aside(keys::ENDED, &entry).await),
            }
        }
        if self.0.options.archive && !old.is_empty() {
            self.archive(&old, now).await?;
        }
        for hot in old {
            self.remove(&hot, now).await?;
        }
        self.forget_keys(now).await?;
        self.tidy_groups(now, self.0.options.retention_ms).await
    }

    async fn read_ended(&self, entry: &IndexEntry) -> Result<Option<Hot>, EngineError> {
        let Ok(id) = InvocationId::parse(&entry.member) else { return Ok(None) };
        let stored = self.0.store.get(&keys::invocation(&id)).await?;
        let hot = stored.and_then(|stored| Hot::read(&stored).ok());
        Ok(hot.filter(|hot| hot.record.status.is_terminal()))
    }

    /// Removes one call in one commit. Its key is remembered until the window is over.
    async fn remove(&self, hot: &Hot, now: Timestamp) -> Result<(), EngineError> {
        let record = &hot.record;
        let id = &record.invocation_id;
        if record.dispatch.as_ref().is_some_and(|dispatch| dispatch.start_guard == StartGuard::Object) {
            self.0.objects.forget_start(id).await?;
        }
        let mut builder = Builder::default();
        builder.compare(keys::invocation(id), Expect::Version(hot.version));
        builder.delete(keys::invocation(id));
        builder.delete(keys::result(id));
        for decision in &record.permission_decision_refs {
            builder.delete(keys::decision(decision.as_str()));
        }
        let inputs = &record.inputs;
        let optional = [&inputs.observable, &inputs.permission, &inputs.call].into_iter().flatten();
        for payload in std::iter::once(&inputs.model).chain(optional) {
            builder.delete(keys::payload(id, &payload.digest));
        }
        builder.forget(keys::stream(id));
        builder.leave(keys::ENDED, id.as_str());
        builder.leave(keys::listing(&record.tenant), id.as_str());
        let ended_at = record.ended_at.unwrap_or(record.created_at);
        let remembered = ended_at.plus_millis(self.0.options.key_window_ms);
        if remembered > now {
            let tombstone =
                Tombstone { request_digest: record.request_digest, status: record.status, ended_at: record.ended_at };
            builder.put_json(keys::tombstone(id), &tombstone)?;
            builder.enter(keys::TOMBSTONES, id.as_str(), score(remembered));
        }
        self.write(builder.done(true)).await.map(drop)
    }

    /// Forgets keys whose window is over.
    async fn forget_keys(&self, now: Timestamp) -> Result<(), EngineError> {
        let over = self.0.store.scan(keys::TOMBSTONES, ScoreRange::up_to(score(now)), PAGE).await?;
        if over.is_empty() {
            return Ok(());
        }
        let mut builder = Builder::default();
        for entry in over {
            if let Ok(id) = InvocationId::parse(&entry.member) {
                builder.delete(keys::tombstone(&id));
            }
            builder.leave(keys::TOMBSTONES, entry.member);
        }
        self.write(builder.done(true)).await.map(drop)
    }

    /// Writes what is about to be removed as one object, a call a line. A crash before the removal writes it again under
    /// another name: archives may repeat a call, and never miss one.
    async fn archive(&self, old: &[Hot], now: Timestamp) -> Result<(), EngineError> {
        let mut lines = String::new();
        for hot in old {
            let record = &hot.record;
            let id = &record.invocation_id;
            let mut decisions = Vec::new();
            for decision in &record.permission_decision_refs {
                decisions.extend(self.decision(decision.as_str()).await?);
            }
            let log: Vec<LogEvent> = self.log(id).await?;
            let inputs = self.inputs(record).await?;
            let line = serde_json::json!({
                "invocation": &**record,
                "inputs": { "model": inputs.model, "call": inputs.call },
                "result": self.result(id).await?,
                "decisions": decisions,
                "events": log,
            });
            let _ = writeln!(lines, "{line}");
        }
        let name = format!("{}-{}", now.as_millis(), uuid::Uuid::new_v4().simple());
        Ok(self.0.objects.put_archive(now, &name, Bytes::from(lines)).await?)
    }
}
