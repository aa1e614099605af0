//! Where bubblewrap and the launcher are found.

use std::path::PathBuf;

/// Where to find the parts. The default looks in the usual places.
#[derive(Clone, Debug, Default)]
pub struct BubblewrapOptions {
    /// The bubblewrap program; looked up in `/usr/bin`, `/bin`, `/usr/local/bin` and `PATH` when absent.
    pub bwrap: Option<PathBuf>,
    /// The launcher; when absent `TOOLPLANE_SANDBOX_LAUNCHER`, else beside this program or one directory up.
    pub launcher: Option<PathBuf>,
    /// Do not use control groups even where they can be made.
    pub without_control_groups: bool,
}
