//! A whole cluster in simulated time: seeded, single-threaded, the same for the same seed to the last byte.
//!
//! Two schedulers are the real ones (`toolplane_scheduler::simulation`), with the loops, the sessions of workers and
//! the commits of a cluster; three workers and a client are state machines. They meet on one bus that delays, loses,
//! repeats and reorders messages; processes die between any two steps and are paused, answers of the store get lost,
//! and its clock jumps. The store is the model of the contract (`toolplane_store::MemoryStore`). What is checked at the
//! end: nothing acknowledged is lost, every call ends once, nothing that must not start twice does, locks exclude, logs
//! are gapless, batches keep their policy, and nothing is left behind.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

pub mod calls;
pub mod check;
pub mod client;
pub mod env;
pub mod ledger;
pub mod message;
pub mod process;
pub mod random;
pub mod scheduler;
pub mod store;
pub mod wire;
pub mod worker;
pub mod world;

pub use world::{Report, Settings, run};
