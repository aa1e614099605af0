//! A workspace that tools may write: how much it holds, and what no tool may leave there.
//!
//! A directory is looked through before and after each run that may write there. Before: is there room left, is anything
//! in it that must stay as it is. While the tool runs it is measured, and a tool that goes over its bound is ended. After:
//! set-user-id and set-group-id bits and file capabilities are taken off, and FIFOs, sockets and devices that were not there
//! before are removed. The system call filter keeps tools from making most of that; this is the second wall, and the one
//! that also holds for what an earlier worker left behind (see [`tidy`]).
//!
//! Nothing here follows a symbolic link, and what is changed is held open first: whatever a tool renames meanwhile, nothing
//! outside the workspace is touched. A file that also has a name outside (a hard link) is never changed by us, and tools see
//! it read-only.

mod mend;
mod mode;
mod room;
pub(crate) mod survey;
mod visit;
pub(crate) mod walk;
mod watch;

pub use mend::tidy;
pub use survey::measure;
pub use visit::free_bytes;
pub(crate) use visit::{Departure, Visit};
pub(crate) use watch::WorkspaceWatch;

pub use crate::quota::{Quota, Usage};

#[cfg(test)]
mod tests;
