//! Reading: one invocation, its result, its whole log, and lists.

use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use toolplane_lifecycle::{LeaseKey, Terminal};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::{BatchId, DecisionId, InvocationKey, TenantId, ToolId, WorkerId};
use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::time::Timestamp;
use toolplane_records::trail::{self, Trail};
use toolplane_records::vocabulary::{EventClass, InvocationStatus, QueueState};
use toolplane_runtime::page;
use toolplane_store::{Family, IndexEntry, RecordKey, ScoreRange, Versioned};

use super::hot::Hot;
use super::{Engine, EngineError, commit, keys};

/// Rows read at once.
const PAGE: usize = 256;

/// Which invocations to list.
#[derive(Clone, Debug, Default)]
pub struct InvocationFilter {
    /// Only these statuses; all when empty.
    pub statuses: Vec<InvocationStatus>,
    /// Only this tool.
    pub tool_id: Option<ToolId>,
    /// Only calls of this surface.
    pub surface_id: Option<String>,
    /// Only calls accepted at or after this instant.
    pub created_after: Option<Timestamp>,
    /// Only calls accepted before this instant.
    pub created_before: Option<Timestamp>,
    /// Only calls of this batch.
    pub batch_id: Option<BatchId>,
    /// Only calls of this session.
    pub session_ref: Option<String>,
    /// Only this place in the queue.
    pub queue_state: Option<QueueState>,
    /// Only the call accepted under this key.
    pub idempotency_key: Option<String>,
}

impl InvocationFilter {
    pub(crate) fn admits(&self, record: &Invocation) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&record.status))
            && self.tool_id.as_ref().is_none_or(|tool| *tool == record.tool_id)
            && self
                .surface_id
                .as_ref()
                .is_none_or(|wanted| record.surface_id.as_ref().is_some_and(|surface| surface.as_str() == wanted))
            && self
                .batch_id
                .as_ref()
                .is_none_or(|wanted| record.batch.as_ref().is_some_and(|place| place.batch_id == *wanted))
            && self.session_ref.as_ref().is_none_or(|wanted| record.session_ref.as_ref() == Some(wanted))
            && self.queue_state.is_none_or(|wanted| record.queue_state == Some(wanted))
            && self.idempotency_key.as_ref().is_none_or(|wanted| record.idempotency_key.as_ref() == Some(wanted))
    }
}

/// One page of a list, newest first.
#[derive(Debug)]
pub struct Page {
    /// The records.
    pub records: Vec<Invocation>,
    /// Calls of this page whose records are damaged, by id: whether they pass the filter is not known.
    pub damaged: Vec<String>,
    /// Where the next page begins; absent at the end.
    pub next: Option<(u64, String)>,
}

impl Engine {
    /// The records under `keys`. One that is damaged counts as not there: for what goes through many and must not stop at
    /// one. The store has named it in its log.
    pub(crate) async fn readable(&self, keys: &[RecordKey]) -> Result<Vec<Option<Versioned>>, EngineError> {
        Ok(self.0.store.get_each(keys).await?.into_iter().map(|found| found.ok().flatten()).collect())
    }

    /// The record of `id`.
    pub async fn get(&self, id: &InvocationKey) -> Result<Arc<Invocation>, EngineError> {
        Ok(self.load(id).await?.record)
    }

    /// The terminal result of `id`, when there is one.
    pub async fn result(&self, id: &InvocationKey) -> Result<Option<Terminal>, EngineError> {
        match self.0.store.get(&keys::result(id)).await? {
            Some(stored) => Ok(Some(serde_json::from_slice(&stored.bytes)?)),
            None => Ok(None),
        }
    }

    /// A decision of a tenant by id.
    pub async fn decision(
        &self,
        tenant: &TenantId,
        decision_id: &str,
    ) -> Result<Option<PermissionDecision>, EngineError> {
        match self.0.store.get(&keys::decision(tenant, decision_id)).await? {
            Some(stored) => Ok(Some(serde_json::from_slice(&stored.bytes)?)),
            None => Ok(None),
        }
    }

    /// What hooks did about a call, oldest first.
    pub async fn hooks(&self, record: &Invocation) -> Result<Vec<ToolHook>, EngineError> {
        let wanted: Vec<_> = record.hook_refs.iter().map(|hook_ref| keys::hook(&record.tenant, hook_ref)).collect();
        let found = self.0.store.get_many(&wanted).await?;
        Ok(found.into_iter().flatten().map(|stored| serde_json::from_slice(&stored.bytes)).collect::<Result<_, _>>()?)
    }

    /// At most `limit` of the decisions of a call that are kept, from the first whose number is above `after`; each with its number.
    pub(crate) async fn decisions_after(
        &self,
        record: &Invocation,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Option<PermissionDecision>)>, EngineError> {
        let (refs, left_out) = (&record.permission_decision_refs, record.decisions_left_out);
        let key = |id: &DecisionId| keys::decision(&record.tenant, id.as_str());
        self.trail_after(trail::DECISIONS, (refs, left_out), key, after, limit).await
    }

    /// The same of what hooks did about a call.
    pub(crate) async fn hooks_after(
        &self,
        record: &Invocation,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Option<ToolHook>)>, EngineError> {
        let key = |hook_ref: &String| keys::hook(&record.tenant, hook_ref);
        self.trail_after(trail::HOOKS, (&record.hook_refs, record.hooks_left_out), key, after, limit).await
    }

    async fn trail_after<R, T: DeserializeOwned>(
        &self,
        trail: Trail,
        (refs, left_out): (&[R], u64),
        key: impl Fn(&R) -> RecordKey,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Option<T>)>, EngineError> {
        let first = trail.after(after, refs.len(), left_out);
        let wanted: Vec<RecordKey> = refs[first..].iter().take(limit).map(key).collect();
        let found = self.0.store.get_many(&wanted).await?;
        let read = |stored: Versioned| serde_json::from_slice(&stored.bytes);
        let row = |(index, stored): (usize, Option<Versioned>)| {
            Ok((trail.number(index, left_out), stored.map(read).transpose()?))
        };
        (first..).zip(found).map(row).collect()
    }

    /// How the inputs of a call came about, oldest first.
    pub async fn mutations(&self, record: &Invocation) -> Result<Vec<InputMutation>, EngineError> {
        self.mutations_of(&record.key()).await
    }

    pub(crate) async fn mutations_of(&self, call: &InvocationKey) -> Result<Vec<InputMutation>, EngineError> {
        let log = self.log(call).await?;
        let mutated = log.iter().filter(|event| event.class == EventClass::ExtInputMutated);
        Ok(mutated.filter_map(|event| event.data.as_ref()).map(JsonPayload::parse).collect::<Result<_, _>>()?)
    }

    /// What decisions about a call are made from beside its record, when anything was kept.
    pub(crate) async fn facts(&self, id: &InvocationKey) -> Result<Option<JsonPayload>, EngineError> {
        let stored = self.0.store.get(&keys::facts(id)).await?;
        Ok(stored.map(|stored| JsonPayload::from_checked(stored.bytes)))
    }

    /// The whole log of `id`.
    pub async fn log(&self, id: &InvocationKey) -> Result<Vec<LogEvent>, EngineError> {
        let mut log = Vec::new();
        loop {
            let from = log.len() as u64 + 1;
            let page = self.0.store.events(&keys::stream(id), from, PAGE).await?;
            for (_, bytes) in &page.events {
                log.push(serde_json::from_slice::<LogEvent>(bytes)?);
            }
            if log.len() as u64 >= page.head_seq || page.events.is_empty() {
                return Ok(log);
            }
        }
    }

    /// Whether the log knows that the worker which speaks for `lease` began an execution under a lease of that number.
    pub(crate) async fn was_started_by(&self, lease: &LeaseKey) -> Result<bool, EngineError> {
        #[derive(serde::Deserialize)]
        struct Began {
            lease_no: u32,
            worker_id: WorkerId,
        }
        let log = self.log(&lease.call()).await?;
        let starts = log.iter().filter(|event| event.class == EventClass::Started);
        let mut began = starts.filter_map(|event| event.data.as_ref()?.parse::<Began>().ok());
        Ok(began.any(|began| began.lease_no == lease.lease_no && began.worker_id == lease.holder.worker_id))
    }

    /// The bytes of the four inputs.
    pub async fn inputs(&self, record: &Invocation) -> Result<InputBodies, EngineError> {
        let refs = &record.inputs;
        let wanted = [Some(&refs.model), refs.observable.as_ref(), refs.permission.as_ref(), refs.call.as_ref()];
        let mut bodies = [None, None, None, None];
        for (body, payload) in bodies.iter_mut().zip(wanted) {
            if let Some(PayloadRef { digest, .. }) = payload {
                let stored = self.0.store.get(&keys::payload(&record.key(), digest)).await?;
                *body = stored.map(|stored| JsonPayload::from_checked(stored.bytes));
            }
        }
        let [model, observable, permission, call] = bodies;
        Ok(InputBodies { model, observable, permission, call })
    }

    /// The bytes of one input of `record`.
    pub async fn input(&self, record: &Invocation, kept: &PayloadRef) -> Result<Option<Bytes>, EngineError> {
        let stored = self.0.store.get(&keys::payload(&record.key(), &kept.digest)).await?;
        Ok(stored.map(|stored| stored.bytes))
    }

    /// Invocations that wait for a person.
    pub async fn awaiting_approval(&self) -> Result<Vec<InvocationKey>, EngineError> {
        let mut ids = Vec::new();
        let mut range = ScoreRange::all();
        loop {
            let page = self.0.store.scan(keys::AWAITING, range, PAGE).await?;
            ids.extend(page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()));
            match page.last() {
                Some(last) if page.len() == PAGE => range = ScoreRange::all().after(last),
                _ => return Ok(ids),
            }
        }
    }

    /// At most `limit` invocations of `tenant`, and fewer when they are large, that pass `filter`, newest first, after the place `after`.
    pub async fn list(
        &self,
        tenant: &TenantId,
        filter: &InvocationFilter,
        after: Option<(u64, String)>,
        limit: usize,
    ) -> Result<Page, EngineError> {
        let min = filter.created_after.map_or(0, commit::score);
        let max = filter.created_before.map_or(u64::MAX, |before| commit::score(before).saturating_sub(1));
        let mut place = after;
        let (mut records, mut damaged, mut bytes) = (Vec::new(), Vec::new(), 0);
        loop {
            let mut range = ScoreRange::between(min, max).reversed();
            if let Some((score, member)) = &place {
                range = range.after(&IndexEntry { score: *score, member: member.clone() });
            }
            let entries = self.0.store.scan(&keys::listing(tenant), range, PAGE).await?;
            let ids: Vec<_> = entries.iter().map(|entry| RecordKey::new(Family::Invocation, &*entry.member)).collect();
            let found = self.0.store.get_each(&ids).await?;
            for (entry, found) in entries.iter().zip(found) {
                place = Some((entry.score, entry.member.clone()));
                let (size, record) = match found {
                    Ok(Some(stored)) => (stored.bytes.len(), Hot::read(&stored).ok().map(|hot| hot.record)),
                    // A call may be removed between the two reads.
                    Ok(None) => continue,
                    Err(_) => (0, None),
                };
                match record {
                    Some(record) if filter.admits(&record) => {
                        bytes += size;
                        records.push(Arc::unwrap_or_clone(record));
                    }
                    Some(_) => {}
                    None => damaged.push(tenant.unscoped(&entry.member).to_owned()),
                }
                if records.len() + damaged.len() >= limit || bytes >= page::FULL_BYTES {
                    return Ok(Page { records, damaged, next: place });
                }
            }
            if entries.len() < PAGE {
                return Ok(Page { records, damaged, next: None });
            }
        }
    }
}
