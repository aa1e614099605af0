//! A cluster at work, something done to it, and the judgement.

use std::sync::Arc;
use std::time::Instant;

use super::outcome::Outcome;
use crate::bed::{Bed, Plan};
use crate::dump;
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

/// How a cluster is kept at work.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// The cluster.
    pub(crate) plan: Plan,
    /// What is called.
    pub(crate) mix: Mix,
    /// Callers at a time.
    pub(crate) callers: u64,
}

/// Starts a cluster, keeps it at work while `deed` is done to it, and judges.
pub(crate) async fn under_load(
    work: Work,
    deed: impl AsyncFnOnce(&mut Bed, &Arc<Load>) -> Result<u64, Trouble>,
) -> Result<Outcome, Trouble> {
    let mut bed = Bed::start(work.plan).await?;
    let load = Load::new(&bed, "load", work.mix, u64::MAX)?;
    let begun = Instant::now();
    let callers = tokio::spawn(load.clone().run(work.callers));
    let done = deed(&mut bed, &load).await;
    load.stop();
    callers.await.map_err(|error| Trouble::Said(error.to_string()))?;
    let kills = done?;
    let took = begun.elapsed();
    let verdict = dump::finish(&mut bed).await?;
    Ok(Outcome { verdict, kills, asked: load.asked(), took, history: bed.recorder().history() })
}
