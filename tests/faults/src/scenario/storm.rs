//! F12: calls of every kind at full load, and processes killed at random.

use std::time::{Duration, Instant};

use super::Outcome;
use super::chance::Chance;
use crate::bed::{Bed, Plan};
use crate::load::{Load, Mix};
use crate::{dump, trouble::Trouble};

/// A storm.
#[derive(Clone, Debug)]
pub struct Storm {
    /// The cluster.
    pub plan: Plan,
    /// Calls in all, at least.
    pub invocations: u64,
    /// Kills in all.
    pub kills: u64,
    /// What is called.
    pub mix: Mix,
    /// Callers at a time.
    pub callers: u64,
    /// Makes the same choices again.
    pub seed: u64,
}

/// Between two kills, at least; they must meet processes that work.
const LULL: Duration = Duration::from_millis(150);
/// A storm that does not come to its end by then is stopped.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Runs a storm to its end and judges it.
pub async fn storm(storm: Storm) -> Result<Outcome, Trouble> {
    let mut bed = Bed::start(storm.plan.clone()).await?;
    let load = Load::new(&bed, "storm", storm.mix, u64::MAX)?;
    let begun = Instant::now();
    let callers = tokio::spawn(load.clone().run(storm.callers));
    let mut chance = Chance::new(storm.seed);
    let mut kills = 0;
    while (kills < storm.kills || load.asked() < storm.invocations) && begun.elapsed() < LONGEST {
        // Kills are spread over the calls, so that both come to their end together.
        let due = storm.kills * load.asked() / storm.invocations.max(1);
        if kills < storm.kills && (kills <= due || load.asked() >= storm.invocations) {
            let victim = victim(&bed, &mut chance);
            bed.kill_and_restart(&victim).await?;
            kills += 1;
        }
        toolplane_wait::pause(
            LULL + Duration::from_millis(chance.below(150)),
            "the faults lie so far apart, or last so long",
        )
        .await;
    }
    load.stop();
    callers.await.map_err(|error| Trouble::Said(error.to_string()))?;
    let (took, asked) = (begun.elapsed(), load.asked());
    let verdict = dump::finish(&mut bed).await?;
    Ok(Outcome { verdict, kills, asked, took, history: bed.recorder().history() })
}

/// Six of ten kills meet workers, three schedulers, and one the store, where it is a process of its own.
fn victim(bed: &Bed, chance: &mut Chance) -> String {
    let store = vec!["store".to_owned()];
    let workers = [bed.worker_names(), bed.executor_names()].concat();
    let among = match chance.below(10) {
        0..=5 => workers,
        9 if bed.has_store_process() => store,
        _ => bed.scheduler_names(),
    };
    chance.pick(&among).cloned().unwrap_or_default()
}
