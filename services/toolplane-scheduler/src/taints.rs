//! What taints calls: what outputs had that a session was given, carried to whatever the session calls next.
//!
//! An output taints its session before anybody can read it: the note is durable before the commit that ends the call. A process that dies in
//! between leaves a note about an output that is reported again, and never an output without its note. A session's notes are one small
//! record, whatever it was given; they are kept for a while after the last one, and can be cleared ([`SessionTaints::clear`]).
//!
//! A call carries what its session has, and what the calls have that it names as its evidence. It carries it for good: what it was called with
//! was written by then, and nothing that comes later changes that.

mod labels;
mod stored;

use toolplane_matching::tools;
use toolplane_records::SmolStr;
use toolplane_records::ids::{InvocationId, InvocationKey, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::result::Cleaned;
use toolplane_records::taint::{self, Taint};
use toolplane_records::time::Timestamp;
use toolplane_results::payload::key::PayloadKey;
use toolplane_store::{Expect, IndexEntry, RecordKey, ScoreRange};

use crate::calls::CachedCall;
use crate::plan::DispatchPlan;
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Storage, Written, keys};
pub(crate) use stored::{Clearing, SessionNotes};

/// Entries handled at once.
const PASS: usize = 128;
/// Most of the calls a call names as evidence that are looked at: its list is no longer than that for other reasons.
const MAX_EVIDENCE: usize = 64;
/// A note that says nothing new is written again after so long, so that it is kept from its newest output on.
const RENEWED_AFTER_MS: i64 = 3_600_000;
const DAY_MS: i64 = 86_400_000;

/// What the operator says of taints.
#[derive(Clone, Debug)]
pub(crate) struct TaintOptions {
    /// Namespaces whose outputs taint whatever is in them.
    pub(crate) untrusted: Vec<String>,
    /// For how many days a session's notes are kept after the last of them.
    pub(crate) keep_days: u32,
    /// Whether anybody may clear them.
    pub(crate) may_be_cleared: bool,
}

impl Default for TaintOptions {
    fn default() -> Self {
        Self { untrusted: Vec::new(), keep_days: 30, may_be_cleared: true }
    }
}

/// The notes of sessions. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SessionTaints {
    storage: Storage,
    options: std::sync::Arc<TaintOptions>,
}

impl SessionTaints {
    /// Notes in `storage`.
    pub(crate) fn new(storage: Storage, options: TaintOptions) -> Self {
        Self { storage, options: std::sync::Arc::new(options) }
    }

    /// Whether notes may be cleared here.
    pub(crate) fn may_be_cleared(&self) -> bool {
        self.options.may_be_cleared
    }

    /// What the output of a call of `plan` is labelled with, in which `cleaned` was found.
    pub(crate) fn labels(&self, plan: Option<&DispatchPlan>, cleaned: &[Cleaned]) -> Vec<SmolStr> {
        let namespace = plan.map_or("", |plan| plan.matching.namespace.as_str());
        let untrusted = self.options.untrusted.iter().any(|untrusted| tools::within(namespace, untrusted));
        labels::of(cleaned, untrusted)
    }

    /// Notes that the session of `record` is given an output with these labels. Durable when it returns.
    pub(crate) async fn note(
        &self,
        record: &Invocation,
        labels: &[SmolStr],
        now: Timestamp,
    ) -> Result<(), RecordError> {
        let Some(session) = record.session_ref.as_deref().filter(|_| !labels.is_empty()) else { return Ok(()) };
        Box::pin(self.change(&record.tenant, session, |notes| {
            let mut new = now.since_millis(notes.tainted_at) > RENEWED_AFTER_MS;
            for label in labels {
                new |= taint::add(&mut notes.taints, label, &record.invocation_id, now);
            }
            if new {
                notes.tainted_at = now;
            }
            new
        }))
        .await
        .map(drop)
    }

    /// What a call carries that is made now in `session`, and rests on `evidence`.
    pub(crate) async fn carried(
        &self,
        tenant: &TenantId,
        session: Option<&str>,
        evidence: &[String],
    ) -> Result<Vec<Taint>, RecordError> {
        let notes = match session {
            Some(session) => self.read(&keys::session_taints(tenant, session)).await?,
            None => None,
        };
        let mut carried = notes.map(|(notes, _)| notes.taints).unwrap_or_default();
        let named = evidence.iter().take(MAX_EVIDENCE).filter_map(|name| called(name));
        let named: Vec<RecordKey> = named.map(|id| keys::invocation(&InvocationKey::new(tenant, &id))).collect();
        if !named.is_empty() {
            for stored in self.storage.get_many(&named).await?.into_iter().flatten() {
                let call = CachedCall::read(&stored)?.record;
                let at = call.ended_at.unwrap_or(call.created_at);
                for label in &call.output_taints {
                    taint::add(&mut carried, label, &call.invocation_id, at);
                }
            }
        }
        Ok(carried)
    }

    /// The notes of one session, when it has any.
    pub(crate) async fn of(&self, tenant: &TenantId, session: &str) -> Result<Option<SessionNotes>, RecordError> {
        Ok(self.read(&keys::session_taints(tenant, session)).await?.map(|(notes, _)| notes))
    }

    /// At most `limit` sessions of `tenant` with notes, the newest first, after the place `after`; with the place of each.
    pub(crate) async fn list(
        &self,
        tenant: &TenantId,
        after: Option<(u64, String)>,
        limit: usize,
    ) -> Result<Vec<(IndexEntry, SessionNotes)>, RecordError> {
        let mut range = ScoreRange::between(0, u64::MAX).reversed();
        if let Some((score, member)) = after {
            range = range.after(&IndexEntry { score, member });
        }
        let entries = self.storage.scan(&keys::tainted_sessions(tenant), range, limit).await?;
        let wanted: Vec<RecordKey> = entries.iter().map(|entry| keys::taints_of_member(&entry.member)).collect();
        let found = self.storage.readable(&wanted).await?.into_iter();
        let notes = found.map(|stored| stored.and_then(|stored| serde_json::from_slice(&stored.bytes).ok()));
        Ok(entries.into_iter().zip(notes).filter_map(|(entry, notes)| Some((entry, notes?))).collect())
    }

    /// Clears these labels of a session, or all where none is named; what is left. The record says who did it and why for as long as the
    /// session's notes are kept. Nothing where the session has no notes.
    pub(crate) async fn clear(
        &self,
        tenant: &TenantId,
        session: &str,
        labels: &[String],
        clearing: Clearing,
    ) -> Result<Option<SessionNotes>, RecordError> {
        if self.of(tenant, session).await?.is_none() {
            return Ok(None);
        }
        let left = self.change(tenant, session, |notes| notes.clear(labels, clearing.clone())).await?;
        Ok(Some(left))
    }

    /// Removes notes whose time is over; at most a page of them.
    pub(crate) async fn tidy(&self, now: Timestamp) -> Result<(), RecordError> {
        let old = ScoreRange::up_to(score(now.plus_millis(-self.keep_ms())));
        for entry in self.storage.scan(keys::TAINTED, old, PASS).await? {
            let key = keys::taints_of_member(&entry.member);
            let mut builder = Builder::default();
            builder.leave(keys::TAINTED, entry.member.clone());
            if let Some((notes, version)) = self.read(&key).await? {
                // Lost when a call of the session ends just now: it stays then.
                builder.compare(key.clone(), Expect::Version(version));
                builder.leave(keys::tainted_sessions(&notes.tenant), entry.member);
                builder.delete(key);
            }
            self.storage.write(builder.done(true)).await?;
        }
        Ok(())
    }

    /// Until when the notes of a session are kept.
    pub(crate) fn kept_until(&self, notes: &SessionNotes) -> Timestamp {
        notes.tainted_at.plus_millis(self.keep_ms())
    }

    fn keep_ms(&self) -> i64 {
        i64::from(self.options.keep_days).saturating_mul(DAY_MS)
    }

    async fn read(&self, key: &RecordKey) -> Result<Option<(SessionNotes, u64)>, RecordError> {
        let Some(stored) = self.storage.get(key).await? else { return Ok(None) };
        Ok(Some((serde_json::from_slice(&stored.bytes)?, stored.version)))
    }

    /// Has `edit` change the notes of a session until that is durable; it says whether there is anything to write.
    async fn change(
        &self,
        tenant: &TenantId,
        session: &str,
        edit: impl Fn(&mut SessionNotes) -> bool,
    ) -> Result<SessionNotes, RecordError> {
        let key = keys::session_taints(tenant, session);
        let member = keys::member_of_taints(tenant, session);
        loop {
            let found = self.read(&key).await?;
            let expect = found.as_ref().map_or(Expect::Absent, |(_, version)| Expect::Version(*version));
            let mut notes = found.map_or_else(|| SessionNotes::new(tenant, session), |(notes, _)| notes);
            if !edit(&mut notes) {
                return Ok(notes);
            }
            let mut builder = Builder::default();
            builder.compare(key.clone(), expect);
            builder.put_json(key.clone(), &notes)?;
            builder.enter(keys::TAINTED, member.clone(), score(notes.tainted_at));
            builder.enter(keys::tainted_sessions(tenant), member.clone(), score(notes.tainted_at));
            if let Written::Applied = self.storage.write(builder.done(true)).await? {
                return Ok(notes);
            }
        }
    }
}

/// The call that a piece of evidence names: by its id, or by that of its result or of one of its payloads.
fn called(evidence: &str) -> Option<InvocationId> {
    if let Ok(key) = evidence.parse::<PayloadKey>() {
        return key.invocation_id();
    }
    let name = evidence.strip_prefix("payload:").or_else(|| evidence.strip_prefix("res_")).unwrap_or(evidence);
    InvocationId::parse(name.split('/').next().unwrap_or(name)).ok()
}
