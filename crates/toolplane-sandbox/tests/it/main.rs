//! The sandbox with real processes. Needs bubblewrap; without it these tests fail.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod basics;
mod confinement;
mod leftovers;
mod lifecycle;
mod limits;
mod posture;
mod quota;
mod support;
