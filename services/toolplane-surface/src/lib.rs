//! The surface role: keeps declared tools, makes surfaces of them, finds and loads tools in a surface, and says what a
//! name means there.
//!
//! What a declaration must satisfy and which tools a surface shows is decided by the pure catalog; this crate makes the
//! outcome durable, keeps it in memory, and tells schedulers before a change is answered. It must not know how a call
//! is decided, scheduled or run.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

mod breaker;
mod cache;
mod changes;
pub mod declarations;
mod denied;
mod error;
mod events;
#[cfg(test)]
mod fakes;
mod forget;
mod keys;
mod learning;
mod meaning;
mod memory;
mod options;
mod parts;
mod providers;
mod records;
mod registry;
mod rerank;
mod retention;
mod role;
mod rpc;
mod surfaces;
pub mod sync;
mod synonyms;
mod takeover;
mod view;

pub use error::SurfaceError;
pub use forget::forget;
pub use meaning::{Computed, MeaningSource, Purpose, Unread};
pub use options::{DenialOptions, LearningOptions, MeaningOptions, ProviderOptions, SurfaceOptions, Synonyms};
pub use rerank::Reranker;
pub use role::{PROGRAM, SurfaceRole, start};
