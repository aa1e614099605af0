//! What every Toolplane process shares: configuration, telemetry, gRPC server and client plumbing, the mapping of
//! refusals to gRPC statuses, shutdown and named tasks.
//!
//! This crate must not know what a role does: no store, no rule, no tool. Roles hand it their gRPC services and take
//! from it a listener, a channel to a peer, spans with the right names, and their section of the configuration.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

pub mod caller;
pub mod client;
pub mod clock;
mod code_name;
pub mod config;
pub mod draining;
#[cfg(test)]
mod fuzz;
pub mod health;
pub mod keys;
mod metrics;
pub mod page;
pub mod process;
pub mod server;
pub mod shutdown;
pub mod status;
pub mod tasks;
pub mod telemetry;
pub mod tls;
pub mod typed;
pub mod web;

pub use caller::{Caller, Role};
pub use code_name::code_name;
pub use config::{Config, ConfigError};
pub use shutdown::Shutdown;
pub use status::ApiError;
pub use tasks::Tasks;
