//! The audit: records are the truth, and what indexes say of them is derived again, a page at a time.
//!
//! Every change of an index is part of the commit that changes its record, so the audit should never find anything. It
//! is there for stores that lost part of a commit, and for faults of ours: a call without its timer would never go on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::QueueState;
use toolplane_store::{Expect, IndexEntry, ScoreRange};

use crate::calls::{CachedCall, Calls, Expected, ExpectedScore, places_of};
use crate::cluster::Members;
use crate::dispatch::ReadyQueues;
use crate::storage::commit::Builder;
use crate::storage::{RecordError, Written, keys};

/// Living invocations looked at in one tick: at least this many.
const PAGE: usize = 256;
/// Ticks in which a full pass should be done.
const PASS_TICKS: u64 = 50;
/// Most of them in one tick, so that very many do not crowd out the work: then a pass takes longer.
const MOST: u64 = 1_000;
/// Entries of a counted index looked at in one tick.
const COUNTED: usize = 256;
/// Index entries read at once.
const SCAN: usize = 1_000;
/// A record must have been unchanged this long: what is being changed right now is not looked at.
const STILL_MS: i64 = 5_000;

/// How far the pass is.
#[derive(Clone, Debug, Default)]
struct Position {
    living: Option<(u64, String)>,
    counted: Option<(String, Option<(u64, String)>)>,
}

/// What was read of indexes for one page of calls.
struct Looked {
    /// Acceptance of the first and the last call of the page.
    created: (u64, u64),
    /// Members accepted meanwhile, by index.
    near: BTreeMap<String, BTreeSet<String>>,
    /// All members, by index.
    whole: BTreeMap<String, BTreeSet<String>>,
}

/// Compares indexes with records.
#[derive(Debug)]
pub(crate) struct Audit {
    calls: Calls,
    members: Arc<Members>,
    queues: Arc<ReadyQueues>,
    position: Mutex<Position>,
    repairs: AtomicU64,
    tick_ms: u64,
}

impl Audit {
    /// An audit that looks at a page every `tick_ms`.
    pub(crate) fn new(calls: Calls, members: Arc<Members>, queues: Arc<ReadyQueues>, tick_ms: u64) -> Self {
        Self { calls, members, queues, position: Mutex::default(), repairs: AtomicU64::new(0), tick_ms }
    }

    /// Index entries that had to be put right so far. Anything but 0 is a fault of ours.
    #[cfg(test)]
    pub(crate) fn repairs(&self) -> u64 {
        self.repairs.load(Ordering::Relaxed)
    }

    /// Looks at the next page every tick, in an endless loop. Apart from the timers, so that these never wait for it.
    pub(crate) async fn run(&self) {
        let mut tick = tokio::time::interval(Duration::from_millis(self.tick_ms.max(10)));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            let looked = async { self.look(self.calls.now().await?).await };
            if let Err(error) = looked.await {
                tracing::warn!(%error, "the store could not be audited; trying again");
            }
        }
    }

    /// Looks at the next page of living invocations, and of one counted index.
    async fn look(&self, now: Timestamp) -> Result<(), RecordError> {
        let position = self.position.lock().clone();
        let living = self.calls.storage().index_len(keys::LIVING).await?;
        let count = usize::try_from((living / PASS_TICKS).min(MOST)).unwrap_or(PAGE).max(PAGE);
        let mut range = ScoreRange::all();
        range.after = position.living;
        let page = self.calls.storage().scan(keys::LIVING, range, count).await?;
        // Schedulers that share a store each look at their own part.
        let mine: Vec<&IndexEntry> = page.iter().filter(|entry| self.members.mine(&entry.member, 0, 1)).collect();
        self.audit_living(&mine, now).await?;
        let next = page.last().filter(|_| page.len() == count);
        self.position.lock().living = next.map(|last| (last.score, last.member.clone()));
        let counted = self.audit_counted(position.counted, now).await?;
        self.position.lock().counted = counted;
        Ok(())
    }

    async fn audit_living(&self, page: &[&IndexEntry], now: Timestamp) -> Result<(), RecordError> {
        let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(()) };
        let created = (first.score, last.score);
        let mut looked = Looked { created, near: BTreeMap::new(), whole: BTreeMap::new() };
        let ids: Vec<_> = page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()).collect();
        let wanted: Vec<_> = ids.iter().map(keys::invocation).collect();
        for (entry, stored) in page.iter().zip(self.calls.storage().readable(&wanted).await?) {
            let Some(call) = stored.and_then(|stored| CachedCall::read(&stored).ok()) else {
                self.calls.set_aside(keys::LIVING, entry).await;
                continue;
            };
            if now.since_millis(moved_at(&call.record)) < STILL_MS {
                continue;
            }
            if call.record.status.is_terminal() {
                self.repair(&call, |builder, id| builder.leave(keys::LIVING, id)).await?;
                continue;
            }
            let queue = self.calls.queue_of(&call.record).await?;
            for expected in places_of(&call.record, queue.as_ref(), now) {
                if !self.has(&mut looked, &expected, &call.record).await? {
                    let score = expected.score(&call.record);
                    let index = expected.index;
                    if self.repair(&call, |builder, id| builder.enter(index.as_str(), id, score)).await? {
                        tracing::error!(invocation_id = %call.record.invocation_id, index, "an index entry was missing");
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the entry is there. Most are read once for a whole page.
    async fn has(&self, looked: &mut Looked, expected: &Expected, record: &Invocation) -> Result<bool, RecordError> {
        let (id, index) = (&*record.key().to_string(), &expected.index);
        let known = match expected.at {
            ExpectedScore::Exactly(score) => {
                let entry = IndexEntry { score, member: id.to_owned() };
                return Ok(self.calls.storage().has_entry(index, &entry).await?);
            }
            ExpectedScore::Created => {
                if !looked.near.contains_key(index) {
                    let range = ScoreRange::between(looked.created.0, looked.created.1);
                    looked.near.insert(index.clone(), self.members_of(index, range).await?);
                }
                looked.near.get(index)
            }
            ExpectedScore::Any(_) => {
                if !looked.whole.contains_key(index) {
                    looked.whole.insert(index.clone(), self.members_of(index, ScoreRange::all()).await?);
                }
                looked.whole.get(index)
            }
        };
        Ok(known.is_some_and(|known| known.contains(id)))
    }

    async fn members_of(&self, index: &str, mut range: ScoreRange) -> Result<BTreeSet<String>, RecordError> {
        let mut members = BTreeSet::new();
        loop {
            let page = self.calls.storage().scan(index, range.clone(), SCAN).await?;
            members.extend(page.iter().map(|entry| entry.member.clone()));
            match page.last() {
                Some(last) if page.len() == SCAN => range = range.after(last),
                _ => return Ok(members),
            }
        }
    }

    /// Looks at counted indexes one after the other: a place that is not needed any more would lower a bound for good.
    async fn audit_counted(
        &self,
        place: Option<(String, Option<(u64, String)>)>,
        now: Timestamp,
    ) -> Result<Option<(String, Option<(u64, String)>)>, RecordError> {
        let (index, after) = match place {
            Some((index, Some(after))) => (Some(index), Some(after)),
            Some((last, None)) => (self.next_counted(&last).await?, None),
            None => (self.next_counted("").await?, None),
        };
        let Some(index) = index else { return Ok(None) };
        let mut range = ScoreRange::all();
        range.after = after;
        let page = self.calls.storage().scan(&index, range, COUNTED).await?;
        let ids: Vec<_> = page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()).collect();
        let wanted: Vec<_> = ids.iter().map(keys::invocation).collect();
        for (entry, stored) in page.iter().zip(self.calls.storage().readable(&wanted).await?) {
            let Some(call) = stored.and_then(|stored| CachedCall::read(&stored).ok()) else {
                self.calls.set_aside(&index, entry).await;
                continue;
            };
            let still = now.since_millis(moved_at(&call.record)) >= STILL_MS;
            // The entry is looked for again, because the call may have been claimed between the two reads.
            if still
                && !counts(&call.record, &index)
                && self.calls.storage().has_entry(&index, entry).await?
                && self.repair(&call, |builder, id| builder.leave(index.clone(), id)).await?
            {
                tracing::error!(invocation_id = %call.record.invocation_id, index, "an ended or moved call still counted against a limit; its permit is released");
                self.queues.given_back(&index);
            }
        }
        let next = page.last().filter(|_| page.len() == COUNTED);
        Ok(Some((index, next.map(|last| (last.score, last.member.clone())))))
    }

    async fn next_counted(&self, after: &str) -> Result<Option<String>, RecordError> {
        let mut names = self.calls.storage().indexes(keys::RUNNING).await?;
        names.extend(self.calls.storage().indexes(keys::WAITING).await?);
        Ok(names.into_iter().find(|name| name.as_str() > after))
    }

    /// Changes index entries of a record; false when it has changed meanwhile, so that what was seen may be what it was before.
    async fn repair(&self, call: &CachedCall, change: impl FnOnce(&mut Builder, &str)) -> Result<bool, RecordError> {
        let mut builder = Builder::default();
        builder.compare(keys::invocation(&call.record.key()), Expect::Version(call.version));
        change(&mut builder, &call.record.key().to_string());
        let applied = matches!(self.calls.storage().write(builder.done(true)).await?, Written::Applied);
        if applied {
            self.repairs.fetch_add(1, Ordering::Relaxed);
            self.queues.ring();
        }
        Ok(applied)
    }
}

/// Whether `record` has its place in the counted index `index` by right.
fn counts(record: &Invocation, index: &str) -> bool {
    if index == keys::waiting(&record.tenant) {
        return record.queue_state == Some(QueueState::Queued)
            && !record.status.is_terminal()
            && record.lease.is_none();
    }
    record.lease.as_ref().is_some_and(|lease| lease.permits.iter().any(|permit| permit == index))
}

/// The last recorded change of status.
fn moved_at(record: &Invocation) -> Timestamp {
    record.status_transitions.last().map_or(record.created_at, |step| step.at)
}
