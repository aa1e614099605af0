//! The executor: a worker process that pulls calls from a scheduler, runs their tools, and reports what came of it.
//!
//! [`ExecutorRole::open`] keeps one long `WorkerService.Work` stream to one of its schedulers alive for as long as the process
//! lives. Calls go on while the stream is away; what no scheduler has acknowledged is reported again, to the same or to
//! another one, and what must not be lost with the process is in a journal on disk. Leases are renewed by a thread of their
//! own, so that no tool, however busy, is in their way.
//!
//! What a tool is and how it is confined is known to `toolplane-execution`; whether a call may run, may be repeated, and
//! how its result is stored is known to the scheduler. This crate must not know permissions, surfaces or stores, and no
//! other service.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

mod assignments;
mod credentials;
mod error;
mod messages;
mod options;
mod outbox;
mod parts;
mod reporter;
mod role;
mod runner;
mod schedulers;
mod session;
mod toolbox;
mod wire;
mod worker;

pub use error::ExecutorError;
pub use options::ExecutorOptions;
pub use role::{ExecutorRole, PROGRAM};
pub use schedulers::{Connect, ConnectError, Schedulers};
pub use toolbox::toolbox;
pub use worker::{Capabilities, PoolGap};
