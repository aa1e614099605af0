//! Registrations: the four records that describe one tool, checked together.

use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::interface::ToolInterface;
use toolplane_records::profile::{ExecutionProfile, PermissionProfile};

use crate::convert::{ConvertError, field};
use crate::v1;

/// The records of one registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationParts {
    /// The tool itself.
    pub declaration: ToolDeclaration,
    /// How it behaves at run time.
    pub interface: Option<ToolInterface>,
    /// How it is run.
    pub execution_profile: Option<ExecutionProfile>,
    /// Its risk facts.
    pub permission_profile: Option<PermissionProfile>,
}

/// Reads a registration and names the first wrong field of each of its records.
///
/// Fails with one [`ConvertError`] for each of the four records that has a wrong field, and one when there is no
/// declaration.
pub fn parts(message: v1::ToolRegistration) -> Result<RegistrationParts, Vec<ConvertError>> {
    let mut wrong = Vec::new();
    let declaration = keep(field::required("declaration", message.declaration), &mut wrong);
    let interface = keep(field::optional("interface", message.interface), &mut wrong);
    let execution_profile = keep(field::optional("execution_profile", message.execution_profile), &mut wrong);
    let permission_profile = keep(field::optional("permission_profile", message.permission_profile), &mut wrong);
    match (declaration, interface, execution_profile, permission_profile) {
        (Some(declaration), Some(interface), Some(execution_profile), Some(permission_profile)) => {
            Ok(RegistrationParts { declaration, interface, execution_profile, permission_profile })
        }
        _ => Err(wrong),
    }
}

fn keep<T>(outcome: Result<T, ConvertError>, wrong: &mut Vec<ConvertError>) -> Option<T> {
    outcome.map_err(|error| wrong.push(error)).ok()
}

impl From<&RegistrationParts> for v1::ToolRegistration {
    fn from(parts: &RegistrationParts) -> Self {
        Self {
            declaration: Some((&parts.declaration).into()),
            interface: field::out(&parts.interface),
            execution_profile: field::out(&parts.execution_profile),
            permission_profile: field::out(&parts.permission_profile),
        }
    }
}
