//! Tools in the shapes of model vendors and protocols, and the calls of models back to the exact tool: pure functions.
//!
//! [`export()`] gives the very array a vendor takes, an [alias](toolplane_records::alias) for each tool, and what was lost of it.
//! [`calls()`] reads what a model called, [`given`] makes of its arguments those the tool was declared for, and [`cards()`] tells of many
//! tools in few tokens. The same inputs give the same bytes, in every process.
//!
//! Schemas are those of registered tools: of bounded size, and without a reference that leaves them.

mod back;
mod calls;
mod cards;
mod export;
#[cfg(test)]
mod fuzz;
mod loss;
mod lower;
mod pointer;
mod shape;
mod tokens;
mod tool;
mod write;

pub use back::{Given, NotGiven, given};
pub use calls::{Arguments, ModelCall, NoCall, calls};
pub use cards::{Card, Cards, cards};
pub use export::{Export, Exported, Options, export, export_one, together};
pub use loss::{Done, Loss};
pub use shape::{Shape, UnknownShape};
pub use tokens::{ESTIMATE, Told, estimate, told};
pub use tool::{Hints, Tool};
