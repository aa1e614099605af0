//! Watching one invocation: its log from any sequence on, then live, until the result.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use toolplane_lifecycle::Terminal;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationKey;
use toolplane_records::stored;
use toolplane_records::vocabulary::EventClass;

use super::fanout::{Fanout, Subscription};
use crate::calls::{Records, Update};
use crate::storage::{RecordError, keys};
use crate::trace::CallTrace;

/// How long the watchers of a call wait for the fan-out before one of them looks into a store that others change too: doorbells
/// are hints.
const POLL: Duration = Duration::from_secs(2);
/// The same where no other process changes the store: what happens there, the fan-out says.
const RARE_POLL: Duration = Duration::from_secs(20);
/// Watchers of one call who are told everything at once. More of them are told a little later, each several things together,
/// so that what is said to a crowd costs about the same a second however large it is.
const CROWD: usize = 256;
/// What a crowd waits for each of its watchers.
const PAUSE: Duration = Duration::from_micros(250);
/// Log entries read at once.
const PAGE: usize = 256;

/// Follows invocations. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Watchers {
    records: Records,
    fanout: Arc<Fanout>,
}

impl Watchers {
    /// Watchers that read `records` and hear of changes through `fanout`.
    pub(crate) fn new(records: Records, fanout: Arc<Fanout>) -> Self {
        Self { records, fanout }
    }

    /// The log of `id` from `from_seq` on (1 is the beginning), then live, until the terminal result. Fails with
    /// [`RecordError::NotFound`], and when the store does.
    pub(crate) async fn watch(&self, id: &InvocationKey, from_seq: u64) -> Result<Watch, RecordError> {
        let watch = self.from(id, from_seq.max(1), true);
        // Subscribed first, so that nothing is missed; an unknown id leaves nothing behind.
        self.records.load(id).await?;
        Ok(watch)
    }

    /// A watch of a call that is about to be admitted: everything from its first event on.
    pub(crate) fn watch_new(&self, id: &InvocationKey) -> Watch {
        self.from(id, 1, false)
    }

    fn from(&self, id: &InvocationKey, next_seq: u64, read_store: bool) -> Watch {
        Watch {
            watchers: self.clone(),
            id: id.clone(),
            next_seq,
            head_seq: 0,
            live: Some(self.subscribe(id)),
            pending: VecDeque::new(),
            read_store,
            looks_for_all: false,
            for_end: false,
            done: false,
            trace: None,
        }
    }

    /// Whether a watcher here watches `id`.
    #[cfg(test)]
    pub(crate) fn is_watched(&self, id: &InvocationKey) -> bool {
        self.fanout.is_watched(id)
    }

    /// Every update of `id` that becomes durable from now on.
    pub(crate) fn subscribe(&self, id: &InvocationKey) -> Subscription {
        self.fanout.subscribe(id)
    }
}

/// Whether an entry says that the call waits for its caller, or does not wait any more.
fn says_who_waits(class: EventClass) -> bool {
    matches!(class, EventClass::ExtNeedsInput | EventClass::ExtInputProvided)
}

/// One step of a watch.
#[derive(Clone, Debug)]
pub(crate) struct WatchItem {
    /// New log entries in order, without gap or repetition.
    pub(crate) events: Vec<LogEvent>,
    /// The terminal result; the last item has it, and only that.
    pub(crate) terminal: Option<Arc<Terminal>>,
}

/// A cursor over one invocation's log.
#[derive(Debug)]
pub(crate) struct Watch {
    watchers: Watchers,
    id: InvocationKey,
    next_seq: u64,
    /// The last sequence of the log that is known of; a watch may begin beyond it.
    head_seq: u64,
    live: Option<Subscription>,
    pending: VecDeque<WatchItem>,
    read_store: bool,
    /// What the next read finds, the other watchers of the call do not know.
    looks_for_all: bool,
    /// Only the end is waited for: entries that say nothing of it are not kept.
    for_end: bool,
    done: bool,
    trace: Option<CallTrace>,
}

impl Watch {
    /// Ends `trace` with the call, or with this watch.
    pub(crate) fn traced(mut self, trace: CallTrace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// The sequence that is given out next.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The last sequence of the log, as far as this watch has seen it.
    pub(crate) fn head_seq(&self) -> u64 {
        self.head_seq
    }

    /// The next entries; `None` after the terminal result. Waits as long as it takes. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Result<Option<WatchItem>, RecordError> {
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
                Box::pin(self.catch_up()).await?;
                continue;
            }
            let Some(live) = &mut self.live else {
                self.live = Some(self.watchers.fanout.subscribe(&self.id));
                self.read_store = true;
                continue;
            };
            let every = if self.watchers.records.storage().is_shared() { POLL } else { RARE_POLL };
            match tokio::time::timeout(every, live.next()).await {
                Ok(Some(update)) => {
                    self.take(update);
                    self.let_others_through().await;
                }
                Ok(None) => {
                    self.live = None;
                    self.read_store = true;
                }
                Err(_) if self.watchers.fanout.may_look(&self.id, every) => {
                    self.read_store = true;
                    self.looks_for_all = true;
                }
                Err(_) => {}
            }
        }
    }

    /// How the call ended. `None` once it asks its caller something: it goes on only when that is answered. Waits as long as
    /// it takes; what is there already counts first. Safe to cancel. Fails as [`Watch::next`] does.
    pub(crate) async fn end(&mut self) -> Result<Option<Arc<Terminal>>, RecordError> {
        let mut asks = false;
        self.for_end = true;
        while let Some(item) = self.next().await? {
            if item.terminal.is_some() {
                return Ok(item.terminal);
            }
            for event in &item.events {
                match event.class {
                    EventClass::ExtNeedsInput => asks = true,
                    EventClass::ExtInputProvided => asks = false,
                    _ => {}
                }
            }
            if asks && !self.read_store && self.pending.is_empty() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// One of a crowd waits a little, and takes along what happens meanwhile. Safe to cancel.
    async fn let_others_through(&mut self) {
        let crowd = self.watchers.fanout.crowd(&self.id);
        if crowd <= CROWD {
            return;
        }
        tokio::time::sleep(PAUSE * u32::try_from(crowd).unwrap_or(u32::MAX)).await;
        while let Some(update) = self.live.as_mut().and_then(Subscription::ready) {
            self.take(update);
        }
    }

    /// Uses a live update if it continues the log here; otherwise the store has to be read.
    fn take(&mut self, update: Update) {
        self.head_seq = update.events.last().map_or(self.head_seq, |last| last.seq.max(self.head_seq));
        let known = update.events.partition_point(|event| event.seq < self.next_seq);
        let fresh = &update.events[known..];
        match fresh.first() {
            Some(first) if first.seq > self.next_seq => self.read_store = true,
            _ => {
                self.next_seq += fresh.len() as u64;
                let told = fresh.iter().filter(|event| !self.for_end || says_who_waits(event.class));
                let fresh: Vec<LogEvent> = told.cloned().collect();
                match self.pending.back_mut().filter(|last| last.terminal.is_none()) {
                    Some(last) => {
                        last.events.extend(fresh);
                        last.terminal = update.terminal;
                    }
                    None if fresh.is_empty() && update.terminal.is_none() => {}
                    None => self.pending.push_back(WatchItem { events: fresh, terminal: update.terminal }),
                }
            }
        }
    }

    /// Reads the next page of the log. Nothing is noted before the last read: a watch that is canceled in between reads again.
    async fn catch_up(&mut self) -> Result<(), RecordError> {
        let store = self.watchers.records.storage();
        let page = store.events(&keys::stream(&self.id), self.next_seq, PAGE).await?;
        let events =
            page.events.iter().map(|(_, bytes)| stored::read::<LogEvent>(bytes)).collect::<Result<Vec<_>, _>>()?;
        self.head_seq = self.head_seq.max(page.head_seq);
        let next_seq = self.next_seq + events.len() as u64;
        let reached_head = next_seq > page.head_seq;
        let mut terminal = if reached_head { self.watchers.records.result(&self.id).await? } else { None };
        let ended = terminal.is_some();
        if ended {
            // Events and result are one commit, but were read by two calls: the rest of the log comes before the end.
            let rest = store.events(&keys::stream(&self.id), next_seq, PAGE).await?;
            terminal = terminal.filter(|_| rest.events.is_empty());
        }
        if std::mem::take(&mut self.looks_for_all) && (!events.is_empty() || ended) {
            self.watchers.fanout.look(&self.id);
        }
        self.next_seq = next_seq;
        self.read_store = if ended { terminal.is_none() } else { !reached_head };
        if !events.is_empty() || terminal.is_some() {
            self.pending.push_back(WatchItem { events, terminal: terminal.map(Arc::new) });
        }
        Ok(())
    }
}
