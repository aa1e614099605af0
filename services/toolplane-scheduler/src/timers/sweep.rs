//! What is done every tick: signs of life, due timers, and ready calls that no worker will ever take.

use std::sync::Arc;
use std::time::Duration;

use toolplane_lifecycle::Timer;
use toolplane_records::time::Timestamp;

use super::due::DueTimers;
use super::watchdog::LeaseWatchdog;
use crate::calls::{CachedCall, Calls};
use crate::cluster::Members;
use crate::dispatch::{Placements, Quarantine, ReadyQueues, Roster, Workers};
use crate::limits::Rates;
use crate::mutants;
use crate::storage::{RecordError, keys};

/// Leases compared with the store at once.
const PAGE: usize = 256;
/// Ticks between two looks at the other schedulers.
const MEMBERS_EVERY: u64 = 5;

/// Looks at everything that becomes due.
#[derive(Debug)]
pub(crate) struct Timers {
    pub(crate) calls: Calls,
    pub(crate) due: DueTimers,
    pub(crate) placements: Arc<Placements>,
    pub(crate) members: Arc<Members>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) roster: Arc<Roster>,
    pub(crate) queues: Arc<ReadyQueues>,
    pub(crate) quarantine: Arc<Quarantine>,
    pub(crate) rates: Arc<Rates>,
    pub(crate) watchdog: LeaseWatchdog,
    /// A full lease, milliseconds.
    pub(crate) lease_ms: i64,
    pub(crate) tick_ms: u64,
}

impl Timers {
    /// Looks every tick, in an endless loop.
    pub(crate) async fn run(&self) {
        let tick_ms = self.tick_ms.max(10);
        // Schedulers that were started together should not look together.
        let offset = Duration::from_millis(self.calls.storage().environment().below(tick_ms));
        if self.calls.storage().is_shared() {
            tokio::time::sleep(offset).await;
        }
        let mut tick = tokio::time::interval(Duration::from_millis(tick_ms));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for count in 0_u64.. {
            tick.tick().await;
            let now = match self.calls.now().await {
                Ok(now) => now,
                Err(error) => {
                    self.watchdog.lost();
                    tracing::warn!(%error, "the time of the store cannot be read; trying again");
                    continue;
                }
            };
            self.watchdog.look(now);
            // While a shard refuses commits, workers cannot renew the leases of its calls.
            if let Err(error) = self.calls.storage().takes_commits().await {
                self.watchdog.lost();
                tracing::warn!(%error, "a shard takes no commits now; no lease is called over");
            }
            if let Err(error) = self.sweep(now, count).await {
                if matches!(error, RecordError::Store(_) | RecordError::OutcomeUnknown(_)) {
                    self.watchdog.lost();
                }
                tracing::warn!(%error, "a sweep failed; trying again");
            }
        }
    }

    async fn sweep(&self, now: Timestamp, count: u64) -> Result<(), RecordError> {
        if count.is_multiple_of(MEMBERS_EVERY) {
            self.members.show(self.workers.served(), now).await?;
            self.rates.tidy();
            // Only for people to read: what cannot be recorded now holds nothing up.
            if let Err(error) = self.roster.refresh(&self.workers.list(), now).await {
                tracing::debug!(%error, "what is known of the workers could not be recorded");
            }
        }
        self.quarantine.refresh(now).await?;
        for timer in Timer::ALL {
            // A lease is over only for those who have watched it that long.
            let steady = mutants::watches_always() || self.watchdog.was_steady_for(self.lease_ms, now);
            if *timer != Timer::Lease || steady {
                self.due.fire_due(*timer, now).await?;
            }
        }
        self.placements.refuse_unplaceable(now).await?;
        self.free_stale_slots(now).await
    }

    /// Slots of calls whose lease ended without this process hearing of it are free again.
    async fn free_stale_slots(&self, now: Timestamp) -> Result<(), RecordError> {
        let storage = self.calls.storage();
        if !storage.is_shared() {
            return Ok(());
        }
        let assigned = self.workers.assigned();
        for leases in assigned.chunks(PAGE) {
            let wanted: Vec<_> = leases.iter().map(|lease| keys::invocation(&lease.call())).collect();
            let found = storage.readable(&wanted).await?;
            for (lease, stored) in leases.iter().zip(found) {
                let Some(call) = stored.and_then(|stored| CachedCall::read(&stored).ok()) else { continue };
                let current = call.record.lease.as_ref();
                // A claim takes the slot before it is stored: what is that new is not stale.
                let settled = call.record.lease_no >= lease.lease_no;
                if settled && !current.is_some_and(|current| lease.names(current)) {
                    tracing::debug!(invocation_id = %lease.invocation_id, %now, "a lease ended elsewhere");
                    self.workers.unassign_lease(lease);
                    self.queues.ring();
                }
            }
        }
        Ok(())
    }
}
