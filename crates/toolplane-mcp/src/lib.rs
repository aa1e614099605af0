//! The client of a server of the Model Context Protocol (MCP): sessions over any byte stream or over HTTP, tools as their server
//! ships them, calls and everything that may come of them, and a pool of sessions.
//!
//! ```text
//! Sessions ─lends─► Session ─asks─► Link ─┬─ stream   lines over a pair of byte streams
//!   (pool)             │                  └─ http     one exchange for each message, through `HttpSend`
//!                      └── Core ◄── what comes: answers to mailboxes, questions, progress, changes, limits
//! ```
//!
//! It knows nothing of leases, stores, sandboxes or policy: who starts a server, and where HTTP may go, is handed in.
//!
//! Both generations of the protocol are spoken: 2026-07-28, where each request says all it needs, and 2025-11-25, 2025-06-18,
//! 2025-03-26 and 2024-11-05, where a session begins with `initialize`.
//!
//! The official SDK (`rmcp`) is not used: its arguments and results are maps (keys sorted or numbers respelled; here bytes stay as they
//! are), it begins a task for each message of a server and reads lines of any length, and its errors do not say whether a request left.

mod ask;
mod content;
mod core;
mod definition;
mod elicit;
mod failure;
mod flight;
#[cfg(test)]
mod fuzz;
mod http;
mod limits;
mod link;
pub mod message;
pub mod meta;
mod pool;
mod session;
mod stream;
#[cfg(test)]
mod tests;
mod watch;

pub use content::{Content, ResourceBody, ToolAnswer};
pub use definition::{Annotations, RefusedTool, ToolDefinition};
pub use failure::{CloseReason, Failure, RpcError, StartError};
pub use http::{Body, HttpEndpoint, HttpSend, SendError};
pub use limits::Limits;
pub use meta::{ClientInfo, Era, TraceContext};
pub use pool::{Guard, LendError, Lent, OnChange, PoolLimits, Sessions, Start, Started};
pub use session::{Order, ServerInfo, Session, SessionOptions, ToolCall, ToolList, Transport};
pub use watch::{Progress, Question, QuestionKind, Reply, Unwatched, Watch};
