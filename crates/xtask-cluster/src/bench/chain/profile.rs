//! `cargo xtask bench chain --profile`: what the CPU time of a call goes to, by the layers of the programs that answer it.
//!
//! `perf` looks at them a thousand times a second of CPU, while calls are made. It keeps the top
//! of each stack, from which the callers are found by what the program says of its frames; a function that the compiler put into
//! another one counts as that one. A profile needs no other programs than the figures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tokio::process::Command;
use toolplane_testkit::Problem;

use super::Args;
use super::bed::{Bed, Way};
use crate::bench::load::{self, Metered};
use crate::bench::stores::Stores;

mod layers;
mod stacks;

use layers::{LAYERS, Layer};
use stacks::Counts;

/// Calls in flight.
const CONCURRENCY: usize = 64;
/// Samples a second of CPU; not a round number, so that nothing that happens regularly is always met.
const FREQUENCY: &str = "997";
/// So many bytes of a stack hold the callers up to the layer that counts.
const STACKS: &str = "dwarf,8192";
/// How many of the functions without a layer are shown.
const UNKNOWN: usize = 8;

/// What a call costs, by layers.
#[derive(Clone, Debug, Serialize)]
struct Profile {
    case: &'static str,
    store: &'static str,
    schedulers: usize,
    concurrency: usize,
    samples: u64,
    calls_per_s: f64,
    /// CPU of the processes that answer, for each call.
    server_cpu_us: f64,
    layers: Vec<Part>,
    /// Functions that belong to no layer, with their part of the time; those that cost most.
    unknown: Vec<(String, f64)>,
}

/// The part of one layer, in microseconds of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Part {
    layer: &'static str,
    /// In its own functions.
    by_function_us: f64,
    /// Where it is the nearest layer that called them, its own included; nothing of layers that work for others.
    by_caller_us: f64,
}

/// Starts a cluster, calls it while `perf` looks at it, prints and writes where the time went.
pub(super) async fn run(args: &Args) -> Result<(), Problem> {
    let stores = Stores::start(args.store, args.shards).await?;
    let bed = Bed::start(args, &stores).await?;
    let (callers, meters) = (bed.callers(), bed.meters());
    let record = crate::bench::folder("perf")?.join("perf.data");
    let mut profiles = Vec::new();
    for way in [Way::Invoke, Way::Call] {
        let callers = callers.clone();
        let (metered, ()) = tokio::try_join!(
            load::metered(CONCURRENCY, args.time(), &meters, move || callers.clone().make(way)),
            recorded(&meters.server, args.time(), &record),
        )?;
        let counts = Counts::of(stacks::samples(&script(&record).await?));
        let profile = Profile::new(args, way, &metered, &counts)?;
        profile.show();
        profiles.push(profile);
    }
    drop(bed);
    crate::bench::write(&args.out, &profiles)
}

/// Records these processes for a time that begins when calls are measured.
async fn recorded(processes: &[u32], time: Duration, record: &PathBuf) -> Result<(), Problem> {
    tokio::time::sleep(load::WARM_UP).await;
    let processes = processes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let mut perf = Command::new("perf");
    // A clock instead of counters of the processor, which virtual machines often do not have.
    perf.args([
        "record",
        "--quiet",
        "--event",
        "cpu-clock",
        "--freq",
        FREQUENCY,
        "--call-graph",
        STACKS,
        "--pid",
        &processes,
    ]);
    perf.arg("--output").arg(record).arg("--").args(["sleep", &time.as_secs().to_string()]);
    output(perf).await.map(drop)
}

/// The record as text.
async fn script(record: &Path) -> Result<String, Problem> {
    let mut perf = Command::new("perf");
    perf.args(["script", "--no-inline", "--fields", "comm,tid,ip,sym,dso", "--input"]).arg(record);
    output(perf).await
}

/// What a program printed. Fails with its errors when it cannot be started or fails.
async fn output(mut command: Command) -> Result<String, Problem> {
    let said = match command.kill_on_drop(true).output().await {
        Ok(output) if output.status.success() => return Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => format!("{error}; it belongs to the package `linux-perf` (Debian) or `linux-tools` (Ubuntu)"),
    };
    Err(Problem::Program { what: "running `perf`".to_owned(), said })
}

impl Profile {
    fn new(args: &Args, way: Way, (measured, used): &Metered, counts: &Counts) -> Result<Self, Problem> {
        if counts.samples == 0 {
            return Err(Problem::Missing("samples of `perf`; it saw none".to_owned()));
        }
        let us = |samples: u64| tenths(samples as f64 / counts.samples as f64 * used.server.cpu_us);
        let mut unknown: Vec<_> =
            counts.unknown.iter().map(|(symbol, samples)| (symbol.clone(), us(*samples))).collect();
        unknown.sort_by(|one, other| other.1.total_cmp(&one.1));
        unknown.truncate(UNKNOWN);
        Ok(Self {
            case: way.case(),
            store: args.store.as_str(),
            schedulers: args.schedulers,
            concurrency: CONCURRENCY,
            samples: counts.samples,
            calls_per_s: tenths(measured.per_second()),
            server_cpu_us: tenths(used.server.cpu_us),
            layers: parts(counts, us),
            unknown,
        })
    }

    fn show(&self) {
        let Self { case, store, samples, calls_per_s, server_cpu_us, concurrency, .. } = self;
        println!(
            "\n`{case}`, {concurrency} calls in flight on the store `{store}`: {calls_per_s} calls/s, {server_cpu_us} us CPU of a call"
        );
        println!("{samples} samples; where the time of a call goes, in us:\n");
        println!("layer                       by function          by the layer that called");
        let percent = |us: f64| us / server_cpu_us.max(f64::MIN_POSITIVE) * 100.0;
        for Part { layer, by_function_us: own, by_caller_us: called } in &self.layers {
            let (own_percent, called_percent) = (percent(*own), percent(*called));
            println!("{layer:<26} {own:>8.1} {own_percent:>5.1} %      {called:>12.1} {called_percent:>5.1} %");
        }
        println!("\nfunctions of no layer that cost most:");
        for (symbol, us) in &self.unknown {
            println!("{us:>8.1}  {symbol}");
        }
    }
}

/// The part of every layer that has one.
fn parts(counts: &Counts, us: impl Fn(u64) -> f64) -> Vec<Part> {
    let of = |samples: &BTreeMap<Layer, u64>, layer| us(samples.get(&layer).copied().unwrap_or_default());
    let parts = LAYERS.iter().map(|(layer, name, _)| Part {
        layer: name,
        by_function_us: of(&counts.by_function, *layer),
        by_caller_us: of(&counts.by_caller, *layer),
    });
    parts.filter(|part| part.by_function_us > 0.0 || part.by_caller_us > 0.0).collect()
}

fn tenths(figure: f64) -> f64 {
    (figure * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_shares_of_the_time_of_a_call() {
        let mut counts = Counts { samples: 4, ..Counts::default() };
        counts.by_function = [(Layer::Allocator, 3), (Layer::Scheduler, 1)].into();
        counts.by_caller = [(Layer::Scheduler, 4)].into();
        let part = |layer, by_function_us, by_caller_us| Part { layer, by_function_us, by_caller_us };
        let parts = parts(&counts, |samples| samples as f64 * 100.0);
        assert_eq!(parts, [part("scheduler", 100.0, 400.0), part("allocator", 300.0, 0.0)]);
    }
}
