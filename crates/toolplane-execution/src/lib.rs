//! Adapters: what runs a tool call, one per kind of binding.
//!
//! A [`Toolbox`] holds them all. [`Toolbox::execute`] takes a [`Call`] and gives back an [`Outcome`], always: whatever goes
//! wrong is an error of the standard inside the outcome, mapped here and nowhere else. [`Toolbox::capabilities`] says which
//! pools can be served on this machine and which cannot, and why; a call that needs the sandbox never runs without it.
//!
//! | binding | pool | sandbox | what it does |
//! |---|---|---|---|
//! | shell | `shell` | yes | a command line in `bash` |
//! | process | `process` | yes | a declared program, without a shell |
//! | http | `http` | no | requests within an allow list |
//! | mcp | `mcp_stdio` | yes | a tool of an MCP server that is a program, or what tools it has |
//! | mcp | `mcp_http` | no | the same of a server over HTTP, within an allow list |
//! | operation | `openapi` | no | one operation of an API that a document describes |
//! | native `files.*` | `files` | no | reading, searching and writing beneath the workspace |
//! | native `native.*` | `native` | no | tools inside this program |
//!
//! This crate knows tools and their outputs. It knows no leases, no stores, no transport, and nothing about how results
//! are kept or shortened.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]
#![expect(clippy::result_large_err, reason = "errors are the standard's records, made once at the end of a call")]

pub mod adapter;
pub mod artifacts;
pub mod ask;
pub mod budget;
pub mod call;
mod credentials;
mod deadline;
mod denied;
mod failure;
mod files;
mod http;
mod input;
pub mod kill;
mod live;
mod masked;
mod mcp;
mod native;
mod operation;
pub mod outcome;
mod process;
pub mod progress;
mod sandboxed;
mod shell;
pub mod text;
pub mod toolbox;

pub use adapter::Adapter;
pub use artifacts::{Artifact, ArtifactBounds};
pub use ask::{Answer, Asker, InputQuestion, NobodyToAsk};
pub use budget::WorkspaceBounds;
pub use call::{Call, CallAttempt, CallLimits, CallOrigin, CallPlace, Context};
pub use credentials::{CredentialSource, Injections};
pub use http::{EgressGate, Lookup, SystemLookup};
pub use kill::KillSwitch;
pub use mcp::{ChangedProvider, McpOptions, ProviderChanges, place_of_server};
pub use outcome::{Exact, Outcome};
pub use progress::{ProgressSink, ProgressUpdate};
pub use toolbox::{Capabilities, Gap, POOLS, Toolbox, ToolboxOptions};
pub use toolplane_mcp::{PoolLimits, TraceContext};
