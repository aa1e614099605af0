//! A whole cluster in simulated time: seeded, single-threaded, the same for the same seed to the last byte.
//!
//! Two schedulers, three workers and a client are state machines on one bus that delays, loses, repeats and reorders
//! messages; processes die and stand still at any moment, and the store's clock jumps. The decisions are the real ones
//! (`toolplane-lifecycle`), the store is the model of the contract (`toolplane_store::MemoryStore`). What is checked at
//! the end: nothing acknowledged is lost, every call ends once, nothing that must not start twice does, locks exclude,
//! logs are gapless, batches keep their policy, and nothing is left behind.

pub mod calls;
pub mod check;
pub mod client;
pub mod env;
pub mod ledger;
pub mod message;
pub mod random;
pub mod scheduler;
pub mod storage;
pub mod worker;
pub mod world;

pub use env::Mutant;
pub use world::{Report, Settings, run};
