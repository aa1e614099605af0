//! Adapters with real processes, files and connections. Needs bubblewrap; without it these tests fail.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed test")]

mod denied;
mod files;
mod hostile;
mod http;
mod native;
mod process;
mod repositories;
mod server;
mod shell;
mod support;
mod toolbox;
mod writes;
