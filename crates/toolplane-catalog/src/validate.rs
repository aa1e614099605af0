//! What a registration must satisfy before it enters the catalog.

mod binding;
mod checks;
mod contract;
mod declaration;
mod findings;
mod interface;
mod output;
#[cfg(test)]
mod tests;

pub use declaration::MAX_TAG_CHARS;
pub use findings::Findings;
pub use output::PERSISTENCE_POLICIES;

use std::sync::Arc;

use toolplane_records::error::FieldViolation;
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::ToolLifecycle;

use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::schema::CompiledSchema;
use crate::violations::Violations;

/// A registration that passed every check, with what the checks produced.
#[derive(Clone, Debug)]
pub struct Checked {
    registration: Arc<Registration>,
    digest: Digest,
    full_name: String,
    parameters: Arc<[String]>,
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

    /// The fields a caller may give, as far as the model schema names them. Who validates inputs compiles an
    /// [`InputValidator`](crate::InputValidator): a catalog of many tools would hold as many compiled schemas for nothing.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
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
    output::check_new(registration, &mut faults);
    binding::check_new(registration, &mut faults);
    checked(Arc::new(registration.clone()), limits, faults)
}

/// A registration that was taken before, perhaps by an earlier version: rules that came later do not make it unusable. With the
/// findings of the checks it has passed it is not checked again, unless they are of another one.
///
/// # Errors
///
/// The violations of the rules that have always held.
pub fn validate_stored(
    registration: Arc<Registration>,
    findings: Option<&Findings>,
    limits: &CatalogLimits,
) -> Result<Checked, Vec<FieldViolation>> {
    match findings {
        Some(findings) if findings.digest == registration.digest() => Ok(Checked::found(registration, findings)),
        _ => checked(registration, limits, Violations::default()),
    }
}

fn checked(
    registration: Arc<Registration>,
    limits: &CatalogLimits,
    mut faults: Violations,
) -> Result<Checked, Vec<FieldViolation>> {
    declaration::check(&registration.declaration, limits, &mut faults);
    let schemas = contract::check(&registration, limits, &mut faults);
    interface::check(&registration, &schemas, limits, &mut faults);
    binding::check(&registration, &schemas, limits, &mut faults);
    faults.into_result()?;
    let digest = registration.digest();
    let parameters = schemas.model.as_ref().map_or(&[][..], CompiledSchema::root_members).into();
    Ok(Checked { full_name: registration.declaration.full_name(), registration, digest, parameters })
}
