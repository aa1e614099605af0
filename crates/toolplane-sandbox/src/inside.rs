//! Directories inside every sandbox.

/// Where the workspace appears inside the sandbox.
pub const WORKSPACE: &str = "/workspace";

/// The scratch directory inside the sandbox, empty at the start of each run.
pub const SCRATCH: &str = "/tmp";

/// The directory of a run's private files, there when it has some (see [`crate::private`]).
pub const CREDENTIALS: &str = "/run/credentials";
