//! The broker from outside: real files, programs and a token server on loopback.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its helpers")]

mod commands;
mod files;
mod house;
mod scopes;
mod token_server;
mod tokens;
