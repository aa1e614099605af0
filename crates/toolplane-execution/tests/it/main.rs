//! Adapters with real processes, files and connections. Needs bubblewrap; without it these tests fail.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed test")]

mod api;
mod artifacts;
mod credentials;
mod denied;
mod files;
mod gate;
mod hostile;
mod http;
mod mcp;
mod native;
mod operation;
mod process;
mod repositories;
mod server;
mod shell;
mod support;
mod toolbox;
mod writes;
