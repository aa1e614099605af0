//! Sessions with servers that say what a script says.

mod calls;
mod eras;
mod hostile;
mod lists;
mod questions;
pub(crate) mod script;
mod web;
