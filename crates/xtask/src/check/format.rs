//! Every file is written as `cargo fmt` writes it.

use std::path::Path;

use super::cargo;
use crate::command::{self, TaskError};

/// Fails with the files and lines that are written in another way.
pub(super) fn check(root: &Path) -> Result<(), TaskError> {
    command::run(cargo(root, &["fmt", "--all", "--check"]))
}
