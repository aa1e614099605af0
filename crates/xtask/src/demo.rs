//! `cargo xtask demo`: one job from declaration to trace, on a real cluster.

use std::process::Command;
use std::time::Instant;

use crate::command::{self, TaskError};
use crate::needs;
use crate::programs::{self, Build};

/// How the demo runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Build with optimisations; slower to build.
    #[arg(long)]
    release: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    let started = Instant::now();
    println!("building the cluster ...");
    let programs = programs::build(Build::of(args.release))?;
    println!("built in {:.1} s", started.elapsed().as_secs_f64());
    needs::bubblewrap();
    let mut demo = Command::new(programs.join("xtask-cluster"));
    demo.current_dir(command::root()).arg("demo").env("TOOLPLANE_BIN", programs.join("toolplane"));
    command::run(demo)
}
