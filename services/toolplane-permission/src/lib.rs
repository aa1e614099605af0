//! The permission role: decides whether a call may run, and keeps the questions put to people until they are answered.
//!
//! Allow and deny are computed from the rules alone and kept by the service that asked; a question is durable before it
//! is answered with. This crate must not know how a call is scheduled or run, nor what a tool does: it sees the facts
//! it is handed, its rules and its own store.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

pub mod approvals;
pub mod decide;
mod error;
mod forget;
mod ledger;
mod options;
mod role;
mod rpc;
pub mod rules;
mod shadow;
mod shared_read;

pub use approvals::{Answer, Book, BookError, Limits, Resolver};
pub use error::PermissionError;
pub use forget::forget;
pub use options::PermissionOptions;
pub use role::{HOOK_EVENTS, PROGRAM, PermissionRole, start};
pub use rules::{Active, Fault, Faults, RuleBook, Source, read_file as read_rules_file, remarks};
