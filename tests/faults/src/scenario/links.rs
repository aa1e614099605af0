//! F24, F25: connections that hang, and connections that are torn down.

use std::time::Duration;

use toolplane_testkit::proxy::Fault;

use super::chance::Chance;
use super::outcome::Outcome;
use super::pauses::no_shrugs;
use super::under_load;
use super::under_load::Work;
use crate::bed::{LEASE, Plan, StoreKind};
use crate::load::Mix;
use crate::trouble::Trouble;

/// How long connections are torn down.
const TEAR: Duration = Duration::from_millis(20);

fn work(store: StoreKind) -> Work {
    let mix = Mix { locked: 30, batches: 0, ..Mix::STORM };
    Work { plan: Plan { links: true, ..Plan::on(store, 3) }, mix, callers: 24 }
}

/// F24: schedulers cannot reach the store, then no other process can reach a scheduler; each for twice a lease.
pub(super) async fn partition(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    under_load(work(store), async |bed, _| {
        for _ in 0..times {
            let from_ms = crate::history::now_ms();
            bed.store_link(Fault::Blackhole);
            toolplane_wait::pause(LEASE * 2, "the faults lie so far apart, or last so long").await;
            // Bytes are missing in what was open: no network gives such a connection back.
            bed.store_link(Fault::Reset);
            toolplane_wait::pause(TEAR, "the faults lie so far apart, or last so long").await;
            bed.store_link(Fault::Pass);
            toolplane_wait::pause(LEASE, "the faults lie so far apart, or last so long").await;
            bed.scheduler_link(0, Fault::Blackhole);
            toolplane_wait::pause(LEASE * 2, "the faults lie so far apart, or last so long").await;
            bed.scheduler_link(0, Fault::Reset);
            toolplane_wait::pause(TEAR, "the faults lie so far apart, or last so long").await;
            bed.scheduler_link(0, Fault::Pass);
            // To the cluster, workers that cannot be heard are lost.
            for worker in bed.worker_names() {
                bed.record_fault(&worker, "partition", from_ms);
            }
            toolplane_wait::pause(LEASE, "the faults lie so far apart, or last so long").await;
        }
        Ok(0)
    })
    .await
}

/// F25: for a while, all connections are reset again and again. Leases outlive connections: nothing ends as unknown.
pub(super) async fn resets(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    let outcome = under_load(work(store), async |bed, _| {
        let mut chance = Chance::new(25);
        for _ in 0..times {
            bed.scheduler_link(chance.below(2), Fault::Reset);
            toolplane_wait::pause(TEAR, "the faults lie so far apart, or last so long").await;
            (0..2).for_each(|number| bed.scheduler_link(number, Fault::Pass));
            bed.store_link(if chance.below(3) == 0 { Fault::Reset } else { Fault::Pass });
            toolplane_wait::pause(TEAR, "the faults lie so far apart, or last so long").await;
            bed.store_link(Fault::Pass);
            toolplane_wait::pause(
                Duration::from_millis(100 + chance.below(200)),
                "the faults lie so far apart, or last so long",
            )
            .await;
        }
        Ok(0)
    })
    .await?;
    Ok(no_shrugs(outcome))
}
