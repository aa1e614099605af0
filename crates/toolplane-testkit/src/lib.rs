//! What tests, demos and benches need around a real cluster: processes to start and kill, free ports, an OTLP receiver,
//! Redis servers, a faulty network, the example tools, and the environments of other languages.
//!
//! Nothing in here stands in for a part of the cluster. Only tests and `xtask` programs may depend on this crate.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

pub mod binary;
pub mod clients;
pub mod cluster;
pub mod layout;
pub mod otlp;
pub mod polyglot;
pub mod ports;
pub mod process;
pub mod processes;
pub mod proxy;
pub mod redis;
pub mod tools;
pub mod trace;

mod problem;

pub use cluster::{Cluster, Options};
pub use layout::Layout;
pub use problem::Problem;
pub use processes::Processes;
pub use toolplane_records::cluster::ClusterRole;
