//! The role behind its real listener, on real stores, spoken to over gRPC.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod decisions;
mod hooks;
mod large;
mod questions;
mod roles;
mod rules;
mod support;
