//! Whether an input fits a tool.

mod answer;
mod changes;
pub(crate) mod explain;
pub(crate) mod numbers;
mod read;
mod sensitive;
#[cfg(test)]
mod tests;
mod validator;

pub use answer::AnswerValidator;
pub use changes::changed_fields;
pub(crate) use explain::{Showing, explain};
pub use sensitive::SensitiveFields;
pub use validator::InputValidator;
