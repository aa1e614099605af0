//! JSON Schemas of tools: checked before they are trusted, compiled once.
//!
//! A schema is written by one party and evaluated on input of another, so it is bounded like input: in size, in the
//! places it may point to, and in what evaluating it can cost.

mod compile;
mod cost;
mod graph;
#[cfg(test)]
mod tests;

pub use compile::{CompiledSchema, compile};
pub use cost::CostProfile;
pub use graph::decode_pointer;
pub(crate) use graph::escape;
