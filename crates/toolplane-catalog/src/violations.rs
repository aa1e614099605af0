//! Collecting everything that is wrong instead of stopping at the first thing.

use std::fmt::Display;

use toolplane_records::error::FieldViolation;

/// Field violations in the order they were found.
#[derive(Debug, Default)]
pub(crate) struct Violations(Vec<FieldViolation>);

impl Violations {
    pub(crate) fn add(&mut self, field: impl Into<String>, rule: impl Display) {
        self.0.push(FieldViolation { field: field.into(), description: rule.to_string() });
    }

    /// Takes over `others`, each with `prefix` in front of its field.
    pub(crate) fn extend_under(&mut self, prefix: &str, others: Vec<FieldViolation>) {
        self.0.extend(others.into_iter().map(|violation| FieldViolation {
            field: join(prefix, &violation.field),
            description: violation.description,
        }));
    }

    pub(crate) fn into_result(self) -> Result<(), Vec<FieldViolation>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }

    pub(crate) fn into_vec(self) -> Vec<FieldViolation> {
        self.0
    }
}

/// A path in front of a field: a JSON pointer is appended as it is, a field name with a dot.
fn join(prefix: &str, field: &str) -> String {
    match field {
        "" => prefix.to_owned(),
        _ if prefix.is_empty() || field.starts_with('/') || field.starts_with('[') => format!("{prefix}{field}"),
        _ => format!("{prefix}.{field}"),
    }
}

/// At most `max` characters of `text` in one line, for showing a caller's own words back.
pub(crate) fn shown(text: &str, max: usize) -> String {
    toolplane_records::visible::excerpt(text, max)
}
