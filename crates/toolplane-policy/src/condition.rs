//! Conditions of rules beside the tool: facts and arguments.

mod argument;
mod fact;
mod number;
mod value;

pub use argument::{ArgumentTest, Operator};
pub use fact::FactTest;
pub use value::CallInput;

/// A text or value that is no condition; says what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCondition(pub(crate) String);
