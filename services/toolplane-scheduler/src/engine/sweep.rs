//! What is done every tick: due timers, and ready calls that nobody will ever take.

use std::time::Duration;

use futures_util::StreamExt;
use toolplane_lifecycle::{Command, Timer};
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationKey, WorkerId};
use toolplane_records::profile::native_tool_of;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use toolplane_store::{IndexEntry, ScoreRange};

use super::apply::is_race;
use super::workers::Placement;
use super::{Engine, EngineError, commit, keys, mutants};

/// Timers of one kind read at once.
const PAGE: usize = 256;
/// Pages of one kind handled in one tick; what is left waits for the next.
const PAGES: usize = 16;
/// Timers handled at the same time.
const AT_ONCE: usize = 32;
/// Ticks between two looks at the other schedulers.
const MEMBERS_EVERY: u64 = 5;

impl Engine {
    pub(crate) async fn sweep_loop(&self) {
        let tick_ms = self.0.options.tick_ms.max(10);
        // Schedulers that were started together should not look together.
        let offset = Duration::from_millis(u64::from(uuid::Uuid::new_v4().as_fields().1) % tick_ms);
        if self.0.shared {
            tokio::time::sleep(offset).await;
        }
        let mut tick = tokio::time::interval(Duration::from_millis(tick_ms));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for count in 0_u64.. {
            tick.tick().await;
            let now = match self.now().await {
                Ok(now) => now,
                Err(error) => {
                    self.0.steady.lost();
                    tracing::warn!(%error, "the store does not tell the time; trying again");
                    continue;
                }
            };
            self.0.steady.look(now);
            if let Err(error) = self.sweep(now, count).await {
                if matches!(error, EngineError::Store(_) | EngineError::OutcomeUnknown(_)) {
                    self.0.steady.lost();
                }
                tracing::warn!(%error, "a sweep failed; trying again");
            }
        }
    }

    async fn sweep(&self, now: Timestamp, count: u64) -> Result<(), EngineError> {
        if count.is_multiple_of(MEMBERS_EVERY) {
            self.show_membership(now).await?;
            self.0.limits.tidy();
            // Only for people to read: what cannot be recorded now holds nothing up.
            if let Err(error) = self.0.roster.refresh(&self.0.workers.list(), now).await {
                tracing::debug!(%error, "what is known of the workers could not be recorded");
            }
        }
        self.refresh_quarantine(now).await?;
        for timer in Timer::ALL {
            // A lease is over only for those who have watched it that long.
            let steady = mutants::watches_always() || self.0.steady.for_long(self.0.options.lease_ms, now);
            if *timer != Timer::Lease || steady {
                self.fire_due(*timer, now).await?;
            }
        }
        self.refuse_unplaceable(now).await?;
        self.drop_stale_assignments(now).await
    }

    /// Fires what is due of one kind, page by page. One bad record does not stop the others.
    async fn fire_due(&self, timer: Timer, now: Timestamp) -> Result<(), EngineError> {
        let index = keys::timers(timer);
        let mut range = ScoreRange::up_to(commit::score(now));
        for _ in 0..PAGES {
            let page = self.0.store.scan(&index, range.clone(), PAGE).await?;
            let Some(last) = page.last().cloned() else { return Ok(()) };
            let mut fires = Vec::new();
            for entry in page.iter().filter(|entry| self.is_mine(entry, now) || self.knows_lease(entry, timer)) {
                fires.push(self.fire(&index, entry, timer));
            }
            futures_util::stream::iter(fires).buffer_unordered(AT_ONCE).collect::<()>().await;
            if page.len() < PAGE {
                return Ok(());
            }
            range = range.after(&last);
        }
        Ok(())
    }

    /// Whether this scheduler looks after `entry`; what was left lying for a while is everybody's.
    fn is_mine(&self, entry: &IndexEntry, now: Timestamp) -> bool {
        let overdue = i64::try_from(commit::score(now).saturating_sub(entry.score)).unwrap_or(i64::MAX);
        let patience = i64::try_from(self.0.options.tick_ms).unwrap_or(i64::MAX / 4).saturating_mul(3);
        self.0.members.mine(&entry.member, overdue, patience)
    }

    /// Whether this scheduler may know more about the end of a lease than others do.
    fn knows_lease(&self, entry: &IndexEntry, timer: Timer) -> bool {
        timer == Timer::Lease && InvocationKey::parse(&entry.member).is_ok_and(|id| self.0.hot.holds(&id))
    }

    async fn fire(&self, index: &str, entry: &IndexEntry, timer: Timer) {
        let Ok(id) = InvocationKey::parse(&entry.member) else {
            self.set_aside(index, entry).await;
            return;
        };
        toolplane_faultpoint::point("scheduler.mid_sweep");
        if timer == Timer::Lease {
            self.tell_receipt(&id).await;
        }
        if timer == Timer::PostHooks {
            // Whoever asks them sets the timer anew.
            return self.hooks_overdue(&id);
        }
        match self.command(&id, Vec::new(), |_| Command::Fire(timer)).await {
            Ok(_) => {}
            Err(EngineError::Refused { refusal, .. }) if is_race(&refusal) => {}
            Err(EngineError::NotFound | EngineError::Damaged(_)) => {
                self.set_aside(index, entry).await;
            }
            Err(error) => {
                tracing::warn!(invocation_id = %id, timer = timer.as_str(), %error, "could not fire a timer");
            }
        }
    }

    /// Ends ready calls whose pool no worker serves: at once where workers say that they cannot, else after a grace in
    /// which none came.
    async fn refuse_unplaceable(&self, now: Timestamp) -> Result<(), EngineError> {
        let grace = self.0.options.placement_grace_ms;
        for queue in self.0.backlog.names() {
            let waited = ScoreRange::up_to(commit::score(now.plus_millis(-grace)));
            let (range, error) = match self.placement(&queue.pool) {
                Placement::Served => {
                    self.0.served.insert(queue.pool.clone(), now);
                    continue;
                }
                // Where workers may be connected to others too, one of them may be about to.
                Placement::Gap(gap) => {
                    let range = if self.0.shared { waited } else { ScoreRange::all() };
                    (range, gap_error(&queue.pool, &gap.reason_code, &gap.message))
                }
                Placement::Nobody => {
                    // A worker that was just there, or a scheduler that was not, is no reason to give up.
                    let seen = self.0.served.entry(queue.pool.clone()).or_insert(now);
                    if now.since_millis(*seen) < grace {
                        continue;
                    }
                    (waited, nobody_error(&queue.pool))
                }
            };
            for entry in self.0.store.scan(&queue.to_string(), range, PAGE).await? {
                let Ok(id) = InvocationKey::parse(&entry.member) else { continue };
                let block = |_: &_| Command::Block { cause: "placement", error: error.clone() };
                let refused = self.command(&id, Vec::new(), block).await;
                if let Err(error) = refused {
                    tracing::debug!(invocation_id = %id, %error, "a call was not refused for want of a worker");
                }
            }
        }
        Ok(())
    }

    /// Whether calls of `pool` can be run, by workers connected here or to another scheduler.
    pub fn placement(&self, pool: &str) -> Placement {
        match self.0.workers.placement(pool) {
            Placement::Served => Placement::Served,
            _ if self.0.members.serve(pool) => Placement::Served,
            other => other,
        }
    }

    /// Slots of calls whose lease ended without this process hearing of it are free again.
    async fn drop_stale_assignments(&self, now: Timestamp) -> Result<(), EngineError> {
        if !self.0.shared {
            return Ok(());
        }
        let assigned = self.0.workers.assigned();
        for leases in assigned.chunks(PAGE) {
            let wanted: Vec<_> = leases.iter().map(|lease| keys::invocation(&lease.call())).collect();
            let found = self.readable(&wanted).await?;
            for (lease, stored) in leases.iter().zip(found) {
                let Some(hot) = stored.and_then(|stored| super::hot::Hot::read(&stored).ok()) else { continue };
                let current = hot.record.lease.as_ref();
                // A claim takes the slot before it is stored: what is that new is not stale.
                let settled = hot.record.lease_no >= lease.lease_no;
                if settled && !current.is_some_and(|current| lease.names(current)) {
                    tracing::debug!(invocation_id = %lease.invocation_id, %now, "a lease ended elsewhere");
                    self.0.workers.unassign_lease(lease);
                    self.0.bell.ring();
                }
            }
        }
        Ok(())
    }

    /// Ends every lease of an incarnation that is proven dead.
    pub async fn worker_gone(&self, worker_id: &WorkerId, alive: &str) -> Result<usize, EngineError> {
        // A worker that hangs up in the middle must not leave half of its leases: the work is a task of its own.
        let (engine, worker_id, alive) = (self.clone(), worker_id.clone(), alive.to_owned());
        let ended = tokio::spawn(async move { engine.end_leases(&worker_id, &alive).await }).await;
        ended.unwrap_or_else(|error| Err(toolplane_store::StoreError::Unavailable { reason: error.to_string() }.into()))
    }

    async fn end_leases(&self, worker_id: &WorkerId, alive: &str) -> Result<usize, EngineError> {
        let mut ended = 0;
        let mut range = ScoreRange::all();
        loop {
            let page = self.0.store.scan(&keys::timers(Timer::Lease), range, PAGE).await?;
            let ids: Vec<_> = page.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()).collect();
            let wanted: Vec<_> = ids.iter().map(keys::invocation).collect();
            for stored in self.readable(&wanted).await?.into_iter().flatten() {
                let Ok(hot) = super::hot::Hot::read(&stored) else { continue };
                let Some(lease) = &hot.record.lease else { continue };
                if lease.worker_id == *worker_id && lease.incarnation != alive {
                    let incarnation = lease.incarnation.clone();
                    let gone =
                        |_: &_| Command::WorkerGone { worker_id: worker_id.clone(), incarnation: incarnation.clone() };
                    let id = hot.record.key();
                    self.tell_receipt(&id).await;
                    ended += usize::from(self.command(&id, Vec::new(), gone).await.is_ok());
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => range = ScoreRange::all().after(last),
                _ => return Ok(ended),
            }
        }
    }
}

/// The error of a call whose pool every worker declines.
pub(crate) fn gap_error(pool: &str, reason_code: &str, message: &str) -> ToolError {
    let mut error = ToolError::new(
        format!("placement.{reason_code}"),
        ErrorClass::CapabilityGap,
        Recoverability::CompleteSetup,
        format!("no worker can run calls of pool `{pool}`: {message}"),
    );
    error.side_effects = Some("none".to_owned());
    error
}

fn nobody_error(pool: &str) -> ToolError {
    let mut error = ToolError::new(
        "placement.no_worker",
        ErrorClass::CapabilityGap,
        Recoverability::RetryLater,
        match native_tool_of(pool) {
            Some(tool) => format!(
                "no connected worker serves the native tool `{tool}`: a worker that does names it in `native_tools` when it connects"
            ),
            None => format!("no connected worker serves pool `{pool}`"),
        },
    );
    error.side_effects = Some("none".to_owned());
    error
}
