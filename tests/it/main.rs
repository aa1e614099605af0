//! The whole from outside: real processes, the public API, no look inside.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail their test")]

mod approvals;
mod batches;
mod bed;
mod cli;
mod crash;
mod input;
mod locks;
mod many;
mod path;
mod polyglot;
mod refusals;
mod roles;
mod traces;
mod wire;
mod worker;
