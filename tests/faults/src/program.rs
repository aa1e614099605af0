//! The command line: which parts of the test plan to run, how large, on which stores.

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use toolplane_faultpoint::Mutant;

use crate::bed::{Plan, StoreKind};
use crate::load::Mix;
use crate::report::Report;
use crate::scenario::points::kill_points;
use crate::scenario::storm::{Storm, storm};
use crate::scenario::{CASES, Outcome, executor_points, killed, mutants, servers};
use crate::trouble::Trouble;

/// What to run.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "toolplane-faults")]
pub struct Args {
    /// The large plan: every case, every mutant, and a storm of 100,000 calls with 200 kills.
    #[arg(long)]
    pub full: bool,
    /// Only these parts: `points`, `executor`, `servers`, `storm`, `mutants`, or cases such as `F13`.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Calls of each storm.
    #[arg(long)]
    pub invocations: Option<u64>,
    /// Kills of each storm.
    #[arg(long)]
    pub kills: Option<u64>,
    /// Only on this store.
    #[arg(long)]
    pub store: Option<OnStore>,
    /// Shards of the Redis store.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub shards: u8,
    /// Makes the random choices of another run again.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where the report goes.
    #[arg(long, default_value = "target/faults/report.json")]
    pub report: PathBuf,
}

/// A store by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnStore {
    /// Inside the scheduler.
    Embedded,
    /// A Redis server.
    Redis,
}

impl OnStore {
    fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Redis => "redis",
        }
    }

    fn kind(self, shards: u8) -> StoreKind {
        match (self, shards) {
            (Self::Embedded, _) => StoreKind::Embedded,
            (Self::Redis, 1) => StoreKind::Redis,
            (Self::Redis, several) => StoreKind::Shards(several.into()),
        }
    }
}

/// Parts beside the cases.
const PARTS: [&str; 5] = ["points", "executor", "servers", "storm", "mutants"];

/// Refuses parts that do not exist: a run of nothing is green.
fn known(only: &[String]) -> Result<(), Trouble> {
    let is = |part: &str, name: &str| part.eq_ignore_ascii_case(name);
    let exists = |part: &str| PARTS.iter().any(|name| is(part, name)) || CASES.iter().any(|case| is(part, case.id));
    match only.iter().find(|part| !exists(part)) {
        None => Ok(()),
        Some(part) => Err(Trouble::Said(format!("--only: there is no part `{part}`"))),
    }
}

/// Runs the parts; whether all of them were green.
pub async fn run(args: &Args) -> Result<bool, Trouble> {
    known(&args.only)?;
    let begun = Instant::now();
    let mut report = Report::default();
    let stores = args.store.map_or(vec![OnStore::Redis, OnStore::Embedded], |store| vec![store]);
    for (number, store) in stores.iter().enumerate() {
        on_store(args, *store, number == 0, &mut report).await?;
    }
    report.write(&args.report)?;
    println!("{} ({:.0} s; {})", report.line(), begun.elapsed().as_secs_f64(), args.report.display());
    Ok(report.is_green())
}

async fn on_store(args: &Args, store: OnStore, first: bool, report: &mut Report) -> Result<(), Trouble> {
    let (name, kind) = (store.name(), store.kind(args.shards));
    let wanted = |part: &str| args.only.is_empty() || args.only.iter().any(|only| only.eq_ignore_ascii_case(part));
    let hits = if args.full { 10 } else { 1 };
    if wanted("points") {
        let begun = Instant::now();
        report.add("F1-F11", name, kill_points(kind, hits, &[]).await.map(counted), begun.elapsed());
    }
    if wanted("executor") {
        let begun = Instant::now();
        report.add("executor", name, executor_points(kind, hits).await.map(counted), begun.elapsed());
    }
    if wanted("servers") {
        let begun = Instant::now();
        let (calls, kills) = if args.full { (2_000, 50) } else { (400, 10) };
        let outcome = servers(kind, args.invocations.unwrap_or(calls), args.kills.unwrap_or(kills), args.seed).await;
        report.add("servers", name, outcome, begun.elapsed());
    }
    if wanted("storm") {
        let begun = Instant::now();
        let outcome = storm(the_storm(args, kind)).await;
        report.add("F12", name, outcome, begun.elapsed());
    }
    // What does not depend on the store is tried on one of them, the first.
    let cases = if args.full || !args.only.is_empty() { CASES } else { &[] };
    for case in cases {
        let here = if case.shared_only { kind.is_shared() } else { first };
        if here && wanted(case.id) {
            println!("{} {}", case.id, case.what);
            let begun = Instant::now();
            report.add(case.id, name, (case.run)(kind).await, begun.elapsed());
        }
    }
    if first && wanted("mutants") && (args.full || !args.only.is_empty()) {
        for mutant in Mutant::ALL {
            for fate in mutants(kind, Some(mutant)).await? {
                let noticed = format!("{:?}", fate.outcome.verdict.red_checks());
                report.mutant(mutant.name(), killed(&fate), &noticed);
            }
        }
    }
    Ok(())
}

fn counted((verdict, kills): (crate::check::Verdict, u64)) -> Outcome {
    Outcome { verdict, kills, ..Outcome::default() }
}

/// The storm: as large on each store.
fn the_storm(args: &Args, kind: StoreKind) -> Storm {
    let (invocations, kills) = if args.full { (100_000, 200) } else { (2_500, 20) };
    Storm {
        plan: Plan::on(kind, 4),
        invocations: args.invocations.unwrap_or(invocations),
        kills: args.kills.unwrap_or(kills),
        mix: Mix::STORM,
        callers: 48,
        seed: args.seed,
    }
}
