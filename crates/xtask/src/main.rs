//! What people type in this repository: `cargo xtask <command>`.
//!
//! It stays light, because every command pays for building it: work that needs heavy libraries runs as a program of its own.

mod command;
mod generate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Tasks of the Toolplane repository", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Write the generated files anew: code and descriptors from proto/, the schema of the configuration
    Gen,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Gen => generate::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
