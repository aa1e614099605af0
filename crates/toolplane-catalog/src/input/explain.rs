//! Why an input does not fit, in words a model can act on: what was given, and what may be.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;
use toolplane_records::error::FieldViolation;
use toolplane_records::visible;

use super::sensitive::SensitiveFields;
use crate::schema::pointer::escape;
use crate::violations::shown;

/// Longest pointer that is reported, in characters.
const MAX_POINTER: usize = 256;
/// Longest rule that is reported, in characters.
const MAX_RULE: usize = 480;
/// Longest value that is shown, in characters.
const MAX_VALUE: usize = 80;
/// Most options, fields or alternatives that are listed.
const MAX_LISTED: usize = 12;

/// What may be told of a value that does not fit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Showing<'a> {
    /// Nothing inside these fields is told, not even names. `None`: nothing is sensitive.
    sensitive: Option<&'a SensitiveFields>,
    /// Values are repeated: they come from the one who reads the answer.
    values: bool,
    /// The fields of the tool.
    fields: &'a [String],
}

impl<'a> Showing<'a> {
    /// Everything is told: what is checked is public anyway.
    pub(crate) const fn everything() -> Self {
        Self { sensitive: None, values: true, fields: &[] }
    }

    /// What was wrong with the words of the caller, who is told; sensitive values are still not repeated.
    pub(crate) const fn to_the_caller(sensitive: &'a SensitiveFields, fields: &'a [String]) -> Self {
        Self { sensitive: Some(sensitive), values: true, fields }
    }

    /// Only places and rules are told: hooks, people or the runtime gave the values.
    pub(crate) const fn rules_only(sensitive: &'a SensitiveFields) -> Self {
        Self { sensitive: Some(sensitive), values: false, fields: &[] }
    }

    fn covering(&self, place: &str) -> Option<String> {
        self.sensitive.and_then(|sensitive| sensitive.covering(place))
    }

    /// The value at `place`, in a few words; nothing when values are not told.
    fn value(&self, place: &str, value: &Value) -> Option<String> {
        if !self.values {
            return None;
        }
        let scalar = !matches!(value, Value::Array(_) | Value::Object(_));
        match scalar && self.sensitive.is_some_and(|sensitive| sensitive.reaches_into(place)) {
            // What should have held a secret may be the secret.
            true => Some(kind_of(value).to_owned()),
            false => Some(described(value)),
        }
    }
}

/// The violations behind one error. Inside sensitive fields not even member names are told.
pub(crate) fn explain(error: &ValidationError<'_>, showing: &Showing<'_>) -> Vec<FieldViolation> {
    let place = error.instance_path().as_str();
    if let Some(hidden) = showing.covering(place) {
        let rule = match error.kind() {
            ValidationErrorKind::AdditionalProperties { .. }
            | ValidationErrorKind::UnevaluatedProperties { .. }
            | ValidationErrorKind::PropertyNames { .. } => "holds a field that is not allowed".to_owned(),
            kind => rule(kind),
        };
        return vec![FieldViolation { field: hidden, description: shown(&rule, MAX_RULE) }];
    }
    let member = |name: &str, rule: String| FieldViolation {
        field: shown(&format!("{place}/{}", escape(name)), MAX_POINTER),
        description: rule,
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![member(property.as_str().unwrap_or_default(), "is required".to_owned())]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let known = if place.is_empty() { known_fields(showing.fields) } else { String::new() };
            unexpected.iter().map(|name| member(name, format!("is not a field of this tool{known}"))).collect()
        }
        kind => {
            let mut rule = shown(&rule(kind), MAX_RULE);
            rule.extend(alternatives(kind, place, showing));
            rule.extend(given(kind, error.instance(), place, showing));
            vec![FieldViolation { field: shown(place, MAX_POINTER), description: rule }]
        }
    }
}

fn known_fields(fields: &[String]) -> String {
    match fields {
        [] => String::new(),
        [only] => format!("; its only field is `{}`", shown(only, 40)),
        _ => format!("; its fields are {}", listed(fields.iter().map(|name| format!("`{}`", shown(name, 40))))),
    }
}

/// What the value is instead, as the end of a sentence.
fn given(kind: &ValidationErrorKind, value: &Value, place: &str, showing: &Showing<'_>) -> Option<String> {
    use ValidationErrorKind as Kind;
    let is = || showing.value(place, value).map(|value| format!("; is {value}"));
    let has = |count: Option<usize>, noun: &str| {
        count.filter(|_| showing.values).map(|count| format!("; has {count} {noun}"))
    };
    match kind {
        Kind::MinLength { .. } | Kind::MaxLength { .. } => {
            has(value.as_str().map(|text| text.chars().count()), "characters")
        }
        Kind::MinItems { .. } | Kind::MaxItems { .. } | Kind::AdditionalItems { .. } => {
            has(value.as_array().map(Vec::len), "elements")
        }
        Kind::MinProperties { .. } | Kind::MaxProperties { .. } => {
            has(value.as_object().map(serde_json::Map::len), "fields")
        }
        Kind::UniqueItems
        | Kind::UnevaluatedItems { .. }
        | Kind::PropertyNames { .. }
        | Kind::Contains
        | Kind::FalseSchema => None,
        _ => is(),
    }
}

/// What each alternative asks for, as the end of a sentence.
fn alternatives(kind: &ValidationErrorKind, place: &str, showing: &Showing<'_>) -> Option<String> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) = kind else {
        return None;
    };
    let mut told: Vec<String> = Vec::new();
    for error in context.iter().filter_map(|errors| errors.first()) {
        let text = match error.kind() {
            // Alternatives of alternatives would make a text too long to read.
            nested @ (ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. }) => rule(nested),
            kind if error.instance_path().as_str() == place && !names_a_member(kind) => rule(kind),
            _ => match explain(error, showing).into_iter().next() {
                Some(violation) => format!("`{}` {}", violation.field, violation.description),
                None => continue,
            },
        };
        if !told.contains(&text) {
            told.push(text);
        }
    }
    (!told.is_empty()).then(|| shown(&format!(": {}", told[..told.len().min(MAX_LISTED)].join(", or ")), MAX_RULE))
}

fn names_a_member(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::Required { .. }
            | ValidationErrorKind::AdditionalProperties { .. }
            | ValidationErrorKind::UnevaluatedProperties { .. }
    )
}

/// The broken rule, in the words of the schema.
fn rule(kind: &ValidationErrorKind) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("must be of type {}", types(kind)),
        Kind::Enum { options } => {
            format!("must be one of {}", listed(options.as_array().into_iter().flatten().map(|one| literal(one, 40))))
        }
        Kind::Constant { expected_value } => format!("must be {}", literal(expected_value, MAX_VALUE)),
        Kind::Pattern { pattern } => format!("must match the pattern `{}`", shown(pattern, 120)),
        Kind::Format { format } => format!("must be in the format `{}`", shown(format, 40)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} elements"),
        Kind::MaxItems { limit } => format!("must have at most {limit} elements"),
        Kind::AdditionalItems { limit } => format!("must have at most {limit} elements"),
        Kind::MinProperties { limit } => format!("must have at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} fields"),
        Kind::UniqueItems => "must not hold the same element twice".to_owned(),
        Kind::UnevaluatedItems { .. } => "holds an element that is not allowed".to_owned(),
        Kind::PropertyNames { .. } => "holds a field whose name is not allowed".to_owned(),
        Kind::Contains => "holds too few or too many elements of the required kind".to_owned(),
        Kind::AnyOf { .. } => "fits none of the alternatives (`anyOf`)".to_owned(),
        Kind::OneOfNotValid { .. } => "fits none of the alternatives (`oneOf`)".to_owned(),
        Kind::OneOfMultipleValid { .. } => "fits more than one of the alternatives (`oneOf`)".to_owned(),
        Kind::Not { schema } => format!("must not fit {}", literal(schema, 120)),
        Kind::FalseSchema => "must be left out".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("must be text in the encoding `{}`", shown(content_encoding, 40))
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("must hold content of the type `{}`", shown(content_media_type, 40))
        }
        other => format!("breaks the rule `{}`", other.keyword()),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => format!("`{one}`"),
        TypeKind::Multiple(set) => set.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(" or "),
    }
}

fn listed(all: impl Iterator<Item = String>) -> String {
    let mut all = all.peekable();
    let mut text: Vec<String> = all.by_ref().take(MAX_LISTED).collect();
    if all.peek().is_some() {
        text.push(format!("... ({} in all)", text.len() + all.count()));
    }
    text.join(", ")
}

/// A value of the input in a few words: whole when it is small, else what it is.
fn described(value: &Value) -> String {
    match value {
        Value::Array(elements) => format!("an array of {} elements", elements.len()),
        Value::Object(members) => format!("an object of {} fields", members.len()),
        scalar => literal(scalar, MAX_VALUE),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value as JSON; of a string about `max` characters, of anything else at most so many.
fn literal(value: &Value, max: usize) -> String {
    match value {
        Value::String(text) => {
            // Cut before it is written as JSON, so that the closing quote is there, and made visible after it.
            let cut = match text.char_indices().nth(max) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text.clone(),
            };
            visible::line(&Value::String(cut).to_string()).into_owned()
        }
        other => visible::excerpt(&other.to_string(), max),
    }
}
