//! What happens to a tool's output: shown whole, shown as a preview, kept in the object store, or dropped with a
//! reason.
//!
//! [`decide()`] and [`render()`] are pure: they take sizes, text and an instant and return the standard's records.
//! [`payload`] is the only place of Toolplane that knows an object store.
//!
//! This crate must not know how an output was produced, over which transport a result travels, or how records are
//! stored: it hands out [`PayloadRef`](toolplane_records::payload::PayloadRef)s and never decides whether a call succeeded.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

pub mod decide;
pub mod outputs;
pub mod payload;
pub mod preview;
pub mod render;

pub use decide::{DecisionIds, LargeOutput, OutputFacts, PersistencePolicy, decide};
pub use payload::error::PayloadError;
pub use payload::key::PayloadKey;
pub use payload::{PayloadOptions, PayloadOrigin, PayloadRange, PayloadStore, PayloadWriter, StartClaim};
pub use preview::{Preview, PreviewLimits, Sampler, preview};
pub use render::{Channel, OutputBody, Rendered, model_facing, render, summarize};
