//! Turns `proto/` into the Rust code and the descriptor set that `toolplane-proto` keeps checked in.
//!
//! Nothing depends on this crate, so builds of the cluster never pay for a protobuf compiler; and it depends on none of
//! ours, so the code can be generated again however broken the crates that use it are. `cargo xtask gen` runs it.

pub mod generate;
pub mod layout;

#[cfg(test)]
mod tests;
