//! C13: while every tenant and band has calls waiting, bands get 8 : 3 : 1 and tenants of a band the same.

use std::collections::BTreeMap;

use super::verdict::{Check, Verdict};

/// The bands and their weights, the most urgent first.
pub const WEIGHTS: [(&str, u64); 3] = [("interactive", 8), ("normal", 3), ("background", 1)];
/// How far a share may be off over a whole window, in percent of the window.
const SHARE_PERCENT: u64 = 5;

/// A call that was taken from its queue, in the order they were taken, while every tenant of every band listed had more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its band.
    pub band: String,
    /// Its tenant.
    pub tenant: String,
}

pub(super) fn check(claims: &[Claim], verdict: &mut Verdict) {
    bands(claims, verdict);
    let mut by_band: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for claim in claims {
        by_band.entry(&claim.band).or_default().push(&claim.tenant);
    }
    for (band, tenants) in by_band {
        within(band, &tenants, verdict);
    }
}

fn bands(claims: &[Claim], verdict: &mut Verdict) {
    let count = |band: &str| claims.iter().filter(|claim| claim.band == band).count() as u64;
    let present: Vec<_> = WEIGHTS.iter().filter(|(band, _)| count(band) > 0).collect();
    let all: u64 = present.iter().map(|(_, weight)| weight).sum();
    let total = claims.len() as u64;
    for (band, weight) in present {
        let (share, due) = (count(band), total * weight / all.max(1));
        if share.abs_diff(due) * 100 > total * SHARE_PERCENT {
            verdict.red(Check::C13, format!("band `{band}` got {share} of {total} claims; {due} were due"));
        }
    }
}

/// Between two claims of one tenant there are at most two of each other tenant.
fn within(band: &str, tenants: &[&str], verdict: &mut Verdict) {
    let mut last: BTreeMap<&str, usize> = tenants.iter().map(|tenant| (*tenant, 0)).collect();
    let most = 2 * last.len();
    for (place, tenant) in tenants.iter().enumerate() {
        let before = last.insert(tenant, place + 1).unwrap_or_default();
        if place - before > most {
            let waited = place - before;
            verdict
                .red(Check::C13, format!("band `{band}`: `{tenant}` waited for {waited} others; {most} are the bound"));
        }
    }
}
