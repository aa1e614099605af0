//! The gateway role: the ways into a cluster for those who do not speak gRPC. It answers calls as JSON over HTTP, and MCP.
//!
//! ```text
//! HTTP request ─► door: host, origin, caller, bounds ─┬─► json   /v1/...   any public method, message by message
//!                                                     └─► mcp    /mcp      what an MCP client asks for, as calls of the API
//!                                        both ─► upstream: the roles, asked on behalf of the caller
//! ```
//!
//! It decides nothing about calls and keeps nothing: whatever it answers it has asked a role for, as the caller. So any of its
//! processes can answer any request. It must not know stores, rules, queues or workers.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

mod door;
mod error;
mod json;
mod mcp;
mod options;
mod role;
mod upstream;

pub use error::GatewayError;
pub use json::openapi::{UnreadableDescriptors, describe};
pub use mcp::{StdioOptions, serve_lines};
pub use options::GatewayOptions;
pub use role::PROGRAM;
pub use upstream::Upstream;
