//! The book over every kind of store.

mod always;
mod answers;
mod edits;
mod fixture;
mod lists;
mod races;
mod removed;
mod restarts;
