//! Why a message is no record.

/// A field of a message that breaks a rule. Services answer it as a field violation of an invalid argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {rule}")]
pub struct ConvertError {
    /// Path of the field from the message that was read, e.g. `declaration.input_contract.model_input_schema`.
    pub field: String,
    /// The rule it breaks, as a phrase that follows the field's name.
    pub rule: String,
}

impl ConvertError {
    /// A field that breaks a rule.
    pub fn new(field: impl Into<String>, rule: impl std::fmt::Display) -> Self {
        Self { field: field.into(), rule: rule.to_string() }
    }

    /// A required field that was left out.
    pub fn missing(field: impl Into<String>) -> Self {
        Self::new(field, "is required")
    }

    /// The same error seen from the message that holds this one in its field `parent`.
    #[must_use]
    pub fn within(self, parent: &str) -> Self {
        let field = match self.field.as_str() {
            "" => parent.to_owned(),
            inner => format!("{parent}.{inner}"),
        };
        Self { field, ..self }
    }
}
