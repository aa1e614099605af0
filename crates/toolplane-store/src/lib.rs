//! The store contract: one atomic [`Commit`], a handful of reads, one clock.
//!
//! A store compares record versions, writes records, moves index entries and appends events, all or nothing, and
//! answers only when that is durable in its [`Durability`] class. What the bytes mean, which transition is legal and
//! who may claim what is decided elsewhere: this crate must not know the lifecycle, any backend, or any transport.
//!
//! [`MemoryStore`] is the plain model of the contract. With the feature `conformance`, the module of that name holds
//! the suite every backend runs, and a differential test that compares a backend with the model.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

pub mod clock;
pub mod commit;
pub mod damage;
pub mod error;
pub mod key;
pub mod memory;
pub mod page;
pub mod seal;
pub mod store;

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

pub use clock::MonotonicClock;
pub use commit::{Append, Bound, Commit, CommitOutcome, Expect, Hint, IndexOp, Write};
pub use damage::{Damage, DamageList, DamageLocation};
pub use error::{Retry, StoreError};
pub use key::{Family, RecordKey, Versioned};
pub use memory::MemoryStore;
pub use page::{EventPage, IndexEntry, ScoreRange};
pub use seal::Sealed;
pub use store::{Durability, Found, HintStream, Store, StoreFuture};
