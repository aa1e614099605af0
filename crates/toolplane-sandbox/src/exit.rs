//! How a run ended, what it used, and what it was caught trying.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::capture::Captured;
use crate::quota::Usage;

/// The end of one run. The tool's own exit code and nothing else: failures of the sandbox are
/// [`SandboxError`](crate::SandboxError)s.
#[derive(Clone, Debug)]
pub struct Exit {
    /// How the tool's first process ended.
    pub ending: ProcessEnd,
    /// What it wrote to standard output. Of a session only the bytes are counted that its caller had read by then.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// From the start of the tool to its end.
    pub wall: Duration,
    /// It was ended because its wall time was over.
    pub timed_out: bool,
    /// It was ended because the caller asked for it.
    pub canceled: bool,
    /// It was killed because a stream went over its bound.
    pub output_limit_hit: bool,
    /// What the tree used.
    pub resources: ResourceUse,
    /// Bounds it ran into, each with the evidence.
    pub limits_hit: Vec<LimitHit>,
    /// Things it tried and was denied, as recorded by the kernel.
    pub violations: Vec<Violation>,
    /// Protected paths of the workspace that are new or changed their identity during the run.
    pub new_protected_paths: Vec<String>,
    /// What was taken back in the workspace after the run, one line each for people: rights of others on files, FIFOs, sockets
    /// and devices.
    pub mended: Vec<String>,
    /// What the workspace held at the end, when it was writable.
    pub workspace_usage: Option<Usage>,
}

impl Exit {
    /// Exit code 0, within all bounds.
    pub fn success(&self) -> bool {
        self.ending == ProcessEnd::Code(0) && !self.timed_out && !self.canceled && !self.output_limit_hit
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessEnd {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

/// What a tree of processes used. Zero where the kernel does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceUse {
    /// CPU time in user mode, in microseconds.
    pub user_cpu_us: u64,
    /// CPU time in the kernel, in microseconds.
    pub system_cpu_us: u64,
    /// Largest resident set of one process, in bytes.
    pub max_rss_bytes: u64,
}

/// What a tree of processes uses while it runs, and has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UseNow {
    /// Processes that live, without those of the sandbox itself.
    pub processes: u64,
    /// Bytes of memory they hold together. Pages of several processes count once, except of one that lets nobody look.
    pub resident_bytes: u64,
    /// CPU time in user mode so far, in microseconds, of those that have ended too.
    pub user_cpu_us: u64,
    /// CPU time in the kernel so far, in microseconds, of those that have ended too.
    pub system_cpu_us: u64,
}

/// A bound that was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitHit {
    /// Which bound.
    pub limit: LimitKind,
    /// Its value.
    pub allowed: u64,
    /// What shows that it was reached, e.g. `pids.events max 12`.
    pub evidence: String,
}

/// The bounds whose reaching can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Memory.
    Memory,
    /// Processes and threads.
    Pids,
    /// CPU time of a process.
    Cpu,
    /// Size of a file.
    FileSize,
    /// Space in the scratch file systems.
    Scratch,
    /// Bytes of the workspace.
    WorkspaceBytes,
    /// Files of the workspace.
    WorkspaceFiles,
    /// Bytes that must stay free on the disk of the workspace.
    DiskFree,
}

impl LimitKind {
    /// The name in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
            Self::FileSize => "file_size",
            Self::Scratch => "scratch",
            Self::WorkspaceBytes => "workspace_bytes",
            Self::WorkspaceFiles => "workspace_files",
            Self::DiskFree => "disk_free",
        }
    }
}

/// One kind of denied attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The layer that denied it, e.g. `seccomp`.
    pub layer: String,
    /// The system call.
    pub syscall: String,
    /// What about it was denied, e.g. `family=2`; empty when the call as such is.
    #[serde(default)]
    pub detail: String,
    /// How often.
    pub count: u64,
    /// Ordinary programs try this to find out what they can use: recorded, but no reason to blame a failure on it.
    #[serde(default)]
    pub probe: bool,
}

impl Violation {
    /// The evidence in one line: `seccomp_denied:socket(family=40)`.
    pub fn evidence(&self) -> String {
        if self.detail.is_empty() {
            format!("{}_denied:{}", self.layer, self.syscall)
        } else {
            format!("{}_denied:{}({})", self.layer, self.syscall, self.detail)
        }
    }
}
