//! `cargo xtask check`: what can be said of the code without running it. Every check looks at everything, so that one run names
//! all there is to do.

use std::path::Path;
use std::time::Instant;

use crate::command::{self, TaskError};
use crate::tidy;

mod cargo;
mod format;
mod lints;
mod outside;
mod rustdoc;
#[cfg(test)]
mod tests;
mod toolchain;
mod unused;

use cargo::cargo;

/// What is checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these checks.
    #[arg(value_parser = names())]
    only: Vec<String>,
}

/// One check: what it is called, what it looks at, and what to do when it fails.
struct Check {
    name: &'static str,
    run: fn(&Path) -> Result<(), TaskError>,
    advice: &'static str,
}

/// The cheap ones first: an author who breaks a rule of the project reads of it before anything is compiled.
const CHECKS: [Check; 9] = [
    Check { name: "tidy", run: tidy::check, advice: "each line above names a file or a package, and the rule" },
    Check { name: "format", run: format::check, advice: "run `cargo fmt --all`" },
    Check {
        name: "outside",
        run: outside::check,
        advice: "agree on one version or licence, or write a line with a reason into deny.toml",
    },
    Check { name: "unused", run: unused::check, advice: "remove the dependency from the Cargo.toml that is named" },
    Check {
        name: "versions",
        run: toolchain::versions,
        advice: "use an older version of the dependency, or raise `rust-version` in Cargo.toml and README.md",
    },
    Check {
        name: "clippy",
        run: lints::check,
        advice: "mend what is named; an exception is an `#[expect]` with its reason",
    },
    Check { name: "schemas", run: crate::generate::check_record_schemas, advice: "run `cargo xtask gen`" },
    Check { name: "rustdoc", run: rustdoc::check, advice: "mend the link or the text that is named" },
    // Last and apart: it compiles everything a second time, with another compiler.
    Check {
        name: TOOLCHAIN,
        run: toolchain::builds,
        advice: "write it without what that Rust does not know, or raise `rust-version` in Cargo.toml and README.md",
    },
];

/// The check that compiles everything with the oldest Rust we name.
const TOOLCHAIN: &str = "toolchain";

fn names() -> Vec<&'static str> {
    CHECKS.iter().map(|check| check.name).collect()
}

/// Every check, or those that are named.
pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    of(command::root(), |name| args.only.is_empty() || args.only.iter().any(|only| only == name))
}

/// Every check that costs no second compiler, as part of the tests.
pub(crate) fn before_tests() -> Result<(), TaskError> {
    println!("not checked here: `{TOOLCHAIN}` (`cargo xtask check` builds with the oldest Rust that is named)");
    of(command::root(), |name| name != TOOLCHAIN)
}

/// Runs the chosen checks of one workspace.
fn of(root: &Path, chosen: impl Fn(&str) -> bool) -> Result<(), TaskError> {
    let mut failed = Vec::new();
    for check in CHECKS.iter().filter(|check| chosen(check.name)) {
        let started = Instant::now();
        let outcome = (check.run)(root);
        let (word, took) = (if outcome.is_ok() { "holds" } else { "FAILS" }, started.elapsed().as_secs_f64());
        println!("check {:<10} {word}  {took:6.1} s", check.name);
        if let Err(error) = outcome {
            eprintln!("{error}");
            failed.push(format!("  {}: {}", check.name, check.advice));
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(TaskError::Answer(format!("{} checks failed:\n{}", failed.len(), failed.join("\n")))),
    }
}
