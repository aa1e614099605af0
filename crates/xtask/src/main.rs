//! What people type in this repository: `cargo xtask <command>`.
//!
//! It stays light, because every command pays for building it: work that needs heavy libraries runs as a program of its own,
//! `xtask-cluster`, which is built together with the cluster, in one go and visibly.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod check;
mod clouds;
mod cluster;
mod command;
mod demo;
mod faults;
mod fuzz;
mod generate;
mod models;
mod needs;
mod programs;
mod sdk;
mod test;
mod tidy;
mod traces;

/// Demo, tests, clusters, faults, benches, generated files and house checks of Toolplane.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build and start a cluster, and run one job from declaration to trace.
    Demo(demo::Args),
    /// Install or find what tests need, then run every test.
    Test(test::Args),
    /// Start, look at, hurt and stop a cluster of many processes.
    #[command(subcommand)]
    Cluster(cluster::Action),
    /// Kill, pause and cut off processes under load, and judge what is left.
    Faults(faults::Args),
    /// Ask real servers of S3 and Azure Blob Storage what is asked of every object store.
    Clouds,
    /// Ask a real store of traces what it got of a call.
    Traces,
    /// Check and test what is built with embedding models only.
    Models,
    /// Try every reader of foreign bytes with mutated and made-up ones.
    Fuzz(fuzz::Args),
    /// Measure; results also go to `target/bench/`.
    Bench(bench::Args),
    /// Write the generated code of the packages for other languages, and build them into `target/sdk/`.
    Sdk(sdk::Args),
    /// Write the generated files: Rust code and descriptors of the protos, JSON schemas.
    Gen,
    /// Everything that can be said of the code without running it: format, lints, documentation, dependencies, house rules.
    Check(check::Args),
    /// Check only the rules of the project.
    Tidy(tidy::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Cluster(action) => cluster::run(&action),
        Command::Faults(args) => faults::run(&args),
        Command::Clouds => clouds::run(),
        Command::Traces => traces::run(),
        Command::Models => models::run(),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Sdk(args) => sdk::run(&args),
        Command::Gen => generate::run(),
        Command::Check(args) => check::run(&args),
        Command::Tidy(args) => tidy::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
