//! The whole from outside: real processes, the public API, no look inside.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail their test")]

mod agents;
mod approvals;
mod artifacts;
mod batches;
mod bed;
mod call;
mod canary;
mod cleaning;
mod cli;
mod consent;
mod coverage;
mod crash;
mod credentials;
mod crowds;
mod default_surface;
mod door;
mod evidence;
mod forms;
mod health;
mod hidden;
mod hooks;
mod http;
mod input;
mod large_outputs;
mod locks;
mod many;
mod mcp;
mod meaning;
mod metrics;
mod parked;
mod path;
mod permissions;
mod polyglot;
mod prometheus;
mod providers;
mod races;
mod readme;
mod refusals;
mod removed;
mod roles;
mod sdk_python;
mod sdk_typescript;
mod secrets;
mod sessions;
mod shapes;
mod shell;
mod shown;
mod standard;
mod storm;
mod taints;
mod tls;
mod tour;
mod trace_store;
mod traces;
mod wire;
mod within;
mod worker;
