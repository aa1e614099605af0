//! The store contract: one atomic [`Commit`], a handful of reads, one clock.
//!
//! A store compares record versions, writes records, moves index entries and appends events, all or nothing, and
//! answers only when that is durable in its [`Durability`] class. What the bytes mean, which transition is legal and
//! who may claim what is decided elsewhere: this crate must not know the lifecycle, any backend, or any transport.
//!
//! [`MemoryStore`] is the plain model of the contract, and [`ShardedStore`] makes one store of several. With the feature
//! `conformance`, the module of that name holds the suite every backend runs, and a differential test that compares a
//! backend with the model.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! use toolplane_store::{Commit, CommitOutcome, Expect, Family, MemoryStore, RecordKey, Store, Write};
//!
//! let store = MemoryStore::new();
//! let key = RecordKey::new(Family::Meta, "greeting");
//! let put = |expect, text: &'static str| Commit {
//!     compare: vec![(key.clone(), expect)],
//!     writes: vec![Write::Put { key: key.clone(), bytes: text.into() }],
//!     ..Commit::default()
//! };
//! assert_eq!(store.commit(put(Expect::Absent, "hello")).await?, CommitOutcome::Applied);
//! // Of two that expect the same version only one is applied; the other is told what is there now.
//! assert_eq!(store.commit(put(Expect::Version(1), "good day")).await?, CommitOutcome::Applied);
//! assert!(matches!(store.commit(put(Expect::Version(1), "hi")).await?, CommitOutcome::Lost { .. }));
//! # Ok::<_, toolplane_store::StoreError>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

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
pub mod likeness;
pub mod memory;
pub mod page;
pub mod seal;
pub mod sharded;
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
pub use sharded::{Place, Placement, ShardedStore};
pub use store::{Durability, Found, HintStream, Store, StoreFuture};
