//! A worker for fault tests, written against the public worker protocol only: what its tools do is in a ledger on disk.

use std::process::ExitCode;

use clap::Parser as _;
use toolplane_faults::worker;

fn main() -> ExitCode {
    match worker::main(&worker::Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("ledger-worker: {trouble}");
            ExitCode::FAILURE
        }
    }
}
