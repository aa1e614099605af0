//! `cargo xtask test`: everything that can be tested, and one line that says how it went.

use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::process::{Command, Stdio};

use crate::command::{self, TaskError};
use crate::{check, clouds, needs};

mod coverage;
mod totals;

use totals::Totals;

/// What is run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only install what the tests need.
    #[arg(long)]
    prepare: bool,
    /// Only tests whose name holds this.
    filter: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    needs::bubblewrap();
    needs::redis()?;
    needs::python()?;
    needs::node()?;
    needs::go();
    needs::java();
    needs::typescript()?;
    needs::mcp()?;
    needs::prometheus();
    if args.prepare {
        return Ok(());
    }
    // Told first and judged last: an author who has to mend a file also wants to know which tests fail.
    let checked = if args.filter.is_none() { check::before_tests() } else { Ok(()) };
    // Beside the tests: what these need of libraries would be built once more for programs alone.
    command::run(command::cargo(&["build", "--workspace", "--bins", "--tests", "--examples"]))?;
    let mut totals = Totals::default();
    coverage::forget();
    let nextest = command::works("cargo", &["nextest", "--version"]);
    let mut tests = command::cargo(match nextest {
        true => &["nextest", "run", "--config-file", "tests/nextest.toml", "--workspace", "--no-fail-fast"],
        false => &["test", "--workspace", "--no-fail-fast"],
    });
    let ended_well = counted(tests.args(&args.filter), &mut totals)?;
    // Examples in the documentation; `cargo test` above has run them already.
    let mut documented = true;
    if nextest && args.filter.is_none() {
        let mut examples = command::cargo(&["test", "--workspace", "--doc", "--no-fail-fast", "--quiet"]);
        documented = counted(&mut examples, &mut totals)?;
    }
    // Where a cloud's server cannot be installed, that is told like any test that fails.
    let clouds = if args.filter.is_none() { clouds::run() } else { Ok(()) };
    if let Err(error) = &clouds {
        eprintln!("{error}");
    }
    println!("\n{} passed, {} failed", totals.passed, totals.failed);
    // A part of the tests shows a part.
    let shown = if args.filter.is_none() { coverage::tell() } else { Ok(()) };
    if ended_well && documented && clouds.is_ok() && totals.failed == 0 {
        return checked.and(shown);
    }
    if let Err(error) = shown {
        eprintln!("{error}");
    }
    if let Err(error) = checked {
        eprintln!("{error}");
    }
    Err(TaskError::Answer("not every test passed".to_owned()))
}

/// Runs tests, shows their output as it comes and counts; true when the program ended well.
fn counted(runner: &mut Command, totals: &mut Totals) -> Result<bool, TaskError> {
    let programs = command::target().join("debug");
    runner.env("TOOLPLANE_BIN", programs.join("toolplane")).stdout(Stdio::piped()).stderr(Stdio::piped());
    if std::io::stderr().is_terminal() {
        runner.env("CARGO_TERM_COLOR", "always");
    }
    let program = command::shown(runner);
    let mut child = runner.spawn().map_err(|source| TaskError::Start { program: program.clone(), source })?;
    let errors = child.stderr.take().map(|stderr| {
        std::thread::spawn(move || {
            let mut totals = Totals::default();
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                eprintln!("{line}");
                totals.count(&line);
            }
            totals
        })
    });
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            println!("{line}");
            totals.count(&line);
        }
    }
    if let Some(Ok(from_errors)) = errors.map(std::thread::JoinHandle::join) {
        totals.add(&from_errors);
    }
    let status = child.wait().map_err(|source| TaskError::Start { program, source })?;
    Ok(status.success())
}
