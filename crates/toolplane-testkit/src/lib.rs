//! What tests, demos and benches need around a real cluster: processes to start and kill, free ports, an OTLP receiver,
//! the example tools, and the environments of other languages.
//!
//! Nothing in here stands in for a part of the cluster. Only tests and `xtask` programs may depend on this crate.

pub mod binary;
pub mod clients;
pub mod cluster;
pub mod otlp;
pub mod polyglot;
pub mod ports;
pub mod process;
pub mod tools;
pub mod trace;

mod problem;

pub use cluster::{Cluster, Options};
pub use problem::Problem;
