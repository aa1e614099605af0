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
    /// With the same, and optimised: for hours of load.
    Faults,
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

    /// What tells cargo.
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Development => &[],
            Self::Faults => &["--profile", "faults"],
            Self::Release => &["--release"],
            Self::Bench => &["--release", "--features", "toolplane/count-allocations"],
        }
    }

    /// Where cargo puts them, below the target folder.
    fn folder(self) -> &'static str {
        match self {
            Self::Development => "debug",
            Self::Faults => "faults",
            Self::Release | Self::Bench => "release",
        }
    }
}

/// Builds them, with cargo's own progress shown; returns the folder they are in.
pub(crate) fn build(how: Build) -> Result<PathBuf, TaskError> {
    build_with(how, &[])
}

/// The same, with the programs of further packages: those of one build share what they depend on.
pub(crate) fn build_with(how: Build, further: &[&str]) -> Result<PathBuf, TaskError> {
    let mut cargo = command::cargo(&["build", "--bins"]);
    cargo.args(PACKAGES.iter().chain(further).flat_map(|package| ["--package", package]));
    cargo.args(how.arguments());
    command::run(cargo)?;
    Ok(command::target().join(how.folder()))
}
