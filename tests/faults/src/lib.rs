//! Fault tests of a whole cluster: break it while it works, write down what happened, and let an independent checker say
//! whether a promise was broken.
//!
//! - [`history`]: what happened, as lines of JSON.
//! - [`check`]: from a history to a verdict; pure.
//! - [`bed`], [`load`], [`dump`]: a cluster to be broken, its callers, and the end of a run.
//! - [`scenario`]: what is done to it.
//! - [`program`], [`report`]: the command line, and what it prints and writes.
//! - [`register`], [`worker`]: a resource that looks at fences, and a worker that writes down what its tools do.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

pub mod bed;
pub mod check;
pub mod dump;
pub mod history;
pub mod load;
pub mod program;
pub mod register;
pub mod report;
pub mod scenario;
pub mod worker;

mod trouble;

pub use trouble::Trouble;
