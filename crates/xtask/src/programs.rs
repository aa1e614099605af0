//! Building the programs of a cluster.

use std::path::PathBuf;

use crate::command::{self, TaskError};

/// The packages whose programs a cluster and its drivers need. Built together, so that no dependency is built twice.
const PACKAGES: [&str; 3] = ["toolplane", "toolplane-sandbox", "xtask-cluster"];

/// How programs are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Soon, with all checks, fault points and mutants.
    Development,
    /// With optimisations.
    Release,
    /// The same, and the programs count their allocations.
    Bench,
}

impl Build {
    /// As `--release` says.
    pub(crate) fn of(release: bool) -> Self {
        if release { Self::Release } else { Self::Development }
    }
}

/// Builds them, with cargo's own progress shown; returns the folder they are in.
pub(crate) fn build(how: Build) -> Result<PathBuf, TaskError> {
    let mut cargo = command::cargo(&["build", "--bins"]);
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    if how != Build::Development {
        cargo.arg("--release");
    }
    if how == Build::Bench {
        cargo.args(["--features", "toolplane/count-allocations"]);
    }
    command::run(cargo)?;
    Ok(command::target().join(if how == Build::Development { "debug" } else { "release" }))
}
