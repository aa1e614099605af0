//! Reading what is stored of calls: one invocation, its result, its whole log, and lists.

use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use toolplane_lifecycle::{LeaseKey, Terminal, Timer};
use toolplane_records::SmolStr;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::evidence::ExecutionEvidence;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::{DecisionId, InvocationKey, TenantId, WorkerId};
use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::stored;
use toolplane_records::time::Timestamp;
use toolplane_records::trail::{self, Trail};
use toolplane_records::vocabulary::EventClass;
use toolplane_store::{RecordKey, ScoreRange, Versioned};

use super::cache::CachedCall;
use crate::originals::KeptOriginal;
use crate::storage::{RecordError, Storage, keys};

/// Rows read at once.
const PAGE: usize = 256;

/// What is stored of calls. Reads only; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Records {
    storage: Storage,
}

impl Records {
    /// What `storage` has of calls.
    pub(crate) fn new(storage: Storage) -> Self {
        Self { storage }
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The store's clock. Returns an error when the store does not answer.
    pub(crate) async fn now(&self) -> Result<Timestamp, RecordError> {
        self.storage.now().await
    }

    /// One invocation with the version of its record. Fails with [`RecordError::NotFound`], when the record is damaged, and
    /// when the store does not answer.
    pub(crate) async fn load(&self, id: &InvocationKey) -> Result<CachedCall, RecordError> {
        let stored = self.storage.get(&keys::invocation(id)).await?.ok_or(RecordError::NotFound)?;
        Ok(CachedCall::read(&stored)?)
    }

    /// The ending of `id` that waits for its hooks, as it was stored.
    pub(crate) async fn ending(&self, id: &InvocationKey) -> Result<Option<Bytes>, RecordError> {
        Ok(self.storage.get(&keys::ending(id)).await?.map(|stored| stored.bytes))
    }

    /// Every call whose ending waits for hooks.
    pub(crate) async fn waiting_for_hooks(&self) -> Result<Vec<InvocationKey>, RecordError> {
        self.members_of(&keys::timers(Timer::PostHooks)).await
    }

    /// The record of `id`.
    pub(crate) async fn get(&self, id: &InvocationKey) -> Result<Arc<Invocation>, RecordError> {
        Ok(self.load(id).await?.record)
    }

    /// The terminal result of `id`, when there is one.
    pub(crate) async fn result(&self, id: &InvocationKey) -> Result<Option<Terminal>, RecordError> {
        match self.storage.get(&keys::result(id)).await? {
            Some(stored) => Ok(Some(stored::read(&stored.bytes)?)),
            None => Ok(None),
        }
    }

    /// A decision of a tenant by id.
    pub(crate) async fn decision(
        &self,
        tenant: &TenantId,
        decision_id: &str,
    ) -> Result<Option<PermissionDecision>, RecordError> {
        match self.storage.get(&keys::decision(tenant, decision_id)).await? {
            Some(stored) => Ok(Some(stored::read(&stored.bytes)?)),
            None => Ok(None),
        }
    }

    /// Where the sealed original of a call's output is, when one is kept.
    pub(crate) async fn original(&self, id: &InvocationKey) -> Result<Option<KeptOriginal>, RecordError> {
        let stored = self.storage.get(&keys::original(id)).await?;
        Ok(stored.map(|stored| serde_json::from_slice(&stored.bytes)).transpose()?)
    }

    /// What hooks did about a call, oldest first.
    pub(crate) async fn hooks(&self, record: &Invocation) -> Result<Vec<ToolHook>, RecordError> {
        let wanted: Vec<_> = record.hook_refs.iter().map(|hook_ref| keys::hook(&record.tenant, hook_ref)).collect();
        let found = self.storage.get_many(&wanted).await?;
        Ok(found.into_iter().flatten().map(|stored| stored::read(&stored.bytes)).collect::<Result<_, _>>()?)
    }

    /// What is known of the executions of a call that ended with a report, oldest first.
    pub(crate) async fn executions(&self, record: &Invocation) -> Result<Vec<ExecutionEvidence>, RecordError> {
        let last = record.last_execution.as_deref();
        let is_apart = |named: &str| last.is_none_or(|last| last.evidence_id != named);
        let named =
            record.evidence_refs.iter().filter(|named| ExecutionEvidence::is_named_by(named) && is_apart(named));
        let named: Vec<_> = named.collect();
        let at = |key: fn(&TenantId, &str) -> RecordKey| -> Vec<_> {
            named.iter().map(|named| key(&record.tenant, named)).collect()
        };
        let mut found = self.storage.get_many(&at(keys::execution)).await?;
        if found.iter().any(Option::is_none) {
            let before = self.storage.get_many(&at(keys::execution_before)).await?;
            found = found.into_iter().zip(before).map(|(found, before)| found.or(before)).collect();
        }
        let apart = found.into_iter().flatten().map(|stored| Ok(stored::read(&stored.bytes)?));
        apart.chain(last.map(|last| Ok(last.clone()))).collect()
    }

    /// At most `limit` of the decisions of a call that are kept, from the first whose number is above `after`; each with its number.
    pub(crate) async fn decisions_after(
        &self,
        record: &Invocation,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Option<PermissionDecision>)>, RecordError> {
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
    ) -> Result<Vec<(u64, Option<ToolHook>)>, RecordError> {
        let key = |hook_ref: &SmolStr| keys::hook(&record.tenant, hook_ref);
        self.trail_after(trail::HOOKS, (&record.hook_refs, record.hooks_left_out), key, after, limit).await
    }

    async fn trail_after<R, T: DeserializeOwned>(
        &self,
        trail: Trail,
        (refs, left_out): (&[R], u64),
        key: impl Fn(&R) -> RecordKey,
        after: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Option<T>)>, RecordError> {
        let first = trail.after(after, refs.len(), left_out);
        let wanted: Vec<RecordKey> = refs[first..].iter().take(limit).map(key).collect();
        let found = self.storage.get_many(&wanted).await?;
        let read = |stored: Versioned| stored::read(&stored.bytes);
        let row = |(index, stored): (usize, Option<Versioned>)| {
            Ok((trail.number(index, left_out), stored.map(read).transpose()?))
        };
        (first..).zip(found).map(row).collect()
    }

    /// How the inputs of a call came about, oldest first.
    pub(crate) async fn mutations(&self, record: &Invocation) -> Result<Vec<InputMutation>, RecordError> {
        self.mutations_of(&record.key()).await
    }

    pub(crate) async fn mutations_of(&self, call: &InvocationKey) -> Result<Vec<InputMutation>, RecordError> {
        let log = self.log(call).await?;
        let mutated = log.iter().filter(|event| event.class == EventClass::ExtInputMutated);
        Ok(mutated.filter_map(|event| event.data.as_ref()).map(JsonPayload::parse).collect::<Result<_, _>>()?)
    }

    /// What decisions about a call are made from beside its record, when anything was kept.
    pub(crate) async fn facts(&self, id: &InvocationKey) -> Result<Option<JsonPayload>, RecordError> {
        let stored = self.storage.get(&keys::facts(id)).await?;
        Ok(stored.map(|stored| JsonPayload::from_checked(stored.bytes)))
    }

    /// The whole log of `id`.
    pub(crate) async fn log(&self, id: &InvocationKey) -> Result<Vec<LogEvent>, RecordError> {
        let mut log = Vec::new();
        loop {
            let from = log.len() as u64 + 1;
            let page = self.storage.events(&keys::stream(id), from, PAGE).await?;
            for (_, bytes) in &page.events {
                log.push(stored::read::<LogEvent>(bytes)?);
            }
            if log.len() as u64 >= page.head_seq || page.events.is_empty() {
                return Ok(log);
            }
        }
    }

    /// Whether the log knows that the worker which speaks for `lease` began an execution under a lease of that number.
    pub(crate) async fn was_started_by(&self, lease: &LeaseKey) -> Result<bool, RecordError> {
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
    pub(crate) async fn inputs(&self, record: &Invocation) -> Result<InputBodies, RecordError> {
        let refs = &record.inputs;
        let wanted = [Some(&refs.model), refs.observable.as_ref(), refs.permission.as_ref(), refs.call.as_ref()];
        let mut bodies = [None, None, None, None];
        for (body, payload) in bodies.iter_mut().zip(wanted) {
            if let Some(PayloadRef { digest, .. }) = payload {
                let stored = self.storage.get(&keys::payload(&record.key(), digest)).await?;
                *body = stored.map(|stored| JsonPayload::from_checked(stored.bytes));
            }
        }
        let [model, observable, permission, call] = bodies;
        Ok(InputBodies { model, observable, permission, call })
    }

    /// The bytes of one input of `record`.
    pub(crate) async fn input(&self, record: &Invocation, kept: &PayloadRef) -> Result<Option<Bytes>, RecordError> {
        let stored = self.storage.get(&keys::payload(&record.key(), &kept.digest)).await?;
        Ok(stored.map(|stored| stored.bytes))
    }

    /// Invocations that wait for a person.
    pub(crate) async fn awaiting_approval(&self) -> Result<Vec<InvocationKey>, RecordError> {
        self.members_of(keys::AWAITING).await
    }

    /// The calls an index names.
    async fn members_of(&self, index: &str) -> Result<Vec<InvocationKey>, RecordError> {
        let (mut ids, mut range) = (Vec::new(), ScoreRange::all());
        loop {
            let page = self.storage.scan(index, range, PAGE).await?;
            ids.extend(page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()));
            match page.last() {
                Some(last) if page.len() == PAGE => range = ScoreRange::all().after(last),
                _ => return Ok(ids),
            }
        }
    }
}
