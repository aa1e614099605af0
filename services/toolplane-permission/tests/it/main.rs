//! The role behind its real listener, on real stores, spoken to over gRPC.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod decisions;
mod hooks;
mod large;
mod questions;
mod roles;
mod rules;
mod support;
