//! Whole outputs in an object store, a directory or a bucket: written before any record names them, read back by range, proved by digest.
//!
//! Objects are immutable and named by tenant, day, call, lease and SHA-256, so a repeated upload of the same bytes lands
//! on the same object and a different one can never overwrite it. On the local directory every write is flushed (file
//! and directory entries) before it is acknowledged, as a remote object store would have it.

mod cloud;
#[cfg(test)]
mod conformance;
pub mod error;
mod expiry;
mod kept;
pub mod key;
mod link;
pub mod location;
mod origin;
mod pieces;
mod proofs;
mod read;
mod spool;
mod start;
mod store;
#[cfg(test)]
mod tests;
mod upload;
mod writer;

pub use kept::{KeptDay, KeptPayload};
pub use link::MAX_LINK;
pub use location::Location;
pub use origin::PayloadOrigin;
pub use read::PayloadRange;
pub use spool::SpoolOptions;
pub use start::StartClaim;
pub use store::{PayloadOptions, PayloadStore};
pub use writer::PayloadWriter;
