//! The sandbox with real processes. Needs bubblewrap; without it these tests fail.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod basics;
mod confinement;
mod crowds;
mod leftovers;
mod lifecycle;
mod limits;
mod network;
mod posture;
mod private;
mod quota;
mod servers;
mod sessions;
mod support;
