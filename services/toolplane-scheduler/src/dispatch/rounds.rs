//! From ready queues to workers with free slots: whose turn it is, and the rounds that take turns.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_lifecycle::fairness::{Backlog, Drr, Pick};
use toolplane_records::SmolStr;
use toolplane_records::ids::TenantId;
use toolplane_records::vocabulary::Band;
use toolplane_store::{IndexEntry, ScoreRange};

use super::claim::Claims;
use super::grant::Grants;
use super::queues::ReadyQueues;
use crate::storage::keys::QueueName;
use crate::storage::{RecordError, Storage};

/// Most calls claimed in one turn.
const TURN: usize = 64;
/// Most queues looked at in one turn; with more, each turn looks at others.
const LANES: usize = 256;
/// Pools whose turns are remembered; beyond it turns start anew.
const MAX_POOLS: usize = 4_096;
/// How old the knowledge of non-empty queues may become.
const REFRESH: Duration = Duration::from_secs(1);

/// Queues with the calls at their heads, oldest first.
type Heads = Vec<(QueueName, Vec<IndexEntry>)>;

/// Takes turns between pools, bands and tenants.
#[derive(Debug)]
pub(crate) struct Rounds {
    storage: Storage,
    queues: Arc<ReadyQueues>,
    grants: Arc<Grants>,
    claims: Claims,
    /// Shares of tenants that wait at the same time; 1 for those not named.
    weights: BTreeMap<TenantId, u64>,
    /// Whose turn it is in each pool.
    turns: Mutex<HashMap<String, Drr>>,
    /// Where the look at very many queues goes on.
    lane: AtomicUsize,
}

impl Rounds {
    pub(crate) fn new(
        storage: Storage,
        queues: Arc<ReadyQueues>,
        grants: Arc<Grants>,
        claims: Claims,
        weights: BTreeMap<TenantId, u64>,
    ) -> Self {
        Self { storage, queues, grants, claims, weights, turns: Mutex::default(), lane: AtomicUsize::new(0) }
    }

    /// Offers waiting calls whenever there are free slots for them, in an endless loop.
    pub(crate) async fn run(&self) {
        let mut refreshed: Option<Instant> = None;
        loop {
            if refreshed.is_none_or(|at| at.elapsed() >= REFRESH) {
                match self.queues.look_up(&self.storage).await {
                    Ok(()) => refreshed = Some(Instant::now()),
                    Err(error) => tracing::warn!(%error, "ready queues could not be read; trying again"),
                }
            }
            match self.round().await {
                Ok(()) => {}
                Err(error) => tracing::warn!(%error, "dispatch failed; trying again"),
            }
            let _ = tokio::time::timeout(REFRESH, self.queues.rung()).await;
        }
    }

    /// Offers waiting calls while there are free slots for them.
    async fn round(&self) -> Result<(), RecordError> {
        let pools: BTreeSet<SmolStr> = self.queues.names().into_iter().map(|name| name.pool).collect();
        for pool in pools {
            while self.turn(&pool).await? > 0 {}
        }
        Ok(())
    }

    /// Claims calls of one pool for the slots that are free now; returns how many it got rid of.
    async fn turn(&self, pool: &str) -> Result<usize, RecordError> {
        let free = self.grants.free_slots(pool).min(TURN);
        if free == 0 {
            return Ok(0);
        }
        let moment = self.queues.tick();
        let (heads, each) = self.heads(pool, free, moment).await?;
        if heads.is_empty() {
            return Ok(0);
        }
        let waiting: Vec<Backlog> = heads
            .iter()
            .map(|(name, entries)| Backlog {
                band: name.band,
                tenant: name.tenant.clone(),
                waiting: entries.len() as u64,
            })
            .collect();
        let picks = self.pick(pool, &waiting, free);
        // Queues that were read to their end: with all their calls claimed, no call waits there any more.
        let short = heads.iter().filter(|(_, entries)| entries.len() < each);
        let short: Vec<(QueueName, usize)> = short.map(|(name, entries)| (name.clone(), entries.len())).collect();
        let chosen = chosen(heads, &picks);
        let count = chosen.len();
        let taken = |name: &QueueName| chosen.iter().filter(|(queue, _)| queue == name).count();
        let emptied: Vec<QueueName> =
            short.into_iter().filter(|(name, length)| taken(name) == *length).map(|(name, _)| name).collect();
        let claimed = self.claims.claim_all(pool, chosen).await?;
        if claimed == count {
            emptied.iter().for_each(|name| self.queues.empty(moment, name));
        }
        Ok(claimed)
    }

    fn pick(&self, pool: &str, waiting: &[Backlog], free: usize) -> Vec<Pick> {
        let mut turns = self.turns.lock();
        // Pools of native tools come and go with their tools.
        if turns.len() >= MAX_POOLS && !turns.contains_key(pool) {
            turns.clear();
        }
        turns.entry(pool.to_owned()).or_insert_with(|| Drr::new(self.weights.clone())).pick(waiting, free)
    }

    /// The oldest calls of the queues of `pool` from which something could be claimed, and how many of each were asked for.
    async fn heads(&self, pool: &str, free: usize, moment: u64) -> Result<(Heads, usize), RecordError> {
        let mut lanes = self.queues.eligible(pool);
        if lanes.len() > LANES {
            let first = self.lane.fetch_add(LANES, Ordering::Relaxed) % lanes.len();
            lanes.rotate_left(first);
            lanes.truncate(LANES);
        }
        // With many queues each gets few of the slots. One more than could be claimed shows whether a call is left.
        let each = free.min((4 * free / lanes.len().max(1)).max(4)) + 1;
        let names: Vec<String> = lanes.iter().map(ToString::to_string).collect();
        let scans = names.iter().map(|name| self.storage.scan(name, ScoreRange::all(), each));
        let found = futures_util::future::try_join_all(scans).await?;
        let mut heads = Heads::new();
        for (lane, entries) in lanes.into_iter().zip(found) {
            if entries.is_empty() {
                self.queues.empty(moment, &lane);
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
