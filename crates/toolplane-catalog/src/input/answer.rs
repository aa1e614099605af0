//! Whether an answer fits the question of a running tool.

use toolplane_records::error::FieldViolation;
use toolplane_records::payload::JsonPayload;

use super::explain::Showing;
use super::read::read;
use super::sensitive::SensitiveFields;
use crate::limits::CatalogLimits;
use crate::schema::{CompiledSchema, compile};

/// Validates answers to one question.
#[derive(Debug)]
pub struct AnswerValidator {
    /// `None` for a question that takes any answer.
    schema: Option<CompiledSchema>,
    limits: CatalogLimits,
}

impl AnswerValidator {
    /// Compiles the validator of a question with this schema; violations carry JSON pointers into the schema.
    ///
    /// # Errors
    ///
    /// The violations that [`compile()`] finds in the schema. Without a schema it always succeeds.
    pub fn new(schema: Option<&JsonPayload>, limits: &CatalogLimits) -> Result<Self, Vec<FieldViolation>> {
        let schema = schema.map(|schema| compile(schema, limits)).transpose()?;
        Ok(Self { schema, limits: limits.clone() })
    }

    /// Checks `answer`: one JSON value of any type within the bounds, every number held exactly, satisfying the schema.
    ///
    /// Violations are at most [`InputLimits::max_violations`](crate::limits::InputLimits::max_violations), each a JSON pointer and the rule it broke. The answer is not repeated:
    /// a question may be for a password.
    ///
    /// # Errors
    ///
    /// These violations, when the answer breaks one of those rules; one violation of the whole answer, when checking it
    /// would cost more than [`InputLimits::max_validation_cost`](crate::limits::InputLimits::max_validation_cost) steps.
    pub fn validate(&self, answer: &JsonPayload) -> Result<(), Vec<FieldViolation>> {
        let sensitive = SensitiveFields::default();
        let blind = self.schema.as_ref().is_none_or(CompiledSchema::is_blind_to_large);
        let value = read(answer, blind, &sensitive, &self.limits)?.value;
        match &self.schema {
            Some(schema) => {
                let showing = Showing::rules_only(&sensitive);
                super::validator::check_schema(schema, &value, answer.size(), showing, &self.limits)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Option<&str>, answer: &str) -> Result<(), Vec<FieldViolation>> {
        let payload = |text: &str| JsonPayload::from_checked(text.to_owned().into_bytes());
        let schema = schema.map(payload);
        AnswerValidator::new(schema.as_ref(), &CatalogLimits::default()).unwrap().validate(&payload(answer))
    }

    #[test]
    fn answers_of_any_type_are_held_against_the_schema() {
        assert_eq!(check(None, "\"yes\""), Ok(()));
        let schema = r#"{"type":"string","enum":["yes","no"]}"#;
        assert_eq!(check(Some(schema), "\"yes\""), Ok(()));
        assert!(!check(Some(schema), "\"maybe\"").unwrap_err().is_empty());
        assert_eq!(check(None, "18446744073709551617"), Ok(()), "of any size");
        assert!(!check(None, "9007199254740993.0").unwrap_err().is_empty(), "not held exactly");
        let object = r#"{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}"#;
        assert_eq!(check(Some(object), "{}").unwrap_err().len(), 1);
    }
}
