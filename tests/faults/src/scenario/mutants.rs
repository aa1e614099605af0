//! A checker that is broken passes everything: each mutant breaks one promise, and its check must notice within one run.

use std::sync::Arc;
use std::time::Duration;

use toolplane_faultpoint::Mutant;

use super::outcome::Outcome;
use super::under_load;
use super::under_load::Work;
use crate::bed::{Bed, LEASE, Plan, StoreKind};
use crate::check::Check;
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

/// The outcome of one mutant.
#[derive(Clone, Debug)]
pub struct Fate {
    /// Which.
    pub mutant: Mutant,
    /// Its run.
    pub outcome: Outcome,
}

/// Whether the check that watches over the broken promise went red.
pub fn killed(fate: &Fate) -> bool {
    let red = fate.outcome.verdict.red_checks();
    watchers(fate.mutant).iter().any(|check| red.contains(check))
}

/// The checks one of which must notice.
fn watchers(mutant: Mutant) -> &'static [Check] {
    match mutant {
        Mutant::DropFence => &[Check::C5],
        Mutant::RerunNonIdempotent | Mutant::HostClockLeases => &[Check::C4],
        Mutant::SkipDedupe => &[Check::C1],
        Mutant::LoseEvent => &[Check::C8, Check::C3],
        Mutant::BargeLock => &[Check::C6],
        Mutant::RecordBeforePayload => &[Check::C14],
        Mutant::LeakPermit => &[Check::C11],
    }
}

/// Runs every mutant, or one.
pub async fn mutants(store: StoreKind, only: Option<Mutant>) -> Result<Vec<Fate>, Trouble> {
    let mut fates = Vec::new();
    for mutant in Mutant::ALL.into_iter().filter(|mutant| only.is_none_or(|only| only == *mutant)) {
        let outcome = under_load(work(store, mutant), async |bed, load| deed(bed, load, mutant).await).await?;
        fates.push(Fate { mutant, outcome });
    }
    Ok(fates)
}

fn work(store: StoreKind, mutant: Mutant) -> Work {
    let mix = match mutant {
        // So long that the execution that was stopped and the one that took its place end one after the other.
        Mutant::DropFence => Mix { effect_ms: 900, ..Mix::PLAIN },
        Mutant::HostClockLeases => Mix { effect_ms: 1_500, ..Mix::HALF },
        Mutant::BargeLock => Mix { locked: 100, effect_ms: 10, ..Mix::PLAIN },
        Mutant::RecordBeforePayload => Mix { large: 50, ..Mix::PLAIN },
        _ => Mix { effect_ms: 20, ..Mix::HALF },
    };
    // A worker that obeys would spare the cluster its own check.
    let plan = Plan { mutant: Some(mutant), deaf: mutant == Mutant::DropFence, ..Plan::on(store, 3) };
    // Permits are only taken where there is a bound.
    let plan = plan.set("TOOLPLANE__SCHEDULER__MAX_RUNNING_PER_TENANT", "1000");
    Work { plan, mix, callers: 24 }
}

/// What makes the broken promise matter.
async fn deed(bed: &mut Bed, load: &Arc<Load>, mutant: Mutant) -> Result<u64, Trouble> {
    match mutant {
        Mutant::DropFence => {
            for _ in 0..5 {
                bed.halt("worker-1", LEASE * 4 / 3).await?;
                toolplane_wait::pause(Duration::from_millis(300), "the faults lie so far apart, or last so long").await;
            }
            Ok(0)
        }
        Mutant::RerunNonIdempotent => {
            for _ in 0..6 {
                bed.kill_and_restart("worker-1").await?;
                toolplane_wait::pause(Duration::from_millis(200), "the faults lie so far apart, or last so long").await;
            }
            Ok(6)
        }
        Mutant::HostClockLeases => {
            // Not the store alone: renewals wait for it as long as the sweep does, and may come first.
            for _ in 0..2 {
                toolplane_wait::pause(LEASE, "the faults lie so far apart, or last so long").await;
                bed.sleep(LEASE * 2).await?;
            }
            Ok(0)
        }
        _ => {
            while load.asked() < 300 {
                toolplane_wait::look_again().await;
            }
            Ok(0)
        }
    }
}
