//! What calls share: batches and lock domains.
//!
//! A commit that changes something its scope has to know leaves an entry in the scope's index: a durable wish to settle.
//! Any scheduler may fulfil it, right after the commit or later; the pure lifecycle decides, and one commit stores the
//! scope, the calls it changes and that the wish is fulfilled. So a crash at any moment loses nothing and repeats nothing.

mod accept;
mod at_once;
mod follow;
mod handle;
mod keys;
mod read;
mod retention;
mod scopes;
mod settle;

pub(crate) use accept::{AdmittedBatch, BatchAdmission};
pub(crate) use at_once::FreeLocks;
pub(crate) use follow::{BatchEnd, BatchItem, BatchNews, BatchStart, BatchWatch};
pub(crate) use handle::Groups;
pub(crate) use keys::{batch_names, lists_batches};
pub(crate) use read::BatchFilter;
pub(crate) use retention::GroupRetention;
pub(crate) use scopes::ScopeBell;
pub(crate) use settle::Settler;
