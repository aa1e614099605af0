//! The real executor, driven over gRPC by a scheduler that does what the test says.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails here and now"
)]

mod calls;
mod crash;
mod doubt;
mod fake;
mod life;
mod outputs;
mod questions;
mod several;
mod traces;
mod worker;
