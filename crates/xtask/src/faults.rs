//! `cargo xtask faults`: processes killed, paused and cut off under load, and a checker that judges what is left.

use std::path::PathBuf;
use std::process::Command;

use crate::command::{self, TaskError};
use crate::needs;
use crate::programs::{self, Build};

/// How the faults are run. What follows `--` goes to the harness as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Every fault at full size, and every mutant; otherwise the short run that is part of the tests.
    #[arg(long)]
    full: bool,
    /// Where the report goes; `target/faults/report.json` when absent.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Further arguments of the harness.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    needs::bubblewrap();
    needs::redis()?;
    if args.full {
        // The long comparisons of each store with the model, which the usual test run leaves out.
        let packages = ["toolplane-store-embedded", "toolplane-store-redis"];
        let arguments =
            ["test", "--package", packages[0], "--package", packages[1], "--test", "store", "--", "--ignored"];
        command::run(command::cargo(&arguments))?;
    }
    // Fault points and mutants exist in builds with debug assertions only.
    let how = if args.full { Build::Faults } else { Build::Development };
    // Both programs of the harness: it looks for its worker beside itself.
    let programs = programs::build_with(how, &["toolplane-faults"])?;
    let report = args.report.clone().unwrap_or_else(|| command::target().join("faults/report.json"));
    let mut harness = Command::new(programs.join("toolplane-faults"));
    harness.args(args.full.then_some("--full")).arg("--report").arg(report).args(&args.rest);
    harness.env("TOOLPLANE_BIN", programs.join("toolplane"));
    command::run(harness)
}
