//! The scheduler: accepts calls durably, decides their lives with the pure lifecycle, hands them to workers and keeps
//! their results.
//!
//! It meets the surface and permission services and the workers only over gRPC, and must not know how a rule is
//! evaluated, how a surface is selected or how a tool is run.

mod again;
mod approvals;
mod ending;
pub mod engine;
mod error;
mod grpc;
mod permits;
pub mod prepare;
mod service;
#[cfg(test)]
mod tests;
mod trace;

pub use engine::forget;
pub use error::CallError;
pub use service::{Peers, Scheduler, SchedulerError, check, role};
pub use toolplane_backend::BackendError;
