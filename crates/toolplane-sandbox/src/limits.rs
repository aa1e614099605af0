//! How much one sandboxed run may use, and how fast one that stays open may talk.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;
const HOUR: u64 = 3600;

/// Bounds on one run. Every field is always in force, but the last one in a session; there is no "unlimited".
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
    /// Bytes kept of each output stream: the first and the last half of them. Where there is a place for files, the first of
    /// them, and up to 512 KiB of the end.
    pub output_kept_bytes: u64,
    /// Bytes read of each output stream before the tree is killed. Not of a session, whose streams have a rate instead of a total.
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
    /// The bounds of a run that stays open when nothing is said: 8 hours, of which a process computes for one at most.
    pub fn session() -> Self {
        Self {
            wall: Duration::from_secs(8 * HOUR),
            grace: Duration::from_secs(2),
            cpu_seconds: HOUR,
            memory_bytes: 1024 * MIB,
            pids: 128,
            open_files: 1024,
            file_bytes: 64 * MIB,
            scratch_bytes: 256 * MIB,
            output_kept_bytes: 64 * 1024,
            output_max_bytes: 16 * MIB,
        }
    }

    /// The largest bounds a caller can ask for in a run that stays open.
    pub fn session_ceiling() -> Self {
        Self { wall: Duration::from_secs(7 * 24 * HOUR), cpu_seconds: 24 * HOUR, ..Self::ceiling() }
    }

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

/// How fast bytes may flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// In the long run; at least 1.
    pub bytes_per_second: u64,
    /// As many more at once after a pause.
    pub burst_bytes: u64,
}

/// How fast the streams of a session flow at most. What is faster waits: nothing is lost, and nobody is killed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamRates {
    /// From the caller to the program's standard input.
    pub input: Rate,
    /// From the program's standard output to the caller.
    pub output: Rate,
    /// From the program's standard error.
    pub errors: Rate,
}

impl Default for StreamRates {
    /// 16 MiB a second each way, 256 KiB a second of standard error.
    fn default() -> Self {
        let talk = Rate { bytes_per_second: 16 * MIB, burst_bytes: 16 * MIB };
        Self { input: talk, output: talk, errors: Rate { bytes_per_second: MIB / 4, burst_bytes: MIB } }
    }
}
