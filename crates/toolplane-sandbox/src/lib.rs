//! A sandbox for one tool process and everything it starts.
//!
//! A [`SandboxSpec`] says what a tool may see and use; [`Bubblewrap`] runs it so, or not at all: a layer that is missing
//! or fails is an error ([`SandboxError`]), never a run with less protection. What really holds on this machine is found
//! out by running inside the sandbox ([`SandboxBackend::probe`]) and published as a [`Posture`]. How a run ended, what it
//! used and what it was caught trying is an [`Exit`]. A run that stays open and talks is a [`Session`].
//!
//! A tool is started through `toolplane-sandbox-launcher`, a small single-threaded program of this crate, so that the
//! (threaded) worker never forks. The launcher drops to a user of its own, hands over to bubblewrap, and waits inside
//! the new namespaces as process 1: it installs the system call filter, starts the tool, records denied system calls and
//! ends every process of the tree.
//!
//! A run has no network, or what a [`Gate`] of the worker connects it to ([`network`]).
//!
//! This crate knows processes, files and limits. It knows no tools, no invocations and no results: what an exit means to
//! a caller is decided by who asked for the run. It is the only crate where `unsafe` is allowed, and there only in
//! `launcher::sys` and its siblings, next to the system calls they wrap.

pub mod backend;
pub mod bubblewrap;
pub mod capture;
pub mod cgroup;
pub mod environment;
pub mod error;
mod excerpt;
pub mod exit;
#[cfg(test)]
mod fuzz;
#[doc(hidden)]
mod inside;
pub mod launcher;
pub mod limits;
mod namespaces;
pub mod network;
pub mod output_file;
pub mod posture;
pub mod private;
mod probe;
pub mod protected;
mod quota;
pub mod running;
pub mod session;
mod slot;
pub mod spec;
mod wire;
pub mod workspace;

pub use backend::SandboxBackend;
pub use bubblewrap::Bubblewrap;
pub use capture::{Captured, OutputStream};
pub use error::SandboxError;
pub use exit::{Exit, LimitHit, LimitKind, ProcessEnd, ResourceUse, UseNow, Violation};
pub use limits::{Rate, RunLimits, StreamRates};
pub use network::{Gate, GateError, PlainRequest, Target};
pub use output_file::{OutputFile, OutputWriter};
pub use posture::{Layer, Posture};
pub use private::PrivateFiles;
pub use running::{Observer, OutputTap, Progress, Running};
pub use session::{Session, SessionInput, SessionOutput};
pub use spec::{MaskedPath, Masks, Profile, SandboxSpec, WorkspaceAccess, WorkspaceMount};
pub use workspace::{Quota, Usage};
