//! What of a tool, beside its names, decides whether a surface shows it. Many tools have the same traits, so a surface
//! judges each set of traits once, and not each tool.

use serde::{Deserialize, Serialize};
use toolplane_records::interface::SafetyFact;
use toolplane_records::provider::provider_of;
use toolplane_records::vocabulary::{ArgumentMode, RiskLevel, ToolKind, ToolLifecycle};

use crate::filter::plain;
use crate::registration::Registration;

/// What a surface looks at when it decides about a tool that it does not name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Traits {
    /// Its namespace.
    pub namespace: String,
    /// Its lifecycle state.
    pub lifecycle: ToolLifecycle,
    /// Its kind.
    pub tool_kind: ToolKind,
    /// The provider it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The credentials that the worker of a provider's tool must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_credentials: Vec<String>,
    /// It says itself that it is off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// Feature gates that must be on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
    /// It needs a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_person: bool,
    /// How it takes its arguments, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument_mode: Option<ArgumentMode>,
    /// What it gives, where it says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content_types: Vec<String>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// What its owner filed it under, in the form that is compared, each once and in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Its declared risk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskLevel>,
    /// Credentials that must be available to the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<String>,
    /// It wants to be loaded under every policy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always_load: bool,
    /// It wants to be deferred.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub should_defer: bool,
}

impl Traits {
    /// The traits of a tool.
    pub fn of(registration: &Registration) -> Self {
        let declaration = &registration.declaration;
        let interface = registration.interface.as_ref();
        let switch = match interface.and_then(|interface| interface.is_enabled.as_ref()) {
            Some(SafetyFact::Rule(rule)) => rule.strip_prefix("feature:").map(str::to_owned),
            _ => None,
        };
        let off = Some(&SafetyFact::Known(false));
        let provider = provider_of(&declaration.tool_id).map(|(provider, _)| provider.to_owned());
        let worker_credentials = match (&provider, &registration.permission_profile) {
            (Some(_), Some(profile)) => profile.credential_refs.clone(),
            _ => Vec::new(),
        };
        let mut tags: Vec<String> = declaration.tags.iter().map(|tag| plain(tag.trim())).collect();
        tags.sort_unstable();
        tags.dedup();
        let wants = |wish: Option<bool>| wish == Some(true);
        let output = declaration.output_contract.as_ref();
        Self {
            namespace: declaration.namespace.clone(),
            lifecycle: declaration.lifecycle,
            tool_kind: declaration.tool_kind,
            provider,
            worker_credentials,
            disabled: interface.and_then(|interface| interface.is_enabled.as_ref()) == off,
            gates: interface.iter().flat_map(|own| own.feature_gate_refs.iter().cloned()).chain(switch).collect(),
            needs_person: wants(interface.and_then(|interface| interface.requires_user_interaction)),
            argument_mode: registration.contract().and_then(|contract| contract.argument_mode),
            content_types: output.map(|output| output.content_types.clone()).unwrap_or_default(),
            capabilities: declaration.capability_refs.clone(),
            tags,
            risk: registration.permission_profile.as_ref().map(|profile| profile.risk_level),
            credentials: interface.map(|interface| interface.required_credentials.clone()).unwrap_or_default(),
            always_load: wants(interface.and_then(|interface| interface.always_load)),
            should_defer: wants(interface.and_then(|interface| interface.should_defer))
                || declaration.lifecycle == ToolLifecycle::Deferred,
        }
    }
}
