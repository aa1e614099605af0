//! cargo in the workspace that is checked.

use crate::command::{self};
use std::path::Path;

/// A cargo command in the workspace that is checked.
pub(super) fn cargo(root: &Path, arguments: &[&str]) -> std::process::Command {
    let mut cargo = command::cargo(arguments);
    cargo.current_dir(root);
    cargo
}
