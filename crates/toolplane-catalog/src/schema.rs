//! JSON Schemas of tools: checked before they are trusted, compiled once.
//!
//! A schema is read in the version of JSON Schema it names. It is written by one party and evaluated on input of another, so
//! it is bounded like input: in size, in the places it may point to, and in what evaluating it can cost.

mod compile;
mod cost;
mod dialect;
mod differences;
mod graph;
mod numbers;
pub(crate) mod pointer;
#[cfg(test)]
mod tests;

pub use compile::{CompiledSchema, compile};
pub use cost::CostProfile;
pub use dialect::{Dialect, UnknownDialect};
pub use differences::differences;
pub use pointer::decode_pointer;
pub(crate) use pointer::escape;
