//! The tools by which workers are asked what a provider has. They are in no catalogue, no surface, no list and no search; only
//! processes of the cluster are told what they are, each time anew.

use std::sync::Arc;

use toolplane_catalog::Registration;
use toolplane_providers::{ToolNames, native};
use toolplane_records::contract::InputContract;
use toolplane_records::ids::{InterfaceId, ProfileId, ProviderId, TenantId, ToolId};
use toolplane_records::mcp::{McpBinding, McpSharing};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::{ExecutionBinding, HttpBinding};
use toolplane_records::provider::{Provider, ProviderDocument, ProviderSource, list_tool};
use toolplane_records::vocabulary::{AccessKind, ExecutionKind, RiskLevel, ToolKind};
use url::Url;

use super::documents::MAX_BYTES;
use super::found::{World, mcp, named, say};
use super::held::Shelf;
use super::trials::{Trial, Trials};

/// The surface these tools are called in: there is no such record.
pub(crate) const SURFACE: &str = "platform.providers";

/// What workers are told of the tools by which they are asked. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct HiddenTools {
    shelf: Arc<Shelf>,
    trials: Arc<Trials>,
}

impl HiddenTools {
    pub(crate) fn new(shelf: Arc<Shelf>) -> Self {
        Self { shelf, trials: Arc::default() }
    }

    /// Lets workers be asked about a provider that is not stored, until what this gives is dropped.
    pub(super) fn on_trial(&self, provider: &Provider) -> Trial<'_> {
        self.trials.begin(provider)
    }

    /// The tool by which a worker is asked what a provider has; nothing for providers that no worker is asked about.
    pub(crate) fn tool(&self, tenant: &TenantId, name: &str) -> Option<(Registration, u64)> {
        if let Some(provider) = self.trials.get(tenant, name) {
            return Some((hidden(&provider)?, provider.revision));
        }
        let id = ProviderId::parse(name).ok()?;
        let held = self.shelf.get(tenant, &id).filter(|held| !held.is_retired())?;
        Some((hidden(&held.provider)?, held.provider.revision))
    }
}

fn hidden(provider: &Provider) -> Option<Registration> {
    let tool_id = list_tool(&provider.provider_id);
    let names = ToolNames {
        interface_id: InterfaceId::parse(&format!("{tool_id}:interface")).ok()?,
        execution_profile_id: ProfileId::parse(&format!("{tool_id}:execution")).ok()?,
        permission_profile_id: ProfileId::parse(&format!("{tool_id}:permission")).ok()?,
        tool_id: ToolId::parse(&tool_id).ok()?,
        name: format!("list.{}", provider.provider_id),
    };
    let nothing = r#"{"type":"object","additionalProperties":false}"#;
    let (kind, binding, schema) = match &provider.source {
        ProviderSource::McpStdio { .. } | ProviderSource::McpHttp { .. } => {
            let binding = McpBinding {
                provider_id: provider.provider_id.as_str().into(),
                server: mcp::server(provider)?,
                tool: None,
                header_parameters: Vec::new(),
                sharing: McpSharing::Call,
            };
            (ExecutionKind::McpServer, ExecutionBinding::Mcp(binding), nothing)
        }
        ProviderSource::Worker { native_prefix } => {
            let binding = ExecutionBinding::Native { name: native::list_tool(native_prefix) };
            (ExecutionKind::EmbeddedRuntime, binding, nothing)
        }
        ProviderSource::Openapi { document: ProviderDocument::Url { url }, .. } => {
            let schema = r#"{"type":"object","properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false}"#;
            (ExecutionKind::HttpApi, ExecutionBinding::Http(document(provider, url)?), schema)
        }
        _ => return None,
    };
    let is_elsewhere = kind != ExecutionKind::EmbeddedRuntime;
    let mut made = named(provider, &names, ToolKind::Custom, kind);
    "platform".clone_into(&mut made.declaration.namespace);
    made.declaration.description = format!("Says what the provider {} has.", provider.provider_id);
    let schema = Some(JsonPayload::from_checked(schema));
    made.declaration.input_contract = Some(InputContract { model_input_schema: schema, ..InputContract::default() });
    if let Some(interface) = &mut made.interface {
        say(interface, World { read_only: true, idempotent: true, destructive: false, open: is_elsewhere });
    }
    if let Some(profile) = &mut made.permission_profile {
        profile.risk_level = RiskLevel::Low;
        if is_elsewhere {
            profile.access_kinds.push(AccessKind::Network);
        }
        profile.credential_refs = provider.credentials.iter().map(|used| used.credential.clone()).collect();
    }
    if let Some(profile) = &mut made.execution_profile {
        profile.supports_retries = true;
        profile.binding = Some(binding);
    }
    Some(made)
}

/// Where a document may be fetched: at its own place, and where the provider may go at all.
fn document(provider: &Provider, url: &str) -> Option<HttpBinding> {
    let url = Url::parse(url).ok()?;
    let mut allowed_hosts = vec![url.host_str()?.trim_matches(['[', ']']).to_owned()];
    allowed_hosts.extend(provider.reach.hosts.iter().cloned());
    let mut allowed_ports = vec![url.port_or_known_default()?];
    allowed_ports.extend(provider.reach.ports.iter().copied());
    Some(HttpBinding {
        allowed_hosts,
        allowed_ports,
        allowed_methods: vec!["GET".to_owned()],
        max_response_bytes: Some(MAX_BYTES as u64),
        credentials: provider.credentials.iter().filter(|used| used.placement.is_of_requests()).cloned().collect(),
    })
}
