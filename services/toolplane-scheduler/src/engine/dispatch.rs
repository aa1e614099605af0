//! From ready queues to workers with free slots: whose turn it is, and the rounds that take turns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolplane_lifecycle::fairness::{Backlog as Waiting, Pick};
use toolplane_records::ids::TenantId;
use toolplane_records::vocabulary::Band;
use toolplane_store::{IndexEntry, ScoreRange};

use super::keys::QueueName;
use super::{Engine, EngineError};

/// Most calls claimed in one turn.
const TURN: usize = 64;
/// Most queues looked at in one turn; with more, each turn looks at others.
const LANES: usize = 256;
/// How old the knowledge of non-empty queues may become.
const REFRESH: Duration = Duration::from_secs(1);

/// Wakes the dispatcher: something became ready, or a slot became free. A ring is a hint; the dispatcher also looks by
/// itself once a second.
#[derive(Debug, Default)]
pub(crate) struct Bell(Notify);

impl Bell {
    pub(crate) fn ring(&self) {
        self.0.notify_one();
    }

    async fn rung(&self) {
        self.0.notified().await;
    }
}

/// Queues with the calls at their heads, oldest first.
type Heads = Vec<(QueueName, Vec<IndexEntry>)>;

impl Engine {
    pub(crate) async fn dispatch_loop(&self) {
        let mut refreshed: Option<Instant> = None;
        loop {
            if refreshed.is_none_or(|at| at.elapsed() >= REFRESH) {
                match self.refresh_backlog().await {
                    Ok(()) => refreshed = Some(Instant::now()),
                    Err(error) => tracing::warn!(%error, "ready queues could not be read; trying again"),
                }
            }
            match self.dispatch_round().await {
                Ok(()) => {}
                Err(error) => tracing::warn!(%error, "dispatch failed; trying again"),
            }
            let _ = tokio::time::timeout(REFRESH, self.0.bell.rung()).await;
        }
    }

    /// Offers waiting calls while there are free slots for them.
    async fn dispatch_round(&self) -> Result<(), EngineError> {
        let pools: BTreeSet<String> = self.0.backlog.names().into_iter().map(|name| name.pool).collect();
        for pool in pools {
            while self.turn(&pool).await? > 0 {}
        }
        Ok(())
    }

    /// Claims calls of one pool for the slots that are free now; returns how many it got rid of.
    async fn turn(&self, pool: &str) -> Result<usize, EngineError> {
        let free = self.0.workers.free_slots(pool).min(TURN);
        if free == 0 || self.0.draining.load(Ordering::Acquire) {
            return Ok(0);
        }
        let moment = self.0.backlog.tick();
        let (heads, each) = self.heads(pool, free, moment).await?;
        if heads.is_empty() {
            return Ok(0);
        }
        let waiting: Vec<Waiting> = heads
            .iter()
            .map(|(name, entries)| Waiting {
                band: name.band,
                tenant: name.tenant.clone(),
                waiting: entries.len() as u64,
            })
            .collect();
        let picks =
            self.0.turns.lock().entry(pool.to_owned()).or_insert_with(|| self.fresh_turns()).pick(&waiting, free);
        // Queues that were read to their end: with all their calls claimed, nobody waits there any more.
        let short = heads.iter().filter(|(_, entries)| entries.len() < each);
        let short: Vec<(QueueName, usize)> = short.map(|(name, entries)| (name.clone(), entries.len())).collect();
        let chosen = chosen(heads, &picks);
        let count = chosen.len();
        let taken = |name: &QueueName| chosen.iter().filter(|(queue, _)| queue == name).count();
        let emptied: Vec<QueueName> =
            short.into_iter().filter(|(name, length)| taken(name) == *length).map(|(name, _)| name).collect();
        let claimed = self.claim_all(pool, chosen).await?;
        if claimed == count {
            emptied.iter().for_each(|name| self.0.backlog.empty(moment, name));
        }
        Ok(claimed)
    }

    fn fresh_turns(&self) -> toolplane_lifecycle::fairness::Drr {
        toolplane_lifecycle::fairness::Drr::new(self.0.options.weights.clone())
    }

    /// The oldest calls of the queues of `pool` from which something could be claimed, and how many of each were asked for.
    async fn heads(&self, pool: &str, free: usize, moment: u64) -> Result<(Heads, usize), EngineError> {
        let mut lanes = self.0.backlog.eligible(pool);
        if lanes.len() > LANES {
            let first = self.0.lane.fetch_add(LANES, Ordering::Relaxed) % lanes.len();
            lanes.rotate_left(first);
            lanes.truncate(LANES);
        }
        // With many queues each gets few of the slots. One more than could be claimed shows whether somebody is left.
        let each = free.min((4 * free / lanes.len().max(1)).max(4)) + 1;
        let names: Vec<String> = lanes.iter().map(ToString::to_string).collect();
        let scans = names.iter().map(|name| self.0.store.scan(name, ScoreRange::all(), each));
        let found = futures_util::future::try_join_all(scans).await?;
        let mut heads = Heads::new();
        for (lane, entries) in lanes.into_iter().zip(found) {
            if entries.is_empty() {
                self.0.backlog.empty(moment, &lane);
            } else {
                heads.push((lane, entries));
            }
        }
        Ok((heads, each))
    }
}

/// The calls the picks stand for: of each tenant and band the oldest, whichever of its queues they are in.
fn chosen(heads: Heads, picks: &[Pick]) -> Vec<(QueueName, IndexEntry)> {
    let mut by_tenant: BTreeMap<(Band, TenantId), Vec<(IndexEntry, QueueName)>> = BTreeMap::new();
    for (name, entries) in heads {
        let lane = by_tenant.entry((name.band, name.tenant.clone())).or_default();
        lane.extend(entries.into_iter().map(|entry| (entry, name.clone())));
    }
    let mut chosen = Vec::new();
    for pick in picks {
        let Some(mut lane) = by_tenant.remove(&(pick.band, pick.tenant.clone())) else { continue };
        lane.sort_unstable();
        let count = usize::try_from(pick.count).unwrap_or(usize::MAX);
        chosen.extend(lane.into_iter().take(count).map(|(entry, name)| (name, entry)));
    }
    chosen
}
