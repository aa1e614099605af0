//! How much one sandboxed run may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;

/// Bounds on one run. Every field is always in force; there is no "unlimited".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunLimits {
    /// Wall time from the start of the tool to the first signal that asks it to end.
    pub wall: Duration,
    /// Time between that signal (SIGTERM) and the kill of the whole tree.
    pub grace: Duration,
    /// CPU seconds of one process.
    pub cpu_seconds: u64,
    /// Memory: of the whole tree where control groups are available, else of each process.
    pub memory_bytes: u64,
    /// Processes and threads of the whole tree.
    pub pids: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Largest file that can be written.
    pub file_bytes: u64,
    /// Size of each scratch file system (`/tmp`, `/dev/shm`).
    pub scratch_bytes: u64,
    /// Bytes kept of each output stream: the first and the last half of them.
    pub output_kept_bytes: u64,
    /// Bytes read of each output stream before the tree is killed.
    pub output_max_bytes: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            wall: Duration::from_secs(30),
            grace: Duration::from_secs(2),
            cpu_seconds: 30,
            memory_bytes: 512 * MIB,
            pids: 128,
            open_files: 256,
            file_bytes: 64 * MIB,
            scratch_bytes: 256 * MIB,
            output_kept_bytes: 16 * MIB,
            output_max_bytes: 16 * MIB,
        }
    }
}

impl RunLimits {
    /// The largest bounds a caller can ask for.
    pub fn ceiling() -> Self {
        Self {
            wall: Duration::from_secs(600),
            grace: Duration::from_secs(30),
            cpu_seconds: 600,
            memory_bytes: 8192 * MIB,
            pids: 4096,
            open_files: 4096,
            file_bytes: 4096 * MIB,
            scratch_bytes: 4096 * MIB,
            output_kept_bytes: 16 * MIB,
            output_max_bytes: 256 * MIB,
        }
    }

    /// These bounds, each cut to the one of `ceiling`.
    #[must_use]
    pub fn within(&self, ceiling: &Self) -> Self {
        Self {
            wall: self.wall.min(ceiling.wall),
            grace: self.grace.min(ceiling.grace),
            cpu_seconds: self.cpu_seconds.min(ceiling.cpu_seconds),
            memory_bytes: self.memory_bytes.min(ceiling.memory_bytes),
            pids: self.pids.min(ceiling.pids),
            open_files: self.open_files.min(ceiling.open_files),
            file_bytes: self.file_bytes.min(ceiling.file_bytes),
            scratch_bytes: self.scratch_bytes.min(ceiling.scratch_bytes),
            output_kept_bytes: self.output_kept_bytes.min(ceiling.output_kept_bytes),
            output_max_bytes: self.output_max_bytes.min(ceiling.output_max_bytes),
        }
    }
}
