//! Runs one seed and tells what came of it: `cargo run -p toolplane-simulation --example seed -- SEED [trace]`.

use toolplane_simulation::{Settings, run};

fn main() {
    let mut args = std::env::args().skip(1);
    let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let keep_trace = args.next().is_some();
    let report = run(Settings { keep_trace, ..Settings::of(seed) });
    print!("{}", report.trace);
    println!(
        "seed {seed}: {} accepted, {} deaths, {} executions, hash {:016x}, broken: {:?}",
        report.accepted, report.deaths, report.executions, report.hash, report.broken
    );
}
