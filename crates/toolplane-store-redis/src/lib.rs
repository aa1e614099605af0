//! The durable store of many processes: Redis 7.0 or newer, standalone, behind sentinels, or a Redis Cluster.
//!
//! Every commit is one Lua script, so it is atomic; every key carries the shard's name as its hash tag, so a shard lies in
//! one slot and on one primary. A namespace is one shard, or several that know of each other by what `layout` writes; each
//! is a store of its own. All callers of a process share one connection to that primary. An answer that is lost is
//! asked for again under the same name until it is certain, and a call that came late is refused.
//!
//! | what | where |
//! | --- | --- |
//! | what is called how in Redis | `keys` |
//! | the scripts | `scripts/*.lua`, each with its keys, arguments and replies |
//! | what an error means for its command | `failure` |
//! | finding and checking the primary | `connector`, `facts` |
//! | that the shards are those the store was made with | `layout` |
//! | noticing that it changed: emptied, switched to lose records, away | `identity`, `standing`, `pulse` |
//! | waiting for replicas | `barrier` |
//!
//! This crate must not know what the bytes mean: it implements [`toolplane_store::Store`] and nothing else.

mod alike;
mod barrier;
mod check;
mod clock;
mod connector;
mod contract;
mod facts;
mod failure;
#[cfg(test)]
mod fuzz;
mod hints;
mod identity;
mod keys;
mod layout;
mod link;
mod listing;
mod open_error;
mod options;
mod pulse;
mod reply;
mod request;
mod scripts;
mod standing;
mod stats;
mod store;
mod task;
mod trouble;
mod value;

pub use check::CheckReport;
pub use open_error::OpenError;
pub use options::{RedisOptions, Secret, Servers, TlsFiles};
pub use stats::Stats;
pub use store::RedisStore;
pub use trouble::Trouble;
