//! Tools of MCP servers: a real program in the sandbox, and a real server over HTTP.

pub(crate) mod bed;
pub(crate) mod http;
mod proxied;
pub(crate) mod sessions;
mod stdio;
