//! Tools of MCP servers.

use std::collections::BTreeMap;

use serde_json::json;
use toolplane_catalog::Registration;
use toolplane_mcp::{ToolDefinition, ToolList};
use toolplane_providers::{Found, ToolNames};
use toolplane_records::contract::{InputContract, OutputContract};
use toolplane_records::mapping::ExternalMapping;
use toolplane_records::mcp::{McpBinding, McpHttpServer, McpSandbox, McpServer, McpSharing, McpStdioServer};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::provider::{CredentialPlacement, CredentialUse, Provider, ProviderSource, ToolRefusal};
use toolplane_records::vocabulary::{
    AccessKind, ExecutionKind, ProviderFault, ProviderTrust, RefusalCode, RiskLevel, SessionSharing, ToolKind,
    WriteEffect,
};

use super::{World, named, say};
use crate::providers::look::{Fault, Said, ServerSaid};

/// What a server said it has, as a worker wrote it down. Not to be called on threads that serve calls.
pub(crate) fn read(provider: &Provider, list: &[u8]) -> Result<Said, Fault> {
    let list: ToolList = serde_json::from_slice(list).map_err(|error| {
        Fault::new(ProviderFault::Internal, format!("the list of the worker cannot be read: {error}"))
    })?;
    Ok(said(provider, list))
}

fn said(provider: &Provider, list: ToolList) -> Said {
    let mut tools: Vec<Found> = list
        .tools
        .iter()
        .map(|tool| Found { native_id: tool.name.clone(), made: registration(provider, tool) })
        .collect();
    tools.extend(list.refused.into_iter().map(|refused| Found {
        native_id: refused.name.unwrap_or_default(),
        made: Err(ToolRefusal { code: RefusalCode::InvalidDefinition, reason: refused.reason }),
    }));
    let said = list.server;
    let server = ServerSaid { name: said.name, version: said.version_of_server, protocol: said.version };
    Said { tools, in_part: list.cut, server }
}

/// The registration of one of its tools. What the server claims of it counts only where it is trusted.
fn registration(provider: &Provider, tool: &ToolDefinition) -> Result<Registration, ToolRefusal> {
    let names = ToolNames::of(&provider.provider_id, &tool.name)?;
    let server = server(provider).ok_or_else(|| ToolRefusal {
        code: RefusalCode::Unsupported,
        reason: "its provider is no MCP server any more".to_owned(),
    })?;
    let mut made = named(provider, &names, ToolKind::McpTool, ExecutionKind::McpServer);
    let world = world(provider.trust, tool);
    let declaration = &mut made.declaration;
    declaration.title = tool.title.clone().unwrap_or_default();
    declaration.description = match tool.description.as_deref().filter(|text| !text.trim().is_empty()) {
        Some(text) => text.to_owned(),
        None => "The server says nothing about this tool.".to_owned(),
    };
    declaration.input_contract =
        Some(InputContract { model_input_schema: Some(tool.input_schema.clone()), ..InputContract::default() });
    declaration.output_contract = tool
        .output_schema
        .clone()
        .map(|schema| Box::new(OutputContract { structured_schema: Some(schema), ..OutputContract::default() }));
    declaration.annotations = claims(tool);
    let mapping = ExternalMapping { source: "mcp".to_owned(), native_id: tool.name.clone(), fields: None };
    declaration.external_mappings.push(mapping);
    if let Some(interface) = &mut made.interface {
        say(interface, world);
    }
    if let Some(profile) = &mut made.permission_profile {
        profile.risk_level = match (world.read_only, world.destructive) {
            (true, _) => RiskLevel::Low,
            (_, true) => RiskLevel::High,
            _ => RiskLevel::Medium,
        };
        if world.open {
            profile.access_kinds.push(AccessKind::Network);
        }
        if !world.read_only {
            profile.write_effects.push(WriteEffect::RemoteMutation);
        }
        profile.credential_refs = credentials(provider);
    }
    if let Some(profile) = &mut made.execution_profile {
        profile.supports_progress = true;
        profile.supports_retries = world.idempotent;
        profile.binding = Some(ExecutionBinding::Mcp(binding(provider, server, tool)));
    }
    Ok(made)
}

/// What it does to the world: the worst, unless who says otherwise is trusted.
fn world(trust: ProviderTrust, tool: &ToolDefinition) -> World {
    let said = &tool.annotations;
    match trust {
        ProviderTrust::Untrusted => World::WORST,
        ProviderTrust::NewTools | ProviderTrust::AllTools => World {
            read_only: said.read_only(),
            idempotent: said.read_only() || said.idempotent(),
            destructive: said.destructive(),
            open: said.open_world(),
        },
    }
}

/// What the server claims, kept as it was said.
fn claims(tool: &ToolDefinition) -> Option<JsonPayload> {
    let said = &tool.annotations;
    let all = [
        ("readOnlyHint", said.read_only_hint),
        ("destructiveHint", said.destructive_hint),
        ("idempotentHint", said.idempotent_hint),
        ("openWorldHint", said.open_world_hint),
    ];
    let said: BTreeMap<_, _> = all.into_iter().filter_map(|(name, hint)| Some((name, json!(hint?)))).collect();
    (!said.is_empty()).then(|| JsonPayload::of(&said))
}

fn credentials(provider: &Provider) -> Vec<String> {
    provider.credentials.iter().map(|used| used.credential.clone()).collect()
}

/// The server as workers are told of it; nothing for other kinds of providers.
pub(crate) fn server(provider: &Provider) -> Option<McpServer> {
    match &provider.source {
        ProviderSource::McpStdio { argv, env, pass_env, read_only_paths, workspace } => {
            let (credentials, placed_credentials) = placed(provider, variable);
            Some(McpServer::Stdio(McpStdioServer {
                argv: argv.clone(),
                env: env.clone(),
                env_names: pass_env.clone(),
                credentials,
                placed_credentials,
                sandbox: McpSandbox {
                    allowed_hosts: provider.reach.hosts.clone(),
                    allowed_ports: provider.reach.ports.clone(),
                    workspace: *workspace,
                    read_paths: read_only_paths.clone(),
                },
            }))
        }
        ProviderSource::McpHttp { url, headers } => {
            let (credentials, placed_credentials) = placed(provider, header);
            Some(McpServer::Http(McpHttpServer {
                url: url.clone(),
                headers: headers.clone(),
                credentials,
                placed_credentials,
                allowed_hosts: provider.reach.hosts.clone(),
                allowed_ports: provider.reach.ports.clone(),
            }))
        }
        _ => None,
    }
}

/// The credentials of a provider: those for which a name says everything, by that name, and the others with their places.
fn placed(
    provider: &Provider,
    name_of: fn(&CredentialUse) -> Option<&String>,
) -> (BTreeMap<String, String>, Vec<CredentialUse>) {
    let (mut named, mut placed) = (BTreeMap::new(), Vec::new());
    for used in &provider.credentials {
        match name_of(used) {
            Some(name) => drop(named.insert(name.clone(), used.credential.clone())),
            None => placed.push(used.clone()),
        }
    }
    (named, placed)
}

/// The variable that is the whole of a credential.
fn variable(used: &CredentialUse) -> Option<&String> {
    match &used.placement {
        CredentialPlacement::Env { name } if used.field.is_none() => Some(name),
        _ => None,
    }
}

/// The header that has the whole of a credential, in the form of its kind.
fn header(used: &CredentialUse) -> Option<&String> {
    match &used.placement {
        CredentialPlacement::Header { name, prefix: None } if used.field.is_none() => Some(name),
        _ => None,
    }
}

/// Who shares a session with it.
pub(crate) fn sharing(provider: &Provider) -> McpSharing {
    match provider.sessions {
        SessionSharing::None => McpSharing::Call,
        SessionSharing::Session => McpSharing::Session,
        SessionSharing::Tenant => McpSharing::Tenant,
    }
}

fn binding(provider: &Provider, server: McpServer, tool: &ToolDefinition) -> McpBinding {
    McpBinding {
        provider_id: provider.provider_id.as_str().into(),
        server,
        tool: Some(tool.name.clone()),
        header_parameters: tool.headers.clone(),
        sharing: sharing(provider),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_each_credential_with_its_place() {
        let placements = json!([
            { "credential": "a", "placement": { "in": "env", "name": "A" } },
            { "credential": "b", "field": "password", "placement": { "in": "env", "name": "B" } },
            { "credential": "c", "placement": { "in": "file", "name": "c.pem" } },
            { "credential": "d", "placement": { "in": "proxy", "hosts": ["api.a.org"], "name": "X-Key" } },
        ]);
        let provider = json!({ "provider_id": "gh", "tenant": "default", "namespace": "gh", "credentials": placements,
            "reach": { "hosts": ["api.a.org"] }, "source": { "kind": "mcp_stdio", "argv": ["server"] } });
        let provider: Provider = serde_json::from_value(provider).unwrap();
        let Some(McpServer::Stdio(server)) = server(&provider) else { panic!("another server") };
        assert_eq!(server.credentials, BTreeMap::from([("A".to_owned(), "a".to_owned())]));
        assert_eq!(server.placed_credentials, provider.credentials[1..]);
        assert_eq!(server.sandbox.allowed_hosts, ["api.a.org"]);
    }

    #[test]
    fn a_server_over_http_is_told_each_credential_with_its_place() {
        let placements = json!([
            { "credential": "a", "placement": { "in": "header", "name": "X-A" } },
            { "credential": "b", "placement": { "in": "header", "name": "X-B", "prefix": "Token " } },
            { "credential": "c", "field": "password", "placement": { "in": "header", "name": "X-C" } },
            { "credential": "d", "placement": { "in": "query", "name": "apiKey" } },
            { "credential": "e", "placement": { "in": "cookie", "name": "session" } },
        ]);
        let provider = json!({ "provider_id": "gh", "tenant": "default", "namespace": "gh", "credentials": placements,
            "source": { "kind": "mcp_http", "url": "https://a.org/mcp" } });
        let provider: Provider = serde_json::from_value(provider).unwrap();
        let Some(McpServer::Http(server)) = server(&provider) else { panic!("another server") };
        assert_eq!(server.credentials, BTreeMap::from([("X-A".to_owned(), "a".to_owned())]));
        assert_eq!(server.placed_credentials, provider.credentials[1..]);
    }
}
