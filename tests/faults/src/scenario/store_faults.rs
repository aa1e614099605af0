//! F18, F23, F42: a store that dies, swallows answers, or is full.

use std::time::{Duration, Instant};

use toolplane_testkit::proxy::Fault;

use super::outcome::Outcome;
use super::under_load;
use super::under_load::Work;
use crate::bed::{Plan, StoreKind};
use crate::check::Check;
use crate::load::Mix;
use crate::trouble::Trouble;

/// What every command that changes something begins with on the wire.
const CHANGES: [&[u8]; 2] = [b"EVALSHA", b"FCALL"];

fn work(store: StoreKind) -> Work {
    Work { plan: Plan { links: true, ..Plan::on(store, 3) }, mix: Mix::STORM, callers: 24 }
}

/// F18: the store is killed under load, `times` times; it flushes every write, so nothing it acknowledged is lost.
pub(super) async fn killed(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    under_load(work(store), async |bed, _| {
        let victim = if bed.has_store_process() { "store" } else { "scheduler-1" };
        for _ in 0..times {
            toolplane_wait::pause(Duration::from_millis(300), "the faults lie so far apart, or last so long").await;
            bed.kill_and_restart(victim).await?;
        }
        Ok(u64::from(times))
    })
    .await
}

/// F23: changes are applied and their answers vanish.
pub(super) async fn swallowed(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    let mut swallowed = 0;
    let mut outcome = under_load(work(store), async |bed, _| {
        for round in 0..times {
            let pattern = CHANGES[usize::try_from(round).unwrap_or_default() % CHANGES.len()];
            bed.store_link(Fault::SwallowReply(pattern.to_vec()));
            toolplane_wait::pause(Duration::from_millis(60), "the faults lie so far apart, or last so long").await;
        }
        bed.store_link(Fault::Pass);
        swallowed = bed.swallowed();
        Ok(0)
    })
    .await?;
    outcome.expect(swallowed > 0, Check::C9, || "no answer was swallowed".to_owned());
    Ok(outcome)
}

/// F42: no memory is left. New calls are refused, those that were accepted end.
pub(super) async fn full(store: StoreKind) -> Result<Outcome, Trouble> {
    let mut ended = false;
    let mut outcome = under_load(work(store), async |bed, load| {
        toolplane_wait::pause(Duration::from_secs(1), "the faults lie so far apart, or last so long").await;
        bed.redis()?.config_set("maxmemory", "1mb")?;
        let (start, before) = (Instant::now(), load.asked());
        while start.elapsed() < Duration::from_secs(3) {
            toolplane_wait::look_again().await;
        }
        ended = load.asked() < before + 1_000;
        bed.redis()?.config_set("maxmemory", "0")?;
        Ok(0)
    })
    .await?;
    outcome.expect(ended, Check::C12, || "calls were accepted by a store without memory".to_owned());
    Ok(outcome)
}
