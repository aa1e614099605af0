//! `cargo xtask bench queue`: what a claim costs when a million calls wait, beside a claim when hardly any do, and what
//! a waiting call takes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use toolplane_store::{ScoreRange, Store};
use toolplane_testkit::Problem;

use super::commits;
use super::stores::{self, StoreName, Stores};

/// Claims that are measured, one at a time.
const CLAIMS: u64 = 2_000;
/// Commits in flight while the queue is filled.
const FILLERS: u64 = 128;

/// How the bench runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store.
    #[arg(long, value_enum, default_value_t = StoreName::Redis)]
    store: StoreName,
    /// Calls that wait.
    #[arg(long, default_value_t = 1_000_000)]
    records: u64,
    /// Where the figures go.
    #[arg(long, default_value = "target/bench/queue.json")]
    out: PathBuf,
}

/// The figures.
#[derive(Clone, Debug, Serialize)]
struct Figures {
    store: &'static str,
    records: u64,
    /// Memory of the server or disk, whole and for each waiting call.
    bytes: u64,
    bytes_per_record: f64,
    accepted_per_s: f64,
    /// Claims while hardly any call waits, and while all do.
    short_p50_us: u64,
    short_p99_us: u64,
    long_p50_us: u64,
    long_p99_us: u64,
    p99_ratio: f64,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    let stores = Stores::start(args.store, 1).await?;
    let store = stores.open("queue").await?;
    fill(&store, 0, CLAIMS).await?;
    let short = claims(&store).await?;

    let before = stores.bytes()?;
    let begin = Instant::now();
    fill(&store, CLAIMS, args.records).await?;
    let accepted_per_s = args.records as f64 / begin.elapsed().as_secs_f64();
    let bytes = stores.bytes()?.saturating_sub(before);
    let long = claims(&store).await?;

    let figures = Figures {
        store: args.store.as_str(),
        records: args.records,
        bytes,
        bytes_per_record: (bytes as f64 / args.records as f64).round(),
        accepted_per_s: accepted_per_s.round(),
        short_p50_us: short.0,
        short_p99_us: short.1,
        long_p50_us: long.0,
        long_p99_us: long.1,
        p99_ratio: (long.1 as f64 / short.1 as f64 * 100.0).round() / 100.0,
    };
    show(&figures);
    super::write(&args.out, &figures)
}

/// Accepts `count` calls that wait, from the number `first` on.
async fn fill(store: &Arc<dyn Store>, first: u64, count: u64) -> Result<(), Problem> {
    let fillers: Vec<_> = (0..FILLERS)
        .map(|filler| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                for number in (first + filler..first + count).step_by(FILLERS as usize) {
                    stores::apply(&*store, commits::queue(number)).await?;
                }
                Ok::<_, Problem>(())
            })
        })
        .collect();
    for filler in fillers {
        filler.await.map_err(|error| Problem::Missing(format!("a filler that ends: {error}")))??;
    }
    Ok(())
}

/// The median and the 99th percentile of single claims in microseconds, from looking at the queue to the durable lease.
async fn claims(store: &Arc<dyn Store>) -> Result<(u64, u64), Problem> {
    let mut times = Vec::new();
    for _ in 0..CLAIMS {
        let begin = Instant::now();
        claim(&**store).await?;
        times.push(u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    times.sort_unstable();
    let at = |percent: usize| times[times.len() * percent / 100];
    Ok((at(50), at(99)))
}

async fn claim(store: &dyn Store) -> Result<(), Problem> {
    let failed = |error| stores::failed(&error);
    let first = store.scan(commits::QUEUE, ScoreRange::all(), 1).await.map_err(failed)?;
    let Some(first) = first.into_iter().next() else {
        return Err(Problem::Missing("a call that waits".to_owned()));
    };
    let record = store.get(&commits::key(&first.member)).await.map_err(failed)?;
    let record = record.ok_or_else(|| Problem::Missing("the record of a call that waits".to_owned()))?;
    let now = store.now().await.map_err(failed)?.as_millis().unsigned_abs();
    stores::apply(store, commits::claim(&first.member, record.version, now)).await
}

fn show(figures: &Figures) {
    println!("{} calls wait in the store `{}`", figures.records, figures.store);
    println!("  accepted                       {:>9.0} a second", figures.accepted_per_s);
    println!("  a waiting call takes           {:>9.0} bytes", figures.bytes_per_record);
    println!("  claim, {CLAIMS} waiting  p50 {:>6} us   p99 {:>6} us", figures.short_p50_us, figures.short_p99_us);
    println!("  claim, all waiting   p50 {:>6} us   p99 {:>6} us", figures.long_p50_us, figures.long_p99_us);
    println!("  p99 of all to few              {:>9.2}", figures.p99_ratio);
}
