//! Reading: one invocation, its result, its log from any sequence on, and lists.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use toolplane_lifecycle::Terminal;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::InvocationStatus;
use toolplane_store::{IndexEntry, ScoreRange};

use super::hub::Update;
use super::{Engine, EngineError, commit, keys};
use crate::trace::CallTrace;

/// How long a watcher waits for the hub before it looks into the store: doorbells are hints.
const POLL: Duration = Duration::from_secs(2);
/// Log entries read at once.
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
}

impl InvocationFilter {
    fn admits(&self, record: &Invocation) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&record.status))
            && self.tool_id.as_ref().is_none_or(|tool| *tool == record.tool_id)
            && self
                .surface_id
                .as_ref()
                .is_none_or(|wanted| record.surface_id.as_ref().is_some_and(|surface| surface.as_str() == wanted))
    }
}

/// One page of a list, newest first.
#[derive(Debug)]
pub struct Page {
    /// The records.
    pub records: Vec<Invocation>,
    /// Where the next page begins; absent at the end.
    pub next: Option<(u64, String)>,
}

impl Engine {
    /// The record of `id`.
    pub async fn get(&self, id: &InvocationId) -> Result<Arc<Invocation>, EngineError> {
        Ok(self.load(id).await?.record)
    }

    /// The terminal result of `id`, when there is one.
    pub async fn result(&self, id: &InvocationId) -> Result<Option<Terminal>, EngineError> {
        match self.0.store.get(&keys::result(id)).await? {
            Some(stored) => Ok(Some(serde_json::from_slice(&stored.bytes)?)),
            None => Ok(None),
        }
    }

    /// A decision by id.
    pub async fn decision(&self, decision_id: &str) -> Result<Option<PermissionDecision>, EngineError> {
        match self.0.store.get(&keys::decision(decision_id)).await? {
            Some(stored) => Ok(Some(serde_json::from_slice(&stored.bytes)?)),
            None => Ok(None),
        }
    }

    /// The whole log of `id`.
    pub async fn log(&self, id: &InvocationId) -> Result<Vec<LogEvent>, EngineError> {
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

    /// The bytes of the four inputs.
    pub async fn inputs(&self, record: &Invocation) -> Result<InputBodies, EngineError> {
        let refs = &record.inputs;
        let wanted = [Some(&refs.model), refs.observable.as_ref(), refs.permission.as_ref(), refs.call.as_ref()];
        let mut bodies = [None, None, None, None];
        for (body, payload) in bodies.iter_mut().zip(wanted) {
            if let Some(PayloadRef { digest, .. }) = payload {
                let stored = self.0.store.get(&keys::payload(&record.invocation_id, digest)).await?;
                *body = stored.map(|stored| JsonPayload::from_checked(stored.bytes));
            }
        }
        let [model, observable, permission, call] = bodies;
        Ok(InputBodies { model, observable, permission, call })
    }

    /// The bytes of one input of `record`.
    pub async fn input(&self, record: &Invocation, kept: &PayloadRef) -> Result<Option<Bytes>, EngineError> {
        let stored = self.0.store.get(&keys::payload(&record.invocation_id, &kept.digest)).await?;
        Ok(stored.map(|stored| stored.bytes))
    }

    /// Invocations that wait for a person.
    pub async fn awaiting_approval(&self) -> Result<Vec<InvocationId>, EngineError> {
        let mut ids = Vec::new();
        let mut range = ScoreRange::all();
        loop {
            let page = self.0.store.scan(keys::AWAITING, range, PAGE).await?;
            ids.extend(page.iter().filter_map(|entry| InvocationId::parse(&entry.member).ok()));
            match page.last() {
                Some(last) if page.len() == PAGE => range = ScoreRange::all().after(last),
                _ => return Ok(ids),
            }
        }
    }

    /// At most `limit` invocations of `tenant` that pass `filter`, newest first, after the place `after`.
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
        let mut records = Vec::new();
        loop {
            let mut range = ScoreRange::between(min, max).reversed();
            if let Some((score, member)) = &place {
                range = range.after(&IndexEntry { score: *score, member: member.clone() });
            }
            let page = self.0.store.scan(&keys::listing(tenant), range, PAGE).await?;
            for entry in &page {
                place = Some((entry.score, entry.member.clone()));
                let Ok(id) = InvocationId::parse(&entry.member) else { continue };
                match self.load(&id).await {
                    Ok(hot) if filter.admits(&hot.record) => records.push(Arc::unwrap_or_clone(hot.record)),
                    Ok(_) | Err(EngineError::NotFound) => {}
                    Err(error) => return Err(error),
                }
                if records.len() == limit {
                    return Ok(Page { records, next: place });
                }
            }
            if page.len() < PAGE {
                return Ok(Page { records, next: None });
            }
        }
    }

    /// The log of `id` from `from_seq` on (1 is the beginning), then live, until the terminal result.
    pub async fn watch(&self, id: &InvocationId, from_seq: u64) -> Result<Watch, EngineError> {
        let live = self.0.hub.subscribe(id);
        let watch = Watch {
            engine: self.clone(),
            id: id.clone(),
            next_seq: from_seq.max(1),
            live: Some(live),
            pending: VecDeque::new(),
            read_store: true,
            done: false,
            trace: None,
        };
        // Subscribed first, so that nothing is missed; an unknown id leaves nothing behind.
        if let Err(error) = self.load(id).await {
            drop(watch);
            self.0.hub.sweep(id);
            return Err(error);
        }
        Ok(watch)
    }

    /// A watch of a call that is about to be admitted: everything from its first event on.
    pub fn watch_new(&self, id: &InvocationId) -> Watch {
        Watch {
            engine: self.clone(),
            id: id.clone(),
            next_seq: 1,
            live: Some(self.0.hub.subscribe(id)),
            pending: VecDeque::new(),
            read_store: false,
            done: false,
            trace: None,
        }
    }
}

/// One step of a watch.
#[derive(Clone, Debug)]
pub struct WatchItem {
    /// New log entries in order, without gap or repetition.
    pub events: Vec<LogEvent>,
    /// The terminal result; the last item has it, and only that.
    pub terminal: Option<Arc<Terminal>>,
}

/// A cursor over one invocation's log.
#[derive(Debug)]
pub struct Watch {
    engine: Engine,
    id: InvocationId,
    next_seq: u64,
    live: Option<mpsc::Receiver<Update>>,
    pending: VecDeque<WatchItem>,
    read_store: bool,
    done: bool,
    trace: Option<CallTrace>,
}

impl Watch {
    /// Ends `trace` with the call, or with this watch.
    pub(crate) fn traced(mut self, trace: CallTrace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// The last sequence given out.
    pub fn head_seq(&self) -> u64 {
        self.next_seq - 1
    }

    /// The next entries; `None` after the terminal result. Waits as long as it takes. Safe to cancel.
    pub async fn next(&mut self) -> Result<Option<WatchItem>, EngineError> {
        loop {
            if let Some(item) = self.pending.pop_front() {
                if let Some(terminal) = &item.terminal {
                    self.done = true;
                    if let Some(trace) = self.trace.take() {
                        trace.end(&terminal.result);
                    }
                }
                return Ok(Some(item));
            }
            if self.done {
                return Ok(None);
            }
            if self.read_store {
                self.catch_up().await?;
                continue;
            }
            let Some(live) = &mut self.live else {
                self.live = Some(self.engine.0.hub.subscribe(&self.id));
                self.read_store = true;
                continue;
            };
            match tokio::time::timeout(POLL, live.recv()).await {
                Ok(Some(update)) => self.take(update),
                Ok(None) => {
                    self.live = None;
                    self.read_store = true;
                }
                Err(_) => self.read_store = true,
            }
        }
    }

    /// Uses a live update if it continues the log here; otherwise the store has to be read.
    fn take(&mut self, update: Update) {
        let fresh: Vec<LogEvent> = update.events.iter().filter(|event| event.seq >= self.next_seq).cloned().collect();
        match fresh.first() {
            Some(first) if first.seq > self.next_seq => self.read_store = true,
            _ => {
                self.next_seq += fresh.len() as u64;
                if !fresh.is_empty() || update.terminal.is_some() {
                    self.pending.push_back(WatchItem { events: fresh, terminal: update.terminal });
                }
            }
        }
    }

    async fn catch_up(&mut self) -> Result<(), EngineError> {
        let store = &self.engine.0.store;
        let page = store.events(&keys::stream(&self.id), self.next_seq, PAGE).await?;
        let events = page
            .events
            .iter()
            .map(|(_, bytes)| serde_json::from_slice::<LogEvent>(bytes))
            .collect::<Result<Vec<_>, _>>()?;
        self.next_seq += events.len() as u64;
        let reached_head = self.next_seq > page.head_seq;
        let terminal = if reached_head { self.engine.result(&self.id).await? } else { None };
        if let Some(terminal) = terminal {
            // Events and result are one commit, but were read by two calls: read the rest of the log before the end.
            let rest = store.events(&keys::stream(&self.id), self.next_seq, PAGE).await?;
            if rest.events.is_empty() {
                self.pending.push_back(WatchItem { events, terminal: Some(Arc::new(terminal)) });
                self.read_store = false;
                return Ok(());
            }
        } else {
            self.read_store = !reached_head;
        }
        if !events.is_empty() {
            self.pending.push_back(WatchItem { events, terminal: None });
        }
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.live = None;
        self.engine.0.hub.sweep(&self.id);
    }
}
