//! Real hooks: programs in the sandbox, and a service in Python.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails here and now"
)]

mod examples;
mod malicious;
mod opening;
mod programs;
mod service;
mod support;
