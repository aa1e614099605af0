//! The audit: records are the truth, and what indexes say of them is derived again, a page at a time.
//!
//! Every change of an index is part of the commit that changes its record, so the audit should never find anything. It is
//! there for stores that lost part of a commit, and for faults of ours: a call without its timer would wait for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use toolplane_lifecycle::{CANCEL_BACKSTOP_MS, TIMEOUT_BACKSTOP_MS, Timer};
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{InvocationStatus as Status, QueueState};
use toolplane_store::{Expect, IndexEntry, ScoreRange};

use super::commit::{Builder, score};
use super::heal::is_ready;
use super::hot::Hot;
use super::write::Written;
use super::{Engine, EngineError, keys};

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
/// A record must have stood still this long: what is being changed right now is not looked at.
const STILL_MS: i64 = 5_000;
/// For how long a question may wait at most: what a lost approval timer is set to.
const APPROVAL_MS: i64 = 31 * 86_400_000;

/// How far the pass is.
#[derive(Debug, Default)]
pub(crate) struct Progress(Mutex<Position>);

#[derive(Clone, Debug, Default)]
struct Position {
    living: Option<(u64, String)>,
    counted: Option<(String, Option<(u64, String)>)>,
}

/// An entry that should be there.
struct Expected {
    index: String,
    place: Place,
}

/// Where in its index an entry should be.
#[derive(Clone, Copy)]
enum Place {
    /// At the call's acceptance.
    Created,
    /// At this score.
    At(u64),
    /// Anywhere; this is where it is put when it is missing.
    Anywhere(u64),
}

impl Place {
    /// The score an entry of `record` is put at.
    fn score(self, record: &Invocation) -> u64 {
        match self {
            Self::Created => score(record.created_at),
            Self::At(score) | Self::Anywhere(score) => score,
        }
    }
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

impl Engine {
    /// Looks at the next page of living invocations, and of one counted index.
    pub(crate) async fn audit_page(&self, now: Timestamp) -> Result<(), EngineError> {
        let position = self.0.audit.0.lock().clone();
        let living = self.0.store.index_len(keys::LIVING).await?;
        let count = usize::try_from((living / PASS_TICKS).min(MOST)).unwrap_or(PAGE).max(PAGE);
        let mut range = ScoreRange::all();
        range.after = position.living;
        let page = self.0.store.scan(keys::LIVING, range, count).await?;
        // Schedulers that share a store each look at their own part.
        let mine: Vec<&IndexEntry> = page.iter().filter(|entry| self.0.members.mine(&entry.member, 0, 1)).collect();
        self.audit_living(&mine, now).await?;
        let next = page.last().filter(|_| page.len() == count);
        self.0.audit.0.lock().living = next.map(|last| (last.score, last.member.clone()));
        let counted = self.audit_counted(position.counted, now).await?;
        self.0.audit.0.lock().counted = counted;
        Ok(())
    }

    async fn audit_living(&self, page: &[&IndexEntry], now: Timestamp) -> Result<(), EngineError> {
        let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(()) };
        let created = (first.score, last.score);
        let mut looked = Looked { created, near: BTreeMap::new(), whole: BTreeMap::new() };
        let ids: Vec<_> = page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()).collect();
        let wanted: Vec<_> = ids.iter().map(keys::invocation).collect();
        for (entry, stored) in page.iter().zip(self.readable(&wanted).await?) {
            let Some(hot) = stored.and_then(|stored| Hot::read(&stored).ok()) else {
                self.set_aside(keys::LIVING, entry).await;
                continue;
            };
            if now.since_millis(moved_at(&hot.record)) < STILL_MS {
                continue;
            }
            if hot.record.status.is_terminal() {
                self.repair(&hot, |builder, id| builder.leave(keys::LIVING, id)).await?;
                continue;
            }
            for expected in self.expected(&hot.record, now).await? {
                if !self.has(&mut looked, &expected, &hot.record).await? {
                    let index = expected.index;
                    let score = expected.place.score(&hot.record);
                    if self.repair(&hot, |builder, id| builder.enter(index.as_str(), id, score)).await? {
                        tracing::error!(invocation_id = %hot.record.invocation_id, index, "an index entry was missing");
                    }
                }
            }
        }
        Ok(())
    }

    /// Where a living invocation has to be found, beside the lists of all.
    pub(crate) async fn places_of(
        &self,
        record: &Invocation,
        now: Timestamp,
    ) -> Result<Vec<(String, u64)>, EngineError> {
        let expected = self.expected(record, now).await?;
        Ok(expected.into_iter().map(|one| (one.index, one.place.score(record))).collect())
    }

    /// Where a living invocation has to be found.
    async fn expected(&self, record: &Invocation, now: Timestamp) -> Result<Vec<Expected>, EngineError> {
        let own = |index: String| Expected { index, place: Place::Created };
        let timer = |kind: Timer, due: Timestamp| Expected { index: keys::timers(kind), place: Place::At(score(due)) };
        let any = |kind: Timer, due: u64| Expected { index: keys::timers(kind), place: Place::Anywhere(due) };
        let mut expected = Vec::new();
        if is_ready(record)
            && let Some(queue) = self.queue_of(record).await?
        {
            expected.push(own(queue.to_string()));
        }
        if record.status == Status::Queued && record.queue_state == Some(QueueState::Queued) && record.lease.is_none() {
            expected.push(own(keys::waiting(&record.tenant)));
        }
        if record.status == Status::Queued && record.queue_state.is_none() && record.lease.is_none() {
            expected.push(any(Timer::Retry, score(now)));
        }
        if record.status == Status::AwaitingApproval {
            expected.push(own(keys::AWAITING.to_owned()));
            expected.push(any(Timer::Approval, score(record.created_at.plus_millis(APPROVAL_MS))));
        }
        if let Some(lease) = &record.lease {
            expected.push(timer(Timer::Lease, lease.expires_at));
            for permit in &lease.permits {
                expected.push(own(permit.clone()));
            }
        }
        if let Some(deadline) = record.deadline_at.filter(|_| record.dispatch.is_some()) {
            expected.push(timer(Timer::Deadline, deadline));
        }
        if let Some(pending) = record.pending_input.as_ref().filter(|pending| pending.answer.is_none()) {
            expected.push(timer(Timer::Input, pending.expires_at));
        }
        if let Some(cancel) = record.cancel.as_ref().filter(|cancel| cancel.failed.is_none() && record.lease.is_some())
        {
            expected.push(timer(Timer::Cancel, cancel.requested_at.plus_millis(CANCEL_BACKSTOP_MS)));
        }
        if let Some(asked) = record.post_hooks {
            expected.push(timer(Timer::PostHooks, asked.due_at));
        }
        expected.extend(execution_backstop(record).map(|due| timer(Timer::Execution, due)));
        Ok(expected)
    }

    /// Whether the entry is there. Most are read once for a whole page.
    async fn has(&self, looked: &mut Looked, expected: &Expected, record: &Invocation) -> Result<bool, EngineError> {
        let (id, index) = (&*record.key().to_string(), &expected.index);
        let known = match expected.place {
            Place::At(score) => {
                // From just before the one that is looked for.
                let mut range = ScoreRange::between(score, score);
                range.after = Some((score, id[..id.len() - 1].to_owned()));
                let near = self.0.store.scan(index, range, 64).await?;
                return Ok(near.iter().any(|entry| entry.member == id));
            }
            Place::Created => {
                if !looked.near.contains_key(index) {
                    let range = ScoreRange::between(looked.created.0, looked.created.1);
                    looked.near.insert(index.clone(), self.members_of(index, range).await?);
                }
                looked.near.get(index)
            }
            Place::Anywhere(_) => {
                if !looked.whole.contains_key(index) {
                    looked.whole.insert(index.clone(), self.members_of(index, ScoreRange::all()).await?);
                }
                looked.whole.get(index)
            }
        };
        Ok(known.is_some_and(|known| known.contains(id)))
    }

    async fn members_of(&self, index: &str, mut range: ScoreRange) -> Result<BTreeSet<String>, EngineError> {
        let mut members = BTreeSet::new();
        loop {
            let page = self.0.store.scan(index, range.clone(), SCAN).await?;
            members.extend(page.iter().map(|entry| entry.member.clone()));
            match page.last() {
                Some(last) if page.len() == SCAN => range = range.after(last),
                _ => return Ok(members),
            }
        }
    }

    /// Looks at counted indexes one after the other: a place nobody needs any more would lower a bound for ever.
    async fn audit_counted(
        &self,
        place: Option<(String, Option<(u64, String)>)>,
        now: Timestamp,
    ) -> Result<Option<(String, Option<(u64, String)>)>, EngineError> {
        let (index, after) = match place {
            Some((index, Some(after))) => (Some(index), Some(after)),
            Some((last, None)) => (self.next_counted(&last).await?, None),
            None => (self.next_counted("").await?, None),
        };
        let Some(index) = index else { return Ok(None) };
        let mut range = ScoreRange::all();
        range.after = after;
        let page = self.0.store.scan(&index, range, COUNTED).await?;
        let ids: Vec<_> = page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()).collect();
        let wanted: Vec<_> = ids.iter().map(keys::invocation).collect();
        for (entry, stored) in page.iter().zip(self.readable(&wanted).await?) {
            let Some(hot) = stored.and_then(|stored| Hot::read(&stored).ok()) else {
                self.set_aside(&index, entry).await;
                continue;
            };
            let still = now.since_millis(moved_at(&hot.record)) >= STILL_MS;
            if still
                && !counts(&hot.record, &index)
                && self.repair(&hot, |builder, id| builder.leave(index.clone(), id)).await?
            {
                tracing::error!(invocation_id = %hot.record.invocation_id, index, "a place was not given back");
                self.0.backlog.given_back(&index);
            }
        }
        let next = page.last().filter(|_| page.len() == COUNTED);
        Ok(Some((index, next.map(|last| (last.score, last.member.clone())))))
    }

    async fn next_counted(&self, after: &str) -> Result<Option<String>, EngineError> {
        let mut names = self.0.store.indexes(keys::RUNNING).await?;
        names.extend(self.0.store.indexes(keys::WAITING).await?);
        Ok(names.into_iter().find(|name| name.as_str() > after))
    }

    /// Changes index entries of a record; false when it has changed meanwhile, so that what was seen may be what it was before.
    async fn repair(&self, hot: &Hot, change: impl FnOnce(&mut Builder, &str)) -> Result<bool, EngineError> {
        let mut builder = Builder::default();
        builder.compare(keys::invocation(&hot.record.key()), Expect::Version(hot.version));
        change(&mut builder, &hot.record.key().to_string());
        let applied = matches!(self.write(builder.done(true)).await?, Written::Applied);
        if applied {
            self.0.repairs.fetch_add(1, Ordering::Relaxed);
            self.0.bell.ring();
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

/// When the scheduler ends a running call whose worker should have reported its timeout.
fn execution_backstop(record: &Invocation) -> Option<Timestamp> {
    let runs = matches!(record.status, Status::Running | Status::PartialResult);
    let (dispatch, started_at) = record.dispatch.as_ref().zip(record.started_at).filter(|_| runs)?;
    let millis = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX).min(i64::MAX / 8);
    let allowed = [dispatch.timeout_ms, record.clock_paused_ms].map(millis);
    Some(started_at.plus_millis(allowed[0]).plus_millis(allowed[1]).plus_millis(TIMEOUT_BACKSTOP_MS))
}
