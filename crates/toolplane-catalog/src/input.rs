//! Whether an input fits a tool.

mod explain;
mod numbers;
#[cfg(test)]
mod tests;
mod validator;

pub(crate) use numbers::inexact_numbers;
pub use validator::InputValidator;
