//! The schedulers that share a store: who lives, and fences that no two of them grant.

mod fence;
mod members;

pub(crate) use members::{Members, Served};
