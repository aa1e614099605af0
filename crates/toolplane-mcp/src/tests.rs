//! Sessions with servers that say what a script says.

mod calls;
mod eras;
mod hostile;
mod lists;
mod questions;
mod script;
