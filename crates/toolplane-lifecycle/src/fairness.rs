//! Whose turn it is: bands share free slots 8 : 3 : 1, and within a band tenants share them by their weights.

use std::collections::{BTreeMap, VecDeque};

use toolplane_records::ids::TenantId;
use toolplane_records::vocabulary::Band;

/// Claims of each band out of twelve, most urgent first, while all bands have calls waiting.
const SHARES: [i64; 3] = [8, 3, 1];

/// Calls that wait in one band for one tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// The band.
    pub band: Band,
    /// The tenant.
    pub tenant: TenantId,
    /// How many wait. Entries of the same band and tenant add up.
    pub waiting: u64,
}

/// Calls to be claimed of one band and tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The band.
    pub band: Band,
    /// The tenant.
    pub tenant: TenantId,
    /// How many to claim, at least 1.
    pub count: u64,
}

/// Deficit round robin over tenants in each band, smooth weighted round robin over bands.
///
/// It remembers whose turn is next, so that many small picks share as fairly as one large one. Of `T` tenants of equal
/// weight with calls waiting in a band, each gets a claim in every `T` claims of that band. A tenant that has nothing
/// waiting saves nothing up.
#[derive(Clone, Debug, Default)]
pub struct Drr {
    weights: BTreeMap<TenantId, u64>,
    lanes: [TenantRing; 3],
    /// How far each band is behind its share; 0 in all. A band that sleeps keeps its place: setting it back would be a gift
    /// to the others that adds up.
    behind: [i64; 3],
}

/// The tenants of one band that have calls waiting, the next one first.
#[derive(Clone, Debug, Default)]
struct TenantRing {
    turns: VecDeque<TenantId>,
    /// Claims left in the turn of the first one; 0 when its turn has not begun.
    credit: u64,
}

impl Drr {
    /// Shares by these weights; a tenant that is not named has weight 1, and 0 counts as 1.
    pub fn new(weights: BTreeMap<TenantId, u64>) -> Self {
        Self { weights, ..Self::default() }
    }

    /// Chooses whose calls get `free` slots: all of them while enough calls wait.
    pub fn pick(&mut self, backlog: &[Backlog], free: usize) -> Vec<Pick> {
        let mut waiting = self.wake(backlog);
        let mut picks: Vec<Pick> = Vec::new();
        for _ in 0..free {
            let Some(band) = self.next_band() else { break };
            let rank = band.rank();
            let Some(tenant) = self.lanes[rank].take_turn(&self.weights) else { break };
            let left = waiting[rank].entry(tenant.clone()).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.lanes[rank].leave(&tenant);
            }
            match picks.iter_mut().find(|pick| pick.band == band && pick.tenant == tenant) {
                Some(pick) => pick.count += 1,
                None => picks.push(Pick { band, tenant, count: 1 }),
            }
        }
        picks
    }

    /// Lets tenants join and leave the lanes as their calls come and go; returns what waits in each lane.
    fn wake(&mut self, backlog: &[Backlog]) -> [BTreeMap<TenantId, u64>; 3] {
        let mut waiting: [BTreeMap<TenantId, u64>; 3] = Default::default();
        for Backlog { band, tenant, waiting: more } in backlog.iter().filter(|entry| entry.waiting > 0) {
            let sum = waiting[band.rank()].entry(tenant.clone()).or_default();
            *sum = sum.saturating_add(*more);
        }
        for (lane, waiting) in self.lanes.iter_mut().zip(&waiting) {
            lane.meet(waiting);
        }
        waiting
    }

    /// The band that is furthest behind its share among those with calls waiting.
    fn next_band(&mut self) -> Option<Band> {
        let awake = |rank: &usize| !self.lanes[*rank].turns.is_empty();
        let ranks: Vec<usize> = (0..SHARES.len()).filter(awake).collect();
        for rank in &ranks {
            self.behind[*rank] += SHARES[*rank];
        }
        // Of equals the more urgent one.
        let chosen = *ranks.iter().max_by_key(|rank| (self.behind[**rank], SHARES[**rank]))?;
        self.behind[chosen] -= ranks.iter().map(|rank| SHARES[*rank]).sum::<i64>();
        Band::ALL.iter().copied().find(|band| band.rank() == chosen)
    }
}

impl TenantRing {
    fn meet(&mut self, waiting: &BTreeMap<TenantId, u64>) {
        let first = self.turns.front().cloned();
        self.turns.retain(|tenant| waiting.contains_key(tenant));
        if self.turns.front() != first.as_ref() {
            self.credit = 0;
        }
        let known: std::collections::BTreeSet<&TenantId> = self.turns.iter().collect();
        let new: Vec<TenantId> = waiting.keys().filter(|tenant| !known.contains(tenant)).cloned().collect();
        self.turns.extend(new);
    }

    /// One claim of the tenant whose turn it is.
    fn take_turn(&mut self, weights: &BTreeMap<TenantId, u64>) -> Option<TenantId> {
        let tenant = self.turns.front()?.clone();
        if self.credit == 0 {
            self.credit = weights.get(&tenant).copied().unwrap_or(1).max(1);
        }
        self.credit -= 1;
        if self.credit == 0 {
            self.turns.rotate_left(1);
        }
        Some(tenant)
    }

    fn leave(&mut self, tenant: &TenantId) {
        // Its turn ends with its last call, used up or not.
        if self.turns.front() == Some(tenant) {
            self.credit = 0;
        }
        self.turns.retain(|other| other != tenant);
    }
}
