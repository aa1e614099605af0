//! Reading fields of a request: bounds, and the names of those that are wrong.

use toolplane_records::SmolStr;
use toolplane_records::error::FieldViolation;
use toolplane_records::short_text;

use crate::error::CallError;

/// Most references of one kind.
const MAX_REFS: usize = 64;

/// Collects what is wrong with a request. Fields are named by their path below the message that is being read.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    path: String,
    faults: Vec<FieldViolation>,
}

impl Fields {
    /// Fields of the message at `path`.
    pub(crate) fn within(path: &str) -> Self {
        Self { path: path.to_owned(), faults: Vec::new() }
    }

    /// From now on, fields of the message at `path`.
    pub(crate) fn enter(&mut self, path: String) {
        self.path = path;
    }

    /// Says that `field` breaks `rule`; the empty field is the message itself.
    pub(crate) fn add(&mut self, field: &str, rule: impl Into<String>) {
        let field = match (self.path.as_str(), field) {
            (path, "") => path.to_owned(),
            ("", field) => field.to_owned(),
            (path, field) => format!("{path}.{field}"),
        };
        self.faults.push(FieldViolation { field, description: rule.into() });
    }

    /// The value, or a fault.
    pub(crate) fn take<T, E: std::fmt::Display>(&mut self, field: &str, value: Result<T, E>) -> Option<T> {
        value.map_err(|rule| self.add(field, rule.to_string())).ok()
    }

    /// A short printable text; `None` when empty or refused.
    pub(crate) fn text(&mut self, field: &str, text: String) -> Option<SmolStr> {
        self.short_text(field, text, short_text::MAX_BYTES)
    }

    /// The same with a bound of its own, in bytes.
    pub(crate) fn short_text(&mut self, field: &str, text: String, most: usize) -> Option<SmolStr> {
        if let Some(rule) = short_text::broken_rule(&text, most) {
            self.add(field, rule);
            return None;
        }
        (!text.is_empty()).then(|| text.into())
    }

    /// A text that must be given.
    pub(crate) fn required_text(&mut self, field: &str, text: String) -> Option<SmolStr> {
        if text.is_empty() {
            self.add(field, "must be given");
        }
        self.text(field, text)
    }

    /// A short list of texts.
    pub(crate) fn texts(&mut self, field: &str, texts: Vec<String>) -> Vec<SmolStr> {
        if texts.len() > MAX_REFS {
            self.add(field, format!("must have at most {MAX_REFS} entries"));
            return Vec::new();
        }
        let texts = texts.into_iter().enumerate();
        texts.filter_map(|(index, text)| self.text(&format!("{field}[{index}]"), text)).collect()
    }

    /// An error that names every fault, when there is one.
    pub(crate) fn into_result(self) -> Result<(), CallError> {
        if self.faults.is_empty() { Ok(()) } else { Err(CallError::Invalid(self.faults)) }
    }
}
