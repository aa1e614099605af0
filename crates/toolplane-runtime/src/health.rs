//! Whether a process can do its work now, and what it lacks if it cannot: the one place that knows.
//!
//! Roles say what they need (a store, another service) and follow it; health checks (`grpc.health.v1`) and people
//! (`toolplane status`) read it here. Two questions are kept apart: *ready* is asked of a service or of the whole
//! process, and is no while something it needs is away, so that calls go elsewhere. [`LIVENESS`] is asked by the
//! supervisor that restarts processes, and is yes as long as the process answers: a restart does not bring back a
//! store.

mod peer;
pub(crate) mod readiness;
pub(crate) mod service;
#[cfg(test)]
mod tests;

pub use readiness::{LIVENESS, Need, REASON, REMARK, Readiness};

pub use peer::{PeerUnready, check, follow};

pub(crate) use service::HealthApi;
