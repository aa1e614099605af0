//! The cluster as an MCP server: real clients, the official suite, and sessions that go from one process to another.

mod bed;
mod changes;
mod drained;
mod moved;
mod oauth;
mod people;
mod real;
mod traced;
mod wrong;
