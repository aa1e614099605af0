//! Building the programs of a cluster.

use std::path::PathBuf;

use crate::command::{self, TaskError};

/// The packages whose programs a cluster and its drivers need. Built together, so that no dependency is built twice.
const PACKAGES: [&str; 3] = ["toolplane", "toolplane-sandbox", "xtask-cluster"];

/// Builds them, with cargo's own progress shown; returns the folder they are in.
pub(crate) fn build(release: bool) -> Result<PathBuf, TaskError> {
    let mut cargo = command::cargo(&["build", "--bins"]);
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
    if release {
        cargo.arg("--release");
    }
    command::run(cargo)?;
    Ok(command::target().join(if release { "release" } else { "debug" }))
}
