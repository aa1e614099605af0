//! Whole outputs in an object store: written before any record names them, read back by range, proved by digest.
//!
//! Objects are immutable and named by tenant, day, call, lease and SHA-256, so a repeated upload of the same bytes lands
//! on the same object and a different one can never overwrite it. On the local directory every write is flushed (file
//! and directory entries) before it is acknowledged, as a remote object store would have it.

pub mod error;
mod expiry;
pub mod key;
mod origin;
mod proofs;
mod read;
mod start;
mod store;
#[cfg(test)]
mod tests;
mod writer;

pub use origin::PayloadOrigin;
pub use read::PayloadRange;
pub use start::StartClaim;
pub use store::{PayloadOptions, PayloadStore};
pub use writer::PayloadWriter;
