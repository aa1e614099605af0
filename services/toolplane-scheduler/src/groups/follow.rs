//! Following a batch: events of its calls as they happen, results in the order in which they are released.

mod member;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use toolplane_lifecycle::Terminal;
use toolplane_records::batch::Batch;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey, TenantId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{ContextModifierPolicy, YieldPolicy};

use super::handle::Groups;
use crate::storage::RecordError;
use crate::trace::CallTrace;

use member::{MemberCursor, MemberNews};

/// Where a watcher goes on.
#[derive(Debug, Default)]
pub(crate) struct BatchStart {
    /// The first sequence to give out, by position; 1 where nothing is said.
    pub(crate) from: BTreeMap<u32, u64>,
    /// Results up to and with this one are known already.
    pub(crate) after_yield_seq: u64,
    /// Traces of the calls, in their order, when this watcher made them.
    pub(crate) traces: Vec<CallTrace>,
}

/// News of one call.
#[derive(Clone, Debug)]
pub(crate) struct BatchItem {
    /// Position of the call.
    pub(crate) index: u32,
    /// The call.
    pub(crate) invocation_id: InvocationId,
    /// New log entries, in order.
    pub(crate) events: Vec<LogEvent>,
    /// The result, released with this item.
    pub(crate) terminal: Option<Arc<Terminal>>,
    /// Which released result it is; 0 without one.
    pub(crate) yield_seq: u64,
}

/// What a watcher gets.
#[derive(Debug)]
pub(crate) enum BatchNews {
    /// Something happened.
    Items(Vec<BatchItem>),
    /// The batch has ended; nothing follows.
    End(Box<BatchEnd>),
}

/// How a batch ended.
#[derive(Debug)]
pub(crate) struct BatchEnd {
    /// Its record, while it is kept.
    pub(crate) batch: Option<Batch>,
    /// Context modifiers that had to wait, in the declared order; only calls that have any.
    pub(crate) modifiers: Vec<(u32, InvocationId, Vec<JsonPayload>)>,
}

/// A cursor over everything that happens in a batch.
pub(crate) struct BatchWatch {
    groups: Groups,
    tenant: TenantId,
    batch_id: BatchId,
    members: Vec<MemberCursor>,
    /// Events of a call wait until the calls before it are through.
    all_ordered: bool,
    defer_modifiers: bool,
    /// The last released result that was given out.
    released: u64,
    /// Results that came before an earlier one.
    early: BTreeMap<u64, BatchItem>,
    ready: VecDeque<BatchItem>,
    opened: bool,
    ended: bool,
}

impl Groups {
    /// Everything that happens in `batch` from `start` on, until its last result is released.
    pub(crate) fn watch_batch(&self, batch: &Batch, mut start: BatchStart) -> BatchWatch {
        let mut traces = std::mem::take(&mut start.traces).into_iter();
        let members = (0u32..).zip(&batch.members).map(|(index, member)| {
            let from = start.from.get(&index).copied().unwrap_or(1);
            let key = InvocationKey::new(&batch.tenant, &member.invocation_id);
            MemberCursor::new(self, index, key, from, traces.next())
        });
        BatchWatch {
            groups: self.clone(),
            tenant: batch.tenant.clone(),
            batch_id: batch.batch_id.clone(),
            members: members.collect(),
            all_ordered: batch.policy.yield_policy == Some(YieldPolicy::AllOrdered),
            defer_modifiers: batch.policy.context_modifier_policy
                == Some(ContextModifierPolicy::DeferUntilBatchComplete),
            released: start.after_yield_seq,
            early: BTreeMap::new(),
            ready: VecDeque::new(),
            opened: false,
            ended: false,
        }
    }
}

impl BatchWatch {
    /// Whether context modifiers are withheld from results until the end.
    pub(crate) fn defers_modifiers(&self) -> bool {
        self.defer_modifiers
    }

    /// The next news; `None` after the end. Waits as long as it takes. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Result<Option<BatchNews>, RecordError> {
        if !self.opened {
            futures_util::future::try_join_all(self.members.iter_mut().map(MemberCursor::open)).await?;
            self.opened = true;
        }
        loop {
            if !self.ready.is_empty() {
                return Ok(Some(BatchNews::Items(self.ready.drain(..).collect())));
            }
            if self.ended {
                return Ok(None);
            }
            if self.members.iter().all(MemberCursor::is_through) {
                // Whatever still waits for an earlier result, that result was withdrawn.
                self.ready.extend(std::mem::take(&mut self.early).into_values());
                if self.ready.is_empty() {
                    let end = self.end().await?;
                    self.ended = true;
                    return Ok(Some(BatchNews::End(Box::new(end))));
                }
                continue;
            }
            for news in self.wait().await? {
                self.take(news);
            }
        }
    }

    /// Waits for any call to have news, and takes along what others have at the same moment.
    async fn wait(&mut self) -> Result<Vec<MemberNews>, RecordError> {
        let open = self.members.iter_mut().filter(|member| !member.is_through());
        let heard = open.take(if self.all_ordered { 1 } else { usize::MAX });
        let mut waiting: FuturesUnordered<_> = heard.map(MemberCursor::next).collect();
        let mut news = Vec::new();
        if let Some(first) = waiting.next().await {
            news.push(first?);
        }
        while let Some(Some(more)) = waiting.next().now_or_never() {
            news.push(more?);
        }
        Ok(news)
    }

    fn take(&mut self, news: MemberNews) {
        let MemberNews { index, invocation_id, events, released } = news;
        let (terminal, yield_seq) = match released {
            Some((terminal, yield_seq)) => (Some(terminal), yield_seq),
            None => (None, 0),
        };
        // Known to the watcher from before.
        let known = yield_seq <= self.released;
        let item = BatchItem { index, invocation_id, events, terminal: terminal.filter(|_| !known), yield_seq };
        if known {
            if !item.events.is_empty() {
                self.ready.push_back(BatchItem { yield_seq: 0, ..item });
            }
            return;
        }
        self.early.insert(yield_seq, item);
        while let Some(next) = self.early.remove(&(self.released + 1)) {
            self.released += 1;
            self.ready.push_back(next);
        }
    }

    async fn end(&self) -> Result<BatchEnd, RecordError> {
        let batch = self.groups.batch(&self.tenant, &self.batch_id).await?;
        let mut modifiers = Vec::new();
        for (index, member) in (0u32..).zip(&self.members).filter(|_| self.defer_modifiers) {
            let terminal = self.groups.calls.records().result(member.id()).await?;
            let asked = terminal.map(|terminal| terminal.result.context_modifiers).unwrap_or_default();
            if !asked.is_empty() {
                modifiers.push((index, member.id().id.clone(), asked));
            }
        }
        Ok(BatchEnd { batch, modifiers })
    }
}
