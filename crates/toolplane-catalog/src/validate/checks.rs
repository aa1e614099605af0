//! What every part of a registration is checked by.

use crate::limits::CatalogLimits;
use crate::schema::{CompiledSchema, compile};
use crate::violations::Violations;
use toolplane_records::json::{self, JsonLimits};
use toolplane_records::payload::JsonPayload;

/// The compiled schemas of a registration that are in force.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    pub(super) model: Option<CompiledSchema>,
    pub(super) runtime: Option<CompiledSchema>,
}

impl Schemas {
    /// Whether the input can have a field of that name. Unknown when the model schema itself is broken.
    pub(super) fn knows(&self, field: &str) -> bool {
        let schemas = [&self.model, &self.runtime].into_iter().flatten();
        schemas.flat_map(CompiledSchema::root_members).any(|name| name == field)
    }
}

/// 1 to 128 characters of `A-Z a-z 0-9 _ . -`: the rule shared by names, aliases and namespaces.
pub(super) fn check_name(field: &str, name: &str, faults: &mut Violations) {
    const MAX_NAME_LEN: usize = 128;
    if name.is_empty() || name.len() > MAX_NAME_LEN {
        faults.add(field, format!("must have 1 to {MAX_NAME_LEN} characters"));
    } else if let Some(wrong) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || "_.-".contains(*c))) {
        faults.add(field, format!("contains {wrong:?}; only letters, digits and `_.-` are allowed"));
    } else if name.split('.').any(str::is_empty) {
        faults.add(field, "must not begin or end with a dot or have two in a row");
    }
}

pub(super) fn check_version(field: &str, version: &str, faults: &mut Violations) {
    let patch = version.strip_prefix("0.2.").unwrap_or_default();
    if patch.is_empty() || !patch.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.add(field, "must be a version `0.2.x` of the standard");
    }
}

pub(super) fn check_text(field: &str, text: &str, max_chars: usize, faults: &mut Violations) {
    let length = text.chars().count();
    if length > max_chars {
        faults.add(field, format!("has {length} characters; at most {max_chars} are allowed"));
    }
}

pub(super) fn check_list_length(field: &str, length: usize, limits: &CatalogLimits, faults: &mut Violations) {
    if length > limits.declaration.max_list_entries {
        faults.add(field, format!("has {length} entries; at most {} are allowed", limits.declaration.max_list_entries));
    }
}

/// A JSON value that must be strict JSON and, if asked, an object. True when it is.
pub(super) fn check_value(
    field: &str,
    value: Option<&JsonPayload>,
    must_be_object: bool,
    bounds: &JsonLimits,
    faults: &mut Violations,
) -> bool {
    let Some(value) = value else { return true };
    if let Err(refusal) = json::check(value.bytes(), bounds) {
        faults.add(field, refusal);
        return false;
    }
    let is_object = value.text().trim_start().starts_with('{');
    if must_be_object && !is_object {
        faults.add(field, "must be a JSON object");
    }
    is_object || !must_be_object
}

pub(super) fn compile_at(
    field: &str,
    schema: Option<&JsonPayload>,
    limits: &CatalogLimits,
    faults: &mut Violations,
) -> Option<CompiledSchema> {
    match compile(schema?, limits) {
        Ok(compiled) => Some(compiled),
        Err(found) => {
            faults.extend_under(field, found);
            None
        }
    }
}
