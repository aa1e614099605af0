//! Tools of MCP servers: a real program in the sandbox, and a real server over HTTP.

mod bed;
mod http;
mod sessions;
mod stdio;
