//! A registration that others wrote, made one of a provider's.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_catalog::Registration;
use toolplane_providers::{Found, ToolNames};
use toolplane_records::provider::{Provider, ToolRefusal};
use toolplane_records::visible::excerpt;
use toolplane_records::vocabulary::RefusalCode;

use crate::declarations::fault;

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

/// A tool whose registration cannot be read; `called` says what the provider calls it, by the namespace and the name that are written there.
pub(super) fn unreadable(
    text: &RawValue,
    error: &serde_json::Error,
    called: impl FnOnce(Option<&str>, &str) -> String,
) -> Found {
    #[derive(Deserialize)]
    struct Tool {
        declaration: Declaration,
    }
    #[derive(Deserialize)]
    struct Declaration {
        namespace: Option<String>,
        name: String,
    }
    let tool: Option<Tool> = serde_json::from_str(text.get()).ok();
    let native_id = tool.map(|tool| called(tool.declaration.namespace.as_deref(), &tool.declaration.name));
    // The place is one in a text that nobody has seen.
    let error = error.to_string();
    let rule = error.split(" at line ").next().unwrap_or_default();
    let place = match fault::place(text.get()).as_str() {
        "" => String::new(),
        place => format!("`{place}`: "),
    };
    let reason = format!("is no registration: {place}{}", excerpt(rule, 240));
    let made = Err(ToolRefusal { code: RefusalCode::InvalidDefinition, reason });
    Found { native_id: native_id.unwrap_or_default(), made }
}
