//! The role behind its real listener, on the real store, spoken to over gRPC.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed test")]

#[path = "service/budget.rs"]
mod budget;
#[path = "service/catalog.rs"]
mod catalog;
#[path = "service/denied.rs"]
mod denied;
#[path = "service/endpoint.rs"]
mod endpoint;
#[path = "service/large.rs"]
mod large;
#[path = "service/learning.rs"]
mod learning;
#[path = "service/meaning.rs"]
mod meaning;
#[path = "service/providers.rs"]
mod providers;
#[path = "service/rerank.rs"]
mod rerank;
#[path = "service/role.rs"]
mod role;
#[path = "service/search.rs"]
mod search;
#[path = "service/selection.rs"]
mod selection;
#[path = "service/several.rs"]
mod several;
#[path = "service/surfaces.rs"]
mod surfaces;
#[path = "service/sync.rs"]
mod sync;
#[path = "service/synonyms.rs"]
mod synonyms;
#[path = "service/takeover.rs"]
mod takeover;
#[path = "service/watch.rs"]
mod watch;
#[path = "service/within.rs"]
mod within;
