//! `toolplane-faults`: breaks whole clusters and says what came of it.

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
