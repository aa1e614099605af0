//! Providers of tools as pure values: what their tools are called, what has changed since they were last asked, which of their tools
//! may be called, how they are, and what a person is shown who has to look at a tool.
//!
//! Values come in, values go out. This crate knows no store, no network, no clock (`now` is handed in), no chance (jitter is handed in)
//! and no async runtime. It speaks no protocol either: whoever asked a provider what it has makes a registration of each definition,
//! with the names of [`names::ToolNames`], or says why none can be made.
//!
//! ```text
//! tools ──► Listing  ──► difference(known) ──► Difference ──► records() ──► stored
//!                                                                             │
//!            a person: ModelView, Changed::words ──► approve, reject ─────────┤
//!                                                                             ▼
//!            a call: health::admit ──► review::standing ──► the catalogue's tool
//! ```
//!
//! What the catalogue holds of a tool is the registration that was approved, byte for byte; one that waits is kept beside it, and no
//! word of it reaches a model.

pub mod check;
pub mod difference;
pub mod digest;
#[cfg(test)]
mod fixtures;
pub mod health;
pub mod known;
pub mod listing;
pub mod names;
pub mod native;
pub mod review;
pub mod shown;
pub mod words;

pub use difference::{Difference, difference};
pub use digest::definition_digest;
pub use health::{Admission, Outcome};
pub use known::{Known, KnownTool, Record, counts};
pub use listing::{Definition, Found, Limits, Listing};
pub use names::ToolNames;
pub use review::{Answer, ReviewRefusal, Standing};
pub use shown::ModelView;
pub use words::Words;
