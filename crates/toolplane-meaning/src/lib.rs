//! Finding texts by what they mean: vectors of texts, which ones are near each other, and one order out of two.
//!
//! ```text
//! texts ──Embedder──► vectors ──Quantised──► Vectors ──nearest──► keys, nearest first ─┐
//!                                                        words' own order ────────────┴─fuse──► one order
//! ```
//!
//! Nothing here knows tools, stores or a network. Where vectors come from is behind [`Embedder`]; with the feature `model` there is
//! one for models in a folder.

mod embedder;
mod fuse;
#[cfg(feature = "model")]
mod model;
mod quantised;
mod signs;
mod vectors;

pub use embedder::{EmbedError, Embedder, ModelId};
pub use fuse::{FUSED_ONE, Fused, Weights, fuse};
#[cfg(feature = "model")]
pub use model::{FolderModel, ModelFault};
pub use quantised::Quantised;
pub use vectors::{Near, Vectors};
