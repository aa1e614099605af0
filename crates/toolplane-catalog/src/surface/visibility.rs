//! Why a tool is kept out of a surface. Every answer carries the standard's machine-readable reason.

use toolplane_records::surface::HiddenTool;
use toolplane_records::vocabulary::{HiddenReason, ToolKind, ToolLifecycle};

use super::request::SurfaceRequest;
use crate::traits::Traits;
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

/// Why a tool of these traits is hidden from the surface asked for; `named` if the request names it, `blocked` with the
/// message it blocks it with.
///
/// The first reason in this order counts: retired, blocked by name, lifecycle, features, role, model, capabilities, setup.
pub(super) fn hidden(traits: &Traits, request: &SurfaceRequest, named: bool, blocked: Option<&str>) -> Option<Hidden> {
    let retired = traits.lifecycle == ToolLifecycle::Retired;
    let by_name = blocked.filter(|_| !retired).map(|message| {
        let message = if message.is_empty() { "is blocked by name in this surface" } else { message };
        (Hiding::Blocked, HiddenReason::PolicyBlocked, message.to_owned())
    });
    by_name
        .or_else(|| by_lifecycle(traits, named))
        .or_else(|| by_feature(traits, request))
        .or_else(|| by_role(traits, request))
        .or_else(|| by_model(traits, request))
        .or_else(|| by_capability(traits, request))
        .or_else(|| by_credentials(traits, request))
}

/// Why a tool of an existing surface can no longer be used, whatever the surface was made for.
pub(crate) fn hidden_now(traits: &Traits) -> Option<Hidden> {
    by_lifecycle(traits, true).or_else(|| traits.disabled.then(disabled))
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

fn by_lifecycle(traits: &Traits, named: bool) -> Option<Hidden> {
    match traits.lifecycle {
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

fn by_feature(traits: &Traits, request: &SurfaceRequest) -> Option<Hidden> {
    if traits.disabled {
        return Some(disabled());
    }
    let off = traits.gates.iter().find(|gate| !request.feature_gates.contains(*gate))?;
    excluded(HiddenReason::FeatureDisabled, format!("needs the feature gate `{off}`, which is off"))
}

fn by_role(traits: &Traits, request: &SurfaceRequest) -> Option<Hidden> {
    let subagent = request.role.subagent || request.role.role == "subagent";
    if subagent && traits.tool_kind == ToolKind::PeerAgentTool {
        return excluded(HiddenReason::RecursiveToolForbidden, "starts another agent, which a subagent may not do");
    }
    if traits.needs_person && !request.role.interactive {
        return excluded(HiddenReason::RoleNotAllowed, "needs a person, and this surface is not interactive");
    }
    None
}

fn by_model(traits: &Traits, request: &SurfaceRequest) -> Option<Hidden> {
    if let (Some(mode), Some(supported)) = (traits.argument_mode, &request.model.argument_modes)
        && !supported.contains(&mode)
    {
        return excluded(
            HiddenReason::ModelUnsupported,
            format!("takes `{mode}` arguments, which the model cannot give"),
        );
    }
    let (supported, given) = (request.model.content_types.as_ref()?, &traits.content_types);
    if given.is_empty() || given.iter().any(|kind| supported.contains(kind)) {
        return None;
    }
    excluded(
        HiddenReason::ModelUnsupported,
        format!("gives only `{}`, which the model cannot read", given.join("`, `")),
    )
}

fn by_capability(traits: &Traits, request: &SurfaceRequest) -> Option<Hidden> {
    let missing = request.capability_requirements.iter().find(|required| !traits.capabilities.contains(required))?;
    excluded(HiddenReason::CapabilityMissing, format!("does not have the capability `{missing}`"))
}

fn by_credentials(traits: &Traits, request: &SurfaceRequest) -> Option<Hidden> {
    let missing = traits.credentials.iter().find(|name| !request.credentials.contains(*name))?;
    let message = format!("needs the credential `{missing}`, which is not available");
    Some((Hiding::Blocked, HiddenReason::CredentialMissing, message))
}
