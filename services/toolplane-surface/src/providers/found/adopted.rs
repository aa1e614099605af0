//! A registration that others wrote, made one of a provider's.

use toolplane_catalog::Registration;
use toolplane_providers::ToolNames;
use toolplane_records::provider::{Provider, ToolRefusal};

/// The registration of the tool that `provider` calls `native_id`: its names and ids are the platform's, the rest is as it was written.
pub(super) fn adopted(
    provider: &Provider,
    native_id: &str,
    mut registration: Registration,
) -> Result<Registration, ToolRefusal> {
    let names = ToolNames::of(&provider.provider_id, native_id)?;
    let declaration = &mut registration.declaration;
    declaration.tool_id = names.tool_id.clone();
    declaration.namespace.clone_from(&provider.namespace);
    declaration.name.clone_from(&names.name);
    declaration.aliases.clear();
    declaration.interface_ref = registration.interface.as_ref().map(|_| names.interface_id.to_string());
    declaration.execution_profile_ref =
        registration.execution_profile.as_ref().map(|_| names.execution_profile_id.to_string());
    declaration.permission_profile_ref =
        registration.permission_profile.as_ref().map(|_| names.permission_profile_id.to_string());
    if let Some(interface) = &mut registration.interface {
        interface.tool_id = names.tool_id;
        interface.interface_id = names.interface_id;
        interface.name.clear();
        interface.aliases.clear();
        interface.execution_profile_ref = None;
        interface.permission_profile_ref = None;
    }
    if let Some(profile) = &mut registration.execution_profile {
        profile.execution_profile_id = names.execution_profile_id;
    }
    if let Some(profile) = &mut registration.permission_profile {
        profile.permission_profile_id = names.permission_profile_id;
    }
    Ok(registration)
}
