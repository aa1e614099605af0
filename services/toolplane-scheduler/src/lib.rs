//! The scheduler: accepts calls durably, decides their lives with the pure lifecycle, hands them to workers and keeps
//! their results.
//!
//! It meets the surface and permission services and the workers only over gRPC, and must not know how a rule is
//! evaluated, how a surface is selected or how a tool is run. Its parts are wired in `parts.rs`; what each of them must not
//! know is said in ARCHITECTURE.md.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

mod account;
mod background;
mod calls;
mod cleaning;
mod cluster;
mod dispatch;
mod effects;
mod ending;
mod environment;
mod error;
mod faults;
mod forget;
mod groups;
mod hash;
mod identity;
mod intake;
mod keeping;
mod kept;
mod limits;
mod mutants;
mod named_payloads;
mod options;
mod originals;
mod parts;
mod plan;
mod provider_news;
mod recheck;
mod repair;
mod result_questions;
mod role;
mod rpc;
pub mod simulation;
mod storage;
mod taints;
#[cfg(test)]
mod tests;
mod timers;
mod trace;
mod watch;

pub use error::SchedulerError;
pub use forget::forget;
pub use named_payloads::payloads_of;
pub use options::SchedulerOptions;
pub use role::{PROGRAM, SchedulerRole};
