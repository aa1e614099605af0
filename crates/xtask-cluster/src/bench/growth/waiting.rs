//! Calls that wait: what each takes, what a claim costs beside them, and how long the process is away when it is killed.
//!
//! A claim is what a worker sees of it: from its report that a call is done to the next call.

use std::time::{Duration, Instant};

use toolplane_testkit::Problem;

use super::Args;
use super::bed::{self, Bed};
use super::figures::Figures;
use super::hand::Hand;
use crate::bench::load::Measured;
use crate::bench::stores;

/// Claims that are measured, one at a time.
const CLAIMS: u64 = 2_000;
/// Calls that are submitted at a time.
const AT_A_TIME: u64 = 128;
/// The store is looked at once its use has been the same for so long: longer than a checkpoint waits, and than Redis remembers who
/// made a commit, which is no part of a call.
const QUIET: Duration = Duration::from_secs(17);
/// And not later than this.
const LATEST: Duration = Duration::from_secs(60);

/// Bytes a waiting call may take.
const BYTES: f64 = 2_048.0;
/// How much slower a claim may be.
const TIMES: f64 = 2.0;
/// Seconds until a killed process serves again.
const AWAY: f64 = 10.0;

pub(super) async fn run(args: &Args, figures: &mut Figures) -> Result<(), Problem> {
    let mut bed = Bed::start(args.store, "calls").await?;
    let mut hand = Hand::connect(&bed.cluster).await?;
    bed.submit(CLAIMS + 1, AT_A_TIME).await?;
    hand.hold().await?;
    let few = claims(&mut hand).await?;
    let alone = bed.calls_beside().await?;

    let before = held(&mut bed).await?;
    let end_per_s = fill(&bed, args.calls).await?;
    let after = held(&mut bed).await?;
    let each = |(after, before): (u64, u64)| after.saturating_sub(before) as f64 / args.calls.max(1) as f64;
    let calls = args.calls;
    figures.add(format!("{calls} calls wait: accepted at the end"), end_per_s, "calls/s");
    let stored = if bed.stores.redis().is_empty() { "disk for each" } else { "memory of Redis for each" };
    figures.bounded(format!("{calls} calls wait: {stored}"), each((after.stored, before.stored)), "bytes", BYTES);
    let memory = each((after.memory, before.memory));
    figures.bounded(format!("{calls} calls wait: memory of the process for each"), memory, "bytes", BYTES);

    let many = claims(&mut hand).await?;
    let beside = bed.calls_beside().await?;
    let mut both = |what: &str, few: &Measured, many: &Measured| {
        figures.add(format!("{what} p50, hardly any call waits"), few.percentile(50) as f64, "us");
        figures.add(format!("{what} p50, {calls} wait"), many.percentile(50) as f64, "us");
        figures.add(format!("{what} p99, hardly any call waits"), few.percentile(99) as f64, "us");
        figures.add(format!("{what} p99, {calls} wait"), many.percentile(99) as f64, "us");
    };
    both("a claim,", &few, &many);
    both("a call beside,", &alone, &beside);
    let times = many.percentile(99) as f64 / few.percentile(99).max(1) as f64;
    figures.bounded(format!("a claim, p99, {calls} wait to hardly any"), times, "times", TIMES);
    restart(&mut bed, calls, figures).await
}

/// What the store and the process hold.
struct Held {
    stored: u64,
    memory: u64,
}

/// Looks at it once the store has come to rest.
async fn held(bed: &mut Bed) -> Result<Held, Problem> {
    let start = Instant::now();
    let (mut since, mut stored) = (start, stored_bytes(bed)?);
    while since.elapsed() < QUIET && start.elapsed() < LATEST {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = stored_bytes(bed)?;
        if now.abs_diff(stored) > stored / 1_000 {
            (since, stored) = (Instant::now(), now);
        }
    }
    Ok(Held { stored: stored_bytes(bed)?, memory: bed.memory()? })
}

/// Memory of the Redis server, or everything in the folder of the process.
fn stored_bytes(bed: &Bed) -> Result<u64, Problem> {
    match bed.stores.redis_bytes()? {
        Some(bytes) => Ok(bytes),
        None => stores::disk(&bed.cluster.data_dir()),
    }
}

/// Submits so many calls; how many were accepted in a second while the last tenth came.
async fn fill(bed: &Bed, calls: u64) -> Result<f64, Problem> {
    let last = calls / 10;
    bed.submit(calls - last, AT_A_TIME).await?;
    let begin = Instant::now();
    bed.submit(last, AT_A_TIME).await?;
    Ok(last as f64 / begin.elapsed().as_secs_f64())
}

async fn claims(hand: &mut Hand) -> Result<Measured, Problem> {
    let begin = Instant::now();
    let mut times = Vec::new();
    for _ in 0..CLAIMS {
        let said = hand.finish().await?;
        hand.hold().await?;
        times.push(said.elapsed());
    }
    Ok(Measured::of(times, begin.elapsed()))
}

/// Kills the process and waits until it has answered a call, and until it has handed out one that waits.
async fn restart(bed: &mut Bed, calls: u64, figures: &mut Figures) -> Result<(), Problem> {
    bed.cluster.kill();
    let killed = Instant::now();
    bed.cluster.start_again().await?;
    bed::noop(bed.cluster.clients(), &bed.surface_id).await?;
    let what = format!("{calls} calls wait: killed (-9) and a call answered again after");
    figures.bounded(what, killed.elapsed().as_secs_f64(), "s", AWAY);
    let mut hand = Hand::connect(&bed.cluster).await?;
    hand.hold().await?;
    let what = format!("{calls} calls wait: killed (-9) and the next of them handed out after");
    figures.bounded(what, killed.elapsed().as_secs_f64(), "s", AWAY);
    Ok(())
}
