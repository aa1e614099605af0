//! The heavy half of `cargo xtask`: commands that drive a real cluster. `xtask` builds and starts this program.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

use std::alloc::System;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use toolplane_allocations::Counting;

mod bench;
mod cluster;
mod demo;
mod redis;

/// Counted like the programs it compares with; the system's allocator, as in an agent of somebody else.
#[global_allocator]
static ALLOCATOR: Counting<System> = Counting(System);

#[derive(Debug, Parser)]
#[command(name = "xtask-cluster", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One job from declaration to trace.
    Demo(demo::Args),
    /// The whole way of a call, beside a raw gRPC echo.
    BenchChain(bench::chain::Args),
    /// Permission decisions, inside a process and over gRPC.
    BenchDecide(bench::decide::Args),
    /// The same calls through every way in.
    BenchDoors(bench::doors::Args),
    /// What a cluster costs as it grows.
    BenchGrowth(bench::growth::Args),
    /// Calls of a tool of an MCP server, beside the same server called directly and through a proxy.
    BenchMcp(bench::mcp::Args),
    /// A cluster of many processes that outlives the command.
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// The echo the bench compares with, as a process of its own.
    #[command(hide = true)]
    EchoServer {
        /// The port to listen on.
        port: u16,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args).await,
        Command::BenchChain(args) => bench::chain::run(&args).await,
        Command::BenchDecide(args) => bench::decide::run(&args).await,
        Command::BenchDoors(args) => bench::doors::run(&args).await,
        Command::BenchGrowth(args) => bench::growth::run(&args).await,
        Command::BenchMcp(args) => bench::mcp::run(&args).await,
        Command::Cluster(command) => cluster::run(command).await,
        Command::EchoServer { port } => bench::serve_echo(port).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
