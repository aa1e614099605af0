//! Following one call of a batch, beyond its end: until its result is released.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolplane_lifecycle::Terminal;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::{InvocationId, InvocationKey};
use toolplane_records::stored;
use toolplane_records::vocabulary::QueueState;

use crate::groups::handle::Groups;
use crate::storage::{RecordError, keys};
use crate::trace::CallTrace;
use crate::watch::{Subscription, Watch};

/// How long a release is waited for before the store is asked: doorbells are hints.
const POLL: Duration = Duration::from_secs(2);
/// Log entries read at once.
const PAGE: usize = 256;

/// News of one call.
#[derive(Debug)]
pub(super) struct MemberNews {
    pub(super) index: u32,
    pub(super) invocation_id: InvocationId,
    pub(super) events: Vec<LogEvent>,
    /// The result and which released one it is.
    pub(super) released: Option<(Arc<Terminal>, u64)>,
}

/// A cursor over one call.
pub(super) struct MemberCursor {
    groups: Groups,
    index: u32,
    id: InvocationKey,
    next_seq: u64,
    phase: Phase,
}

enum Phase {
    /// The call has not been looked at.
    New { trace: Option<CallTrace> },
    /// The call has not ended, as far as is known here.
    Running(Box<Watch>),
    /// It has ended; its result is not released, as far as is known here.
    Ended(EndedMember),
    /// Nothing more will come.
    Through,
}

struct EndedMember {
    terminal: Arc<Terminal>,
    live: Option<Subscription>,
    /// When the store is asked next.
    look_at: Instant,
}

impl MemberCursor {
    pub(super) fn new(groups: &Groups, index: u32, id: InvocationKey, from: u64, trace: Option<CallTrace>) -> Self {
        let phase = Phase::New { trace };
        Self { groups: groups.clone(), index, id, next_seq: from.max(1), phase }
    }

    pub(super) fn id(&self) -> &InvocationKey {
        &self.id
    }

    pub(super) fn is_through(&self) -> bool {
        matches!(self.phase, Phase::Through)
    }

    /// Begins to follow the call, unless that was done before.
    pub(super) async fn open(&mut self) -> Result<(), RecordError> {
        if !matches!(self.phase, Phase::New { .. }) {
            return Ok(());
        }
        let opened = self.groups.watchers.watch(&self.id, self.next_seq).await;
        let Phase::New { trace } = &mut self.phase else { return Ok(()) };
        let trace = trace.take();
        self.phase = match opened {
            Ok(watch) => Phase::Running(Box::new(match trace {
                Some(trace) => watch.traced(trace),
                None => watch,
            })),
            // Retention took the call: there is nothing left to tell.
            Err(RecordError::NotFound) => Phase::Through,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// The next news; after the last one, the member is through. Safe to cancel.
    pub(super) async fn next(&mut self) -> Result<MemberNews, RecordError> {
        loop {
            let news = match &mut self.phase {
                Phase::New { .. } => {
                    self.open().await?;
                    None
                }
                Phase::Running(_) => self.run().await?,
                Phase::Ended(_) => self.await_release().await?,
                Phase::Through => Some(self.news(Vec::new(), None)),
            };
            if let Some(news) = news {
                return Ok(news);
            }
        }
    }

    fn news(&self, events: Vec<LogEvent>, released: Option<(Arc<Terminal>, u64)>) -> MemberNews {
        MemberNews { index: self.index, invocation_id: self.id.id.clone(), events, released }
    }

    async fn run(&mut self) -> Result<Option<MemberNews>, RecordError> {
        let Phase::Running(watch) = &mut self.phase else { return Ok(None) };
        let Some(item) = watch.next().await? else {
            self.phase = Phase::Through;
            return Ok(None);
        };
        self.next_seq = watch.next_seq();
        if let Some(terminal) = item.terminal {
            self.phase = Phase::Ended(EndedMember { terminal, live: None, look_at: Instant::now() });
        }
        Ok((!item.events.is_empty()).then(|| self.news(item.events, None)))
    }

    async fn await_release(&mut self) -> Result<Option<MemberNews>, RecordError> {
        let Phase::Ended(ended) = &mut self.phase else { return Ok(None) };
        // Subscribed before the store is asked, so that nothing falls between the two.
        let live = ended.live.get_or_insert_with(|| self.groups.watchers.subscribe(&self.id));
        if Instant::now() < ended.look_at
            && let Ok(update) = tokio::time::timeout_at(ended.look_at, live.next()).await
        {
            if update.is_none() {
                ended.live = None;
            }
            ended.look_at = Instant::now();
            return Ok(None);
        }
        let record = match self.groups.calls.records().get(&self.id).await {
            Ok(record) => record,
            Err(RecordError::NotFound) => {
                self.phase = Phase::Through;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if record.yield_seq.is_none() && record.queue_state != Some(QueueState::Discarded) {
            ended.look_at = Instant::now() + POLL;
            return Ok(None);
        }
        let released = record.yield_seq.map(|yield_seq| (ended.terminal.clone(), yield_seq));
        let events = self.rest().await?;
        self.phase = Phase::Through;
        Ok(Some(self.news(events, released)))
    }

    /// What the log has beyond what was given out.
    async fn rest(&self) -> Result<Vec<LogEvent>, RecordError> {
        let page = self.groups.calls.storage().events(&keys::stream(&self.id), self.next_seq, PAGE).await?;
        let events: Result<_, _> = page.events.iter().map(|(_, bytes)| stored::read(bytes)).collect();
        Ok(events?)
    }
}
