//! `cargo xtask bench`: measurements, always with optimisations.

use std::process::Command;

use crate::command::{self, TaskError};
use crate::programs;

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The bench.
    #[arg(value_enum)]
    bench: Bench,
    /// The store under the cluster.
    #[arg(long, value_enum, default_value_t = Store::Embedded)]
    store: Store,
    /// How long each case runs.
    #[arg(long, default_value_t = 8)]
    seconds: u64,
}

/// The benches there are.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Bench {
    /// The whole way of a call to a tool that does nothing, beside a raw gRPC echo.
    Chain,
}

/// The stores there are.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Store {
    /// The durable store inside the process.
    Embedded,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    let Bench::Chain = args.bench;
    let Store::Embedded = args.store;
    let programs = programs::build(true)?;
    let mut bench = Command::new(programs.join("xtask-cluster"));
    bench
        .current_dir(command::root())
        .args(["bench-chain", "--store", "embedded", "--seconds", &args.seconds.to_string()])
        .arg("--out")
        .arg(command::target().join("bench/chain.json"))
        .env("TOOLPLANE_BIN", programs.join("toolplane"));
    command::run(bench)
}
