//! The durable store of one process: no server to install, one directory, one fsync for many callers.
//!
//! A writer thread takes the commits that wait, decides them in order, writes all of them as one record of the log, and only
//! after the flush shows them to readers and answers. What the log holds also lives in memory, until a checkpoint
//! moves it into the tables, where repeated writes and entries that came and went have collapsed. Opening replays the
//! log behind the last checkpoint, so the end of the process at any moment loses no answered commit.
//!
//! This crate must not know what the bytes mean: it implements [`toolplane_store::Store`] and nothing else.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

mod alike;
mod base;
mod check;
mod checkpoint;
mod codec;
mod company;
mod dead_runs;
mod fault;
mod files;
mod group;
mod handle;
mod hash;
mod layer;
mod log;
mod mend;
mod number;
mod operations;
mod options;
mod ordered;
mod recovery;
mod row;
mod scan;
mod shared;
mod space;
mod tables;
mod walk;
mod writer;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod simdisk;
#[cfg(test)]
mod tests;

pub use base::RawRow;
pub use check::{CheckReport, Idle};
pub use fault::OpenError;
pub use handle::EmbeddedStore;
pub use options::EmbeddedOptions;
pub use shared::Stats;
