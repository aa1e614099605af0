//! No warning of the compiler or of clippy, in programs, libraries, tests and examples.

use std::path::Path;

use super::cargo;
use crate::command::{self, TaskError};

/// Fails with what clippy says of the code.
pub(super) fn check(root: &Path) -> Result<(), TaskError> {
    let mut clippy = cargo(root, &["clippy", "--workspace", "--all-targets", "--keep-going", "--quiet"]);
    clippy.args(["--", "--deny", "warnings"]);
    command::run(clippy)
}
