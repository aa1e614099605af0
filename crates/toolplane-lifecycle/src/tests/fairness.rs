//! Shares of bands and tenants, and how long a call waits for its turn.

use std::collections::BTreeMap;

use proptest::prelude::*;
use toolplane_records::ids::TenantId;
use toolplane_records::vocabulary::Band;

use crate::fairness::{Backlog, Drr, Pick};

fn tenant(number: usize) -> TenantId {
    TenantId::from_trusted(format!("t{number}"))
}

fn entry(band: Band, number: usize, waiting: u64) -> Backlog {
    Backlog { band, tenant: tenant(number), waiting }
}

/// Claims one at a time while everything stays full.
fn claims(drr: &mut Drr, backlog: &[Backlog], count: usize) -> Vec<(Band, TenantId)> {
    (0..count)
        .map(|_| {
            let picks = drr.pick(backlog, 1);
            assert_eq!(picks.len(), 1);
            (picks[0].band, picks[0].tenant.clone())
        })
        .collect()
}

fn backlog() -> impl Strategy<Value = Vec<Backlog>> {
    let one = (prop::sample::select(Band::ALL.to_vec()), 0_usize..8, 0_u64..20);
    prop::collection::vec(one.prop_map(|(band, number, waiting)| entry(band, number, waiting)), 0..20)
}

fn total(backlog: &[Backlog]) -> u64 {
    backlog.iter().map(|entry| entry.waiting).sum()
}

proptest! {
    /// Between two claims of a tenant there are at most `2T` others of its band, whatever else goes on.
    #[test]
    fn nobody_waits_long(tenants in 1_usize..20, more in prop::collection::vec(backlog(), 1..60)) {
        let mut drr = Drr::default();
        let full: Vec<Backlog> = (0..tenants).map(|number| entry(Band::Normal, 100 + number, 1_000)).collect();
        let mut since = vec![0_usize; tenants];
        for noise in more.iter().cycle().take(200) {
            // Others come and go in the same band and in the others.
            let here: Vec<Backlog> = noise.iter().chain(&full).cloned().collect();
            let visitors = noise.iter().filter(|entry| entry.band == Band::Normal).map(|entry| &entry.tenant);
            let all = tenants + visitors.collect::<std::collections::BTreeSet<_>>().len().max(8);
            for Pick { band, tenant: claimed, .. } in drr.pick(&here, 1) {
                if band != Band::Normal {
                    continue;
                }
                for (number, since) in since.iter_mut().enumerate() {
                    *since = if claimed == tenant(100 + number) { 0 } else { *since + 1 };
                    prop_assert!(*since <= 2 * all, "tenant {number} waited for {since} claims of others");
                }
            }
        }
    }

    /// Bands come and go as they like: a band that has calls waiting is served within two rounds of its share.
    #[test]
    fn no_band_waits_long(awake in prop::collection::vec(any::<[bool; 3]>(), 1..400)) {
        let mut drr = Drr::default();
        let mut since = [0_u32; 3];
        for awake in awake {
            let waits = |band: &&Band| awake[band.rank()];
            let full: Vec<Backlog> = Band::ALL.iter().filter(waits).map(|band| entry(*band, 1, 1)).collect();
            let picked = drr.pick(&full, 1).first().map(|pick| pick.band);
            for band in Band::ALL.iter() {
                let waited = awake[band.rank()] && picked != Some(*band);
                since[band.rank()] = if waited { since[band.rank()] + 1 } else { 0 };
            }
            prop_assert!(since[0] <= 3 && since[1] <= 8 && since[2] <= 24, "{since:?}");
        }
    }

    /// A pick takes no more than there is and than is free, and never less than it could.
    #[test]
    fn picks_fit(steps in prop::collection::vec((backlog(), 0_usize..40), 1..30)) {
        let mut drr = Drr::default();
        for (backlog, free) in steps {
            let picks = drr.pick(&backlog, free);
            let picked: u64 = picks.iter().map(|pick| pick.count).sum();
            prop_assert_eq!(picked, total(&backlog).min(free as u64));
            for pick in picks {
                let theirs = backlog.iter().filter(|entry| entry.band == pick.band && entry.tenant == pick.tenant);
                prop_assert!((1..=theirs.map(|entry| entry.waiting).sum()).contains(&pick.count));
            }
        }
    }

    /// Over 1,000 claims every tenant gets its share of its band to within 5 %, however large the picks are.
    #[test]
    fn shares_follow_the_weights(weights in prop::collection::vec(1_u64..6, 2..8), free in 1_usize..20) {
        let named = weights.iter().enumerate().map(|(number, weight)| (tenant(number), *weight)).collect();
        let mut drr = Drr::new(named);
        let full: Vec<Backlog> = (0..weights.len()).map(|number| entry(Band::Normal, number, 10_000)).collect();
        let mut got: BTreeMap<TenantId, u64> = BTreeMap::new();
        let mut claimed = 0;
        while claimed < 1_000 {
            for pick in drr.pick(&full, free) {
                claimed += pick.count;
                *got.entry(pick.tenant).or_default() += pick.count;
            }
        }
        let sum: u64 = weights.iter().sum();
        for (number, weight) in weights.iter().enumerate() {
            let share = claimed as f64 * *weight as f64 / sum as f64;
            let error = (got[&tenant(number)] as f64 - share).abs() / claimed as f64;
            prop_assert!(error < 0.05, "tenant {number} got {} of {share}", got[&tenant(number)]);
        }
    }
}

#[test]
fn bands_share_eight_to_three_to_one() {
    let mut drr = Drr::default();
    let full: Vec<Backlog> = Band::ALL.iter().map(|band| entry(*band, 1, 1_000)).collect();
    let claimed = claims(&mut drr, &full, 1_200);
    let count = |wanted: Band| claimed.iter().filter(|(band, _)| *band == wanted).count();
    assert_eq!((count(Band::Interactive), count(Band::Normal), count(Band::Background)), (800, 300, 100));
    let longest = claimed.split(|(band, _)| *band == Band::Background).map(<[_]>::len).max();
    assert!(longest <= Some(12), "the least urgent band has its turn in every twelve: {longest:?}");
}

/// A band that slept does not catch up on what it did not need.
#[test]
fn an_idle_band_saves_nothing_up() {
    let mut drr = Drr::default();
    claims(&mut drr, &[entry(Band::Background, 1, 1_000)], 500);
    let both = [entry(Band::Interactive, 1, 1_000), entry(Band::Background, 1, 1_000)];
    let claimed = claims(&mut drr, &both, 90);
    assert_eq!(claimed.iter().filter(|(band, _)| *band == Band::Interactive).count(), 80);
}

/// An urgent call that comes now and then does not pay for having come before.
#[test]
fn a_rare_urgent_call_goes_first() {
    let mut drr = Drr::default();
    for round in 0..500 {
        claims(&mut drr, &[entry(Band::Normal, 1, 1_000)], 4);
        let both = [entry(Band::Interactive, 2, 1), entry(Band::Normal, 1, 1_000)];
        let waited = (0..).take_while(|_| claims(&mut drr, &both, 1)[0].0 != Band::Interactive).count();
        assert!(waited <= 1, "round {round}: {waited} others went first");
    }
}

/// A tenant with a hundred times the calls gets no more than one that trickles.
#[test]
fn a_flood_does_not_drown_a_trickle() {
    let mut drr = Drr::default();
    let full = [entry(Band::Normal, 1, 1_000_000), entry(Band::Normal, 2, 1)];
    let claimed = claims(&mut drr, &full, 10);
    assert_eq!(claimed.iter().filter(|(_, who)| *who == tenant(2)).count(), 5);
}
