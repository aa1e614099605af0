//! Why a document, or one of its operations, is not taken.

use toolplane_records::codes::{self, Code};
use toolplane_records::error::ToolError;
use toolplane_records::visible::excerpt;

/// Most characters of a text of the document that errors show.
const SHOWN: usize = 120;

/// Why a document is not taken as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The bytes cannot be read, or break a bound.
    #[error("the document {0}")]
    Unreadable(String),
    /// A place of the document breaks a rule.
    #[error("`{pointer}` {rule}")]
    Place {
        /// JSON pointer of the place; empty for the document itself.
        pointer: String,
        /// The rule it breaks.
        rule: String,
    },
    /// A version of the specification that is not known here.
    #[error("the document says it is of version `{0}`; known are OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0")]
    Version(String),
}

impl DocumentError {
    /// The code of the registry.
    pub fn code(&self) -> Code {
        codes::OPENAPI_DOCUMENT
    }

    /// The same as the error of a call.
    pub fn to_tool_error(&self) -> ToolError {
        let mut error = ToolError::of(self.code(), self.to_string());
        error.side_effects = Some("none".to_owned());
        error
    }
}

/// An operation that does not become a tool, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{operation}` is not imported: `{pointer}` {rule}")]
pub struct Refusal {
    /// The operation's id in the document: its `operationId`, or `METHOD /path`.
    pub operation: String,
    /// JSON pointer of the place that is wrong.
    pub pointer: String,
    /// The rule it breaks.
    pub rule: String,
}

impl Refusal {
    /// The code of the registry.
    pub fn code(&self) -> Code {
        codes::OPENAPI_OPERATION
    }
}

/// A place of a document that breaks a rule; the one who looks knows of which operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) pointer: String,
    pub(crate) rule: String,
}

impl Fault {
    pub(crate) fn at(pointer: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), rule: rule.into() }
    }

    pub(crate) fn of(self, operation: &str) -> Refusal {
        Refusal { operation: operation.to_owned(), pointer: self.pointer, rule: self.rule }
    }
}

impl From<Fault> for DocumentError {
    fn from(fault: Fault) -> Self {
        Self::Place { pointer: fault.pointer, rule: fault.rule }
    }
}

/// A text of the document, as errors show it.
pub(crate) fn shown(text: &str) -> String {
    excerpt(text, SHOWN)
}
