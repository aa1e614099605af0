//! `cargo xtask bench chain`: the whole way of a call to a tool that does nothing, by `Invoke` (`chain`) and by `Call` (`call`),
//! beside a raw gRPC echo and beside the bare commits of such a call on the same store.
//!
//! Client and server are processes of their own in all cases, with one connection to each process that is called.

use std::path::PathBuf;
use std::time::Duration;

use toolplane_testkit::Problem;

use super::load::{self, Metered};
use super::meters::Meters;
use super::stores::{StoreName, Stores};
use super::{bare, echo};

mod bed;
mod collector;
mod profile;
mod row;

use bed::{Bed, Way};
use row::{Place, Row, Run};

/// Calls in flight at a time.
const CONCURRENCY: [usize; 3] = [1, 64, 256];
/// The arguments of every call, echoed and invoked alike.
const INPUT: &[u8] = br#"{"text":"what an agent would say, more or less, in one short sentence"}"#;

/// How the bench runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store under the cluster.
    #[arg(long, value_enum, default_value_t = StoreName::Embedded)]
    store: StoreName,
    /// One: all roles in one process. More: so many schedulers and executors, a surface and a permission service, each a
    /// process; callers take the schedulers in turn.
    #[arg(long, default_value_t = 1)]
    schedulers: usize,
    /// Shards of the store, each on a Redis server of its own. Bare commits are made on the first of them.
    #[arg(long, default_value_t = 1)]
    shards: usize,
    /// How long each case runs.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// How often each case runs; the figures are the medians.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// The part of the calls that are traced: from 0, no exporter at all, to 1.
    #[arg(long, default_value_t = 1.0)]
    traced: f64,
    /// Instead of the figures: what the CPU time of a call goes to.
    #[arg(long)]
    profile: bool,
    /// Where the figures go.
    #[arg(long, default_value = "target/bench/chain.json")]
    out: PathBuf,
}

pub(crate) async fn run(args: &Args) -> Result<(), Problem> {
    if args.profile {
        return profile::run(args).await;
    }
    let mut figures = Figures { args, rows: Vec::new() };
    let server = echo::Server::start().await?;
    let meters = Meters::of(vec![server.id()]);
    for concurrency in CONCURRENCY {
        let caller = server.caller();
        let call = move || caller.clone().call(INPUT);
        figures
            .add("echo", concurrency, async |_| load::metered(concurrency, args.time(), &meters, call.clone()).await)
            .await?;
    }
    drop(server);

    let stores = Stores::start(args.store, args.shards).await?;
    let store = stores.open("bare").await?;
    let meters = Meters::alone().above(stores.redis());
    for concurrency in CONCURRENCY {
        let call = async |run| bare::run(&store, (concurrency, run), args.time(), &meters).await;
        figures.add("bare", concurrency, call).await?;
    }
    drop(store);

    let bed = Bed::start(args, &stores).await?;
    let meters = bed.meters();
    for way in [Way::Invoke, Way::Call] {
        for concurrency in CONCURRENCY {
            let callers = bed.callers();
            let call = move || callers.clone().make(way);
            figures
                .add(way.case(), concurrency, async |_| {
                    load::metered(concurrency, args.time(), &meters, call.clone()).await
                })
                .await?;
        }
    }
    row::show(&figures.rows);
    println!("traced: {} of the calls, {} spans received", args.traced, bed.spans());
    super::write(&args.out, &figures.rows)
}

impl Args {
    fn time(&self) -> Duration {
        Duration::from_secs(self.seconds.max(1))
    }
}

/// The rows so far.
struct Figures<'a> {
    args: &'a Args,
    rows: Vec<Row>,
}

impl Figures<'_> {
    /// Runs a case as often as it was asked for and adds the row of its medians. The case is told which run it is.
    async fn add<C>(&mut self, case: &'static str, concurrency: usize, measure: C) -> Result<(), Problem>
    where
        C: AsyncFn(u64) -> Result<Metered, Problem>,
    {
        let mut runs = Vec::new();
        for run in 0..self.args.runs {
            let (measured, used) = measure(run).await?;
            runs.push(Run::of(&measured, &used));
        }
        let store = if case == "echo" { "none" } else { self.args.store.as_str() };
        let of_cluster = matches!(case, "chain" | "call");
        let (schedulers, shards) = if of_cluster { (self.args.schedulers, self.args.shards) } else { (0, 0) };
        let place = Place { case, store, schedulers, shards };
        self.rows.extend(Row::of(place, concurrency, &runs, &self.rows));
        Ok(())
    }
}
