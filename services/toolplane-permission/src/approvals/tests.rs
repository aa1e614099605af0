//! The book over every kind of store.

mod always;
mod answers;
mod fixture;
mod lists;
mod races;
mod restarts;
