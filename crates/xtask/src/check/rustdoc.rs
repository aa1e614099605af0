//! The documentation says nothing that is not there: every link leads somewhere.

use std::path::Path;

use super::cargo;
use crate::command::{self, TaskError};

/// Fails with what rustdoc says of the documentation.
pub(super) fn check(root: &Path) -> Result<(), TaskError> {
    let mut doc = cargo(root, &["doc", "--workspace", "--no-deps", "--keep-going", "--quiet"]);
    doc.env("RUSTDOCFLAGS", "--deny warnings");
    command::run(doc)
}
