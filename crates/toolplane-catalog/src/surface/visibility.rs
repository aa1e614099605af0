//! Why a tool is kept out of a surface. Every answer carries the standard's machine-readable reason.

use toolplane_records::interface::SafetyFact;
use toolplane_records::surface::HiddenTool;
use toolplane_records::vocabulary::{HiddenReason, ToolKind, ToolLifecycle};

use super::request::SurfaceRequest;
use crate::catalog::CatalogEntry;
use crate::registration::Registration;
use crate::validate::Checked;

/// On which list of the surface a hidden tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hiding {
    /// It exists here but may not be used.
    Blocked,
    /// A filter removed it.
    Excluded,
}

/// Why and how a tool is hidden.
pub(crate) type Hidden = (Hiding, HiddenReason, String);

/// Why the tool is hidden from the surface asked for; `named` if the request names it, `blocked` with the message it
/// blocks it with.
///
/// The first reason in this order counts: retired, blocked by name, lifecycle, features, role, model, capabilities, setup.
pub(super) fn hidden(
    entry: &CatalogEntry,
    request: &SurfaceRequest,
    named: bool,
    blocked: Option<&str>,
) -> Option<Hidden> {
    let registration = entry.tool.registration();
    let retired = registration.lifecycle() == ToolLifecycle::Retired;
    let by_name = blocked.filter(|_| !retired).map(|message| {
        let message = if message.is_empty() { "is blocked by name in this surface" } else { message };
        (Hiding::Blocked, HiddenReason::PolicyBlocked, message.to_owned())
    });
    by_name
        .or_else(|| by_lifecycle(registration, named))
        .or_else(|| by_feature(registration, request))
        .or_else(|| by_role(registration, request))
        .or_else(|| by_model(registration, request))
        .or_else(|| by_capability(registration, request))
        .or_else(|| by_credentials(registration, request))
}

/// Why a tool of an existing surface can no longer be used, whatever the surface was made for.
pub(crate) fn hidden_now(tool: &Checked) -> Option<(Hiding, HiddenTool)> {
    let registration = tool.registration();
    let switched_off = registration.interface.as_ref().and_then(|interface| interface.is_enabled.as_ref());
    let switched_off = (switched_off == Some(&SafetyFact::Known(false))).then(disabled);
    let (hiding, reason, message) = by_lifecycle(registration, true).or(switched_off)?;
    Some((hiding, hidden_tool(tool, reason, message)))
}

pub(crate) fn hidden_tool(tool: &Checked, reason: HiddenReason, message: String) -> HiddenTool {
    let tool_id = tool.registration().declaration.tool_id.clone();
    HiddenTool { tool_id, name: tool.full_name().to_owned(), reason, message }
}

fn excluded(reason: HiddenReason, message: impl Into<String>) -> Option<Hidden> {
    Some((Hiding::Excluded, reason, message.into()))
}

fn disabled() -> Hidden {
    (Hiding::Excluded, HiddenReason::FeatureDisabled, "is disabled".to_owned())
}

fn by_lifecycle(registration: &Registration, named: bool) -> Option<Hidden> {
    match registration.lifecycle() {
        ToolLifecycle::Retired => excluded(HiddenReason::Retired, "is retired"),
        ToolLifecycle::Disabled => Some(disabled()),
        ToolLifecycle::Draft => excluded(HiddenReason::NotSelected, "is a draft"),
        ToolLifecycle::RequiresSetup => {
            let message = "requires setup before it can be used".to_owned();
            Some((Hiding::Blocked, HiddenReason::SetupRequired, message))
        }
        ToolLifecycle::Deprecated if !named => {
            excluded(HiddenReason::NotSelected, "is deprecated; it is only selected when asked for by name")
        }
        ToolLifecycle::Deprecated | ToolLifecycle::Available | ToolLifecycle::Deferred => None,
    }
}

fn by_feature(registration: &Registration, request: &SurfaceRequest) -> Option<Hidden> {
    let interface = registration.interface.as_ref()?;
    let switch = match &interface.is_enabled {
        Some(SafetyFact::Known(false)) => return Some(disabled()),
        Some(SafetyFact::Rule(rule)) => rule.strip_prefix("feature:"),
        Some(SafetyFact::Known(true)) | None => None,
    };
    let gates = interface.feature_gate_refs.iter().map(String::as_str).chain(switch);
    let off = gates.into_iter().find(|gate| !request.feature_gates.contains(*gate))?;
    excluded(HiddenReason::FeatureDisabled, format!("needs the feature gate `{off}`, which is off"))
}

fn by_role(registration: &Registration, request: &SurfaceRequest) -> Option<Hidden> {
    let subagent = request.role.subagent || request.role.role == "subagent";
    if subagent && registration.declaration.tool_kind == ToolKind::PeerAgentTool {
        return excluded(HiddenReason::RecursiveToolForbidden, "starts another agent, which a subagent may not do");
    }
    let needs_person = registration.interface.as_ref().and_then(|interface| interface.requires_user_interaction);
    if needs_person == Some(true) && !request.role.interactive {
        return excluded(HiddenReason::RoleNotAllowed, "needs a person, and this surface is not interactive");
    }
    None
}

fn by_model(registration: &Registration, request: &SurfaceRequest) -> Option<Hidden> {
    let mode = registration.contract().and_then(|contract| contract.argument_mode);
    if let (Some(mode), Some(supported)) = (mode, &request.model.argument_modes)
        && !supported.contains(&mode)
    {
        return excluded(
            HiddenReason::ModelUnsupported,
            format!("takes `{mode}` arguments, which the model cannot give"),
        );
    }
    let supported = request.model.content_types.as_ref()?;
    let given = &registration.declaration.output_contract.as_ref()?.content_types;
    if given.is_empty() || given.iter().any(|kind| supported.contains(kind)) {
        return None;
    }
    excluded(
        HiddenReason::ModelUnsupported,
        format!("gives only `{}`, which the model cannot read", given.join("`, `")),
    )
}

fn by_capability(registration: &Registration, request: &SurfaceRequest) -> Option<Hidden> {
    let has = &registration.declaration.capability_refs;
    let missing = request.capability_requirements.iter().find(|required| !has.contains(required))?;
    excluded(HiddenReason::CapabilityMissing, format!("does not have the capability `{missing}`"))
}

fn by_credentials(registration: &Registration, request: &SurfaceRequest) -> Option<Hidden> {
    let required = &registration.interface.as_ref()?.required_credentials;
    let missing = required.iter().find(|name| !request.credentials.contains(*name))?;
    let message = format!("needs the credential `{missing}`, which is not available");
    Some((Hiding::Blocked, HiddenReason::CredentialMissing, message))
}
