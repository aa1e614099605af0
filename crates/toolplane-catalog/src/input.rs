//! Whether an input fits a tool.

mod answer;
mod explain;
mod numbers;
#[cfg(test)]
mod tests;
mod validator;

pub use answer::AnswerValidator;
pub(crate) use numbers::inexact_numbers;
pub use validator::InputValidator;
