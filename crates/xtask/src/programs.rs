//! Building the programs of a cluster.

use std::path::PathBuf;

use crate::command::{self, TaskError};

/// The packages whose programs a cluster and its drivers need. Built together, so that no dependency is built twice.
const PACKAGES: [&str; 3] = ["toolplane", "toolplane-sandbox", "xtask-cluster"];
/// What symbols need, so that a profiler finds its way from a function to those that called it.
const FRAMES: &str = "-C force-frame-pointers=yes";

/// How programs are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Soon, with all checks, fault points and mutants.
    Development,
    /// With optimisations.
    Release,
    /// The same, and the programs count their allocations.
    Bench,
    /// With optimisations and frame pointers, in a folder of its own: everything is compiled with them.
    Profile,
}

impl Build {
    /// As `--release` says.
    pub(crate) fn of(release: bool) -> Self {
        if release { Self::Release } else { Self::Development }
    }

    /// The folder cargo builds in.
    fn target(self) -> PathBuf {
        let target = command::target();
        if self == Self::Profile { target.join("profile") } else { target }
    }
}

/// Builds them, with cargo's own progress shown; returns the folder they are in.
pub(crate) fn build(how: Build) -> Result<PathBuf, TaskError> {
    let mut cargo = command::cargo(&["build", "--bins", "--target-dir"]);
    cargo.arg(how.target());
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    if how != Build::Development {
        cargo.arg("--release");
    }
    match how {
        Build::Development | Build::Release => {}
        Build::Bench => drop(cargo.args(["--features", "toolplane/count-allocations"])),
        // Crates of C are told by the second one.
        Build::Profile => drop(cargo.env("RUSTFLAGS", FRAMES).env("CFLAGS", "-fno-omit-frame-pointer")),
    }
    command::run(cargo)?;
    Ok(how.target().join(if how == Build::Development { "debug" } else { "release" }))
}
