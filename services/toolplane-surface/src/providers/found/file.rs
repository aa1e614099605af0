//! A file of registrations.

use std::path::Path;

use toolplane_catalog::Registration;
use toolplane_providers::{Found, ToolNames};
use toolplane_records::provider::{Provider, ToolRefusal};
use toolplane_records::vocabulary::ProviderFault;

use crate::declarations;
use crate::providers::look::{Fault, Said};

/// The tools in a file. Not to be called on threads that serve calls.
pub(crate) fn read(provider: &Provider, path: &Path) -> Result<Said, Fault> {
    if !path.exists() {
        return Err(Fault::new(ProviderFault::Unreachable, "the file is not there"));
    }
    let tools =
        declarations::read(path).map_err(|why| Fault::new(ProviderFault::ProtocolError, format!("the file {why}")))?;
    let tools = tools.into_iter().map(|registration| {
        let native_id = registration.declaration.full_name();
        let made = adopted(provider, &native_id, registration);
        Found { native_id, made }
    });
    Ok(Said { tools: tools.collect(), ..Said::default() })
}

/// The registration as one of this provider's.
fn adopted(provider: &Provider, native_id: &str, mut registration: Registration) -> Result<Registration, ToolRefusal> {
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
