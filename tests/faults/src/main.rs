//! `toolplane-faults`: breaks whole clusters and says what came of it.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

use std::process::ExitCode;

use clap::Parser as _;
use toolplane_faults::program;

#[tokio::main]
async fn main() -> ExitCode {
    match program::run(&program::Args::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("error: {trouble}");
            ExitCode::FAILURE
        }
    }
}
