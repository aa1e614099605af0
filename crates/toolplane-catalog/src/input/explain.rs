//! Why an input does not fit, in words a model can act on; never a value of the input.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;
use toolplane_records::error::FieldViolation;

use super::sensitive::SensitiveFields;
use crate::schema::escape;
use crate::violations::shown;

/// Longest pointer and longest rule that is reported, in characters.
const MAX_TEXT: usize = 256;

/// The violations behind one error. Inside `sensitive` fields not even member names are told.
pub(super) fn explain(error: &ValidationError<'_>, sensitive: &SensitiveFields) -> Vec<FieldViolation> {
    let place = error.instance_path().as_str();
    if let Some(hidden) = sensitive.covering(place) {
        let rule = match error.kind() {
            ValidationErrorKind::AdditionalProperties { .. }
            | ValidationErrorKind::UnevaluatedProperties { .. }
            | ValidationErrorKind::PropertyNames { .. } => "holds a field that is not allowed".to_owned(),
            kind => rule(kind),
        };
        return vec![FieldViolation { field: hidden, description: rule }];
    }
    let member = |name: &str, rule: &str| FieldViolation {
        field: shown(&format!("{place}/{}", escape(name)), MAX_TEXT),
        description: rule.to_owned(),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![member(property.as_str().unwrap_or_default(), "is required")]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().map(|name| member(name, "is not a field of this tool")).collect()
        }
        kind => vec![FieldViolation { field: shown(place, MAX_TEXT), description: shown(&rule(kind), MAX_TEXT) }],
    }
}

/// The broken rule, in the words of the schema.
fn rule(kind: &ValidationErrorKind) -> String {
    match kind {
        ValidationErrorKind::Type { kind } => format!("must be of type {}", types(kind)),
        ValidationErrorKind::Enum { options } => format!("must be one of {}", options_text(options)),
        ValidationErrorKind::Constant { expected_value } => {
            format!("must be {}", shown(&expected_value.to_string(), 80))
        }
        ValidationErrorKind::Pattern { pattern } => format!("must match the pattern `{}`", shown(pattern, 120)),
        ValidationErrorKind::Format { format } => format!("must be in the format `{}`", shown(format, 40)),
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        ValidationErrorKind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        ValidationErrorKind::MinLength { limit } => format!("must have at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("must have at most {limit} characters"),
        ValidationErrorKind::MinItems { limit } => format!("must have at least {limit} elements"),
        ValidationErrorKind::MaxItems { limit } => format!("must have at most {limit} elements"),
        ValidationErrorKind::AdditionalItems { limit } => format!("must have at most {limit} elements"),
        ValidationErrorKind::MinProperties { limit } => format!("must have at least {limit} fields"),
        ValidationErrorKind::MaxProperties { limit } => format!("must have at most {limit} fields"),
        ValidationErrorKind::UniqueItems => "must not hold the same element twice".to_owned(),
        ValidationErrorKind::UnevaluatedItems { .. } => "holds an element that is not allowed".to_owned(),
        ValidationErrorKind::PropertyNames { .. } => "holds a field whose name is not allowed".to_owned(),
        ValidationErrorKind::Contains => "holds too few or too many elements of the required kind".to_owned(),
        ValidationErrorKind::AnyOf { .. } => "fits none of the alternatives (`anyOf`)".to_owned(),
        ValidationErrorKind::OneOfNotValid { .. } => "fits none of the alternatives (`oneOf`)".to_owned(),
        ValidationErrorKind::OneOfMultipleValid { .. } => "fits more than one of the alternatives (`oneOf`)".to_owned(),
        ValidationErrorKind::Not { .. } => "is of a kind that is excluded (`not`)".to_owned(),
        ValidationErrorKind::FalseSchema => "must be left out".to_owned(),
        other => format!("breaks the rule `{}`", other.keyword()),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => format!("`{one}`"),
        TypeKind::Multiple(set) => set.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(" or "),
    }
}

fn options_text(options: &Value) -> String {
    const SHOWN: usize = 12;
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text: Vec<String> = all.iter().take(SHOWN).map(|option| shown(&option.to_string(), 40)).collect();
    if all.len() > SHOWN {
        text.push(format!("... ({} in all)", all.len()));
    }
    text.join(", ")
}
