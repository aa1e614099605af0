//! What a registration must satisfy before it enters the catalog.

mod binding;
mod contract;
mod declaration;
mod interface;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use toolplane_records::error::FieldViolation;
use toolplane_records::json::{self, JsonLimits};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::vocabulary::ToolLifecycle;

use crate::input::InputValidator;
use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::schema::{CompiledSchema, compile};
use crate::violations::Violations;

/// A registration that passed every check, with what the checks produced.
#[derive(Clone, Debug)]
pub struct Checked {
    registration: Arc<Registration>,
    digest: Digest,
    full_name: String,
    input: Arc<InputValidator>,
}

impl Checked {
    /// The registration, unchanged.
    pub fn registration(&self) -> &Arc<Registration> {
        &self.registration
    }

    /// The registration's digest.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// `namespace.name`.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// The compiled validator of its input.
    pub fn input(&self) -> &Arc<InputValidator> {
        &self.input
    }

    /// The same tool in another lifecycle state.
    pub(crate) fn with_lifecycle(&self, lifecycle: ToolLifecycle) -> Self {
        let mut registration = Registration::clone(&self.registration);
        registration.declaration.lifecycle = lifecycle;
        let digest = registration.digest();
        Self { registration: Arc::new(registration), digest, ..self.clone() }
    }
}

/// Checks `registration` on its own; collisions with other tools are the catalog's business.
///
/// All violations are reported, each with a path such as `declaration.aliases[1]` or
/// `declaration.input_contract.model_input_schema/properties/path` and the rule that was broken.
///
/// # Errors
///
/// These violations, when at least one field breaks a rule or one of `limits`, a schema does not compile, or two
/// records of the registration contradict each other.
pub fn validate(registration: &Registration, limits: &CatalogLimits) -> Result<Checked, Vec<FieldViolation>> {
    let mut faults = Violations::default();
    declaration::check(&registration.declaration, limits, &mut faults);
    let schemas = contract::check(registration, limits, &mut faults);
    interface::check(registration, &schemas, limits, &mut faults);
    binding::check(registration, &schemas, limits, &mut faults);
    faults.into_result()?;
    let digest = registration.digest();
    let input = InputValidator::new(registration, schemas.model, schemas.runtime, limits);
    Ok(Checked {
        registration: Arc::new(registration.clone()),
        digest,
        full_name: registration.declaration.full_name(),
        input: Arc::new(input),
    })
}

/// The compiled schemas of a registration that are in force.
#[derive(Debug, Default)]
struct Schemas {
    model: Option<CompiledSchema>,
    runtime: Option<CompiledSchema>,
}

impl Schemas {
    /// Whether the input can have a field of that name. Unknown when the model schema itself is broken.
    fn knows(&self, field: &str) -> bool {
        let schemas = [&self.model, &self.runtime].into_iter().flatten();
        schemas.flat_map(CompiledSchema::root_members).any(|name| name == field)
    }
}

/// 1 to 128 characters of `A-Z a-z 0-9 _ . -`: the rule shared by names, aliases and namespaces.
fn check_name(field: &str, name: &str, faults: &mut Violations) {
    const MAX_NAME_LEN: usize = 128;
    if name.is_empty() || name.len() > MAX_NAME_LEN {
        faults.add(field, format!("must have 1 to {MAX_NAME_LEN} characters"));
    } else if let Some(wrong) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || "_.-".contains(*c))) {
        faults.add(field, format!("contains {wrong:?}; only letters, digits and `_.-` are allowed"));
    } else if name.split('.').any(str::is_empty) {
        faults.add(field, "must not begin or end with a dot or have two in a row");
    }
}

fn check_version(field: &str, version: &str, faults: &mut Violations) {
    let patch = version.strip_prefix("0.2.").unwrap_or_default();
    if patch.is_empty() || !patch.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.add(field, "must be a version `0.2.x` of the standard");
    }
}

fn check_text(field: &str, text: &str, max_chars: usize, faults: &mut Violations) {
    let length = text.chars().count();
    if length > max_chars {
        faults.add(field, format!("has {length} characters; at most {max_chars} are allowed"));
    }
}

fn check_list_length(field: &str, length: usize, limits: &CatalogLimits, faults: &mut Violations) {
    if length > limits.max_list_entries {
        faults.add(field, format!("has {length} entries; at most {} are allowed", limits.max_list_entries));
    }
}

/// A JSON value that must be strict JSON and, if asked, an object. True when it is.
fn check_value(
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

fn compile_at(
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
