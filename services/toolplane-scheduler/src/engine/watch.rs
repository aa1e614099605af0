//! Watching one invocation: its log from any sequence on, then live, until the result.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolplane_lifecycle::Terminal;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationId;

use super::hub::Update;
use super::{Engine, EngineError, keys};
use crate::trace::CallTrace;

/// How long a watcher waits for the hub before it looks into the store: doorbells are hints.
const POLL: Duration = Duration::from_secs(2);
/// Log entries read at once.
const PAGE: usize = 256;

impl Engine {
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

    /// Reads the next page of the log. Nothing is noted before the last read: a watch that is canceled in between reads again.
    async fn catch_up(&mut self) -> Result<(), EngineError> {
        let store = &self.engine.0.store;
        let page = store.events(&keys::stream(&self.id), self.next_seq, PAGE).await?;
        let events = page
            .events
            .iter()
            .map(|(_, bytes)| serde_json::from_slice::<LogEvent>(bytes))
            .collect::<Result<Vec<_>, _>>()?;
        let next_seq = self.next_seq + events.len() as u64;
        let reached_head = next_seq > page.head_seq;
        let mut terminal = if reached_head { self.engine.result(&self.id).await? } else { None };
        let ended = terminal.is_some();
        if ended {
            // Events and result are one commit, but were read by two calls: the rest of the log comes before the end.
            let rest = store.events(&keys::stream(&self.id), next_seq, PAGE).await?;
            terminal = terminal.filter(|_| rest.events.is_empty());
        }
        self.next_seq = next_seq;
        self.read_store = if ended { terminal.is_none() } else { !reached_head };
        if !events.is_empty() || terminal.is_some() {
            self.pending.push_back(WatchItem { events, terminal: terminal.map(Arc::new) });
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
