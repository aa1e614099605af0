//! The executor: a worker process that pulls calls from a scheduler, runs their tools, and reports what came of it.
//!
//! [`Executor::start`] keeps one long `WorkerService.Work` stream alive for as long as the process lives. Calls go on while
//! the stream is away; what the scheduler has not acknowledged is reported again. Where the scheduler is another process,
//! the stream runs on a thread of its own, so that no tool, however busy, keeps a lease from being renewed.
//!
//! What a tool is and how it is confined is known to `toolplane-execution`; whether a call may run, may be repeated, and
//! how its result is stored is known to the scheduler. This crate must not know permissions, surfaces or stores, and no
//! other service.

mod call;
mod capabilities;
mod drain;
mod egress;
mod error;
mod execution;
mod executor;
mod identity;
mod leases;
mod news;
pub mod options;
mod outbox;
mod outcome;
mod role;
mod session;
mod upload;

pub use capabilities::Capabilities;
pub use error::ExecutorError;
pub use executor::{Executor, Handle};
pub use options::Options;
pub use role::{role, toolbox};
pub use session::Connect;
