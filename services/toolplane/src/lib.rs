//! The `toolplane` program: the command line for people, and `serve`, which runs the roles of a cluster.
//!
//! The command line knows the cluster only through its public API; it never touches a store. `serve` composes the roles
//! and lets them meet over gRPC alone. What a role does is decided in the role's own crate, never here.

pub mod cli;
pub mod serve;
