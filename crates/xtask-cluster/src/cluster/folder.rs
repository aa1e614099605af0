//! Where a cluster is kept, and what is said of it.

use std::io::Write as _;
use std::path::PathBuf;
use toolplane_testkit::binary;

/// Where the cluster keeps everything.
pub(super) fn folder() -> PathBuf {
    binary::target().join("cluster")
}

/// Prints a text, unless the reader is gone.
pub(super) fn say(text: &str) {
    // A reader that has seen enough, such as `head`, is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
}
