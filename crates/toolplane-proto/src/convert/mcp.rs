//! Tools of MCP servers.

use toolplane_records::mcp as records;

use crate::convert::{ConvertError, field};
use crate::v1;
use crate::v1::mcp_binding::Server;

impl From<&records::McpBinding> for v1::McpBinding {
    fn from(record: &records::McpBinding) -> Self {
        let server = match &record.server {
            records::McpServer::Stdio(stdio) => Server::Stdio(stdio.into()),
            records::McpServer::Http(http) => Server::Http(http.into()),
        };
        Self {
            provider_id: record.provider_id.to_string(),
            server: Some(server),
            tool: record.tool.clone().unwrap_or_default(),
            header_parameters: field::outs(&record.header_parameters),
            sharing: sharing_number(record.sharing),
        }
    }
}

impl TryFrom<v1::McpBinding> for records::McpBinding {
    type Error = ConvertError;

    fn try_from(message: v1::McpBinding) -> Result<Self, ConvertError> {
        let server = match message.server.ok_or_else(|| ConvertError::missing("stdio or http"))? {
            Server::Stdio(stdio) => records::McpServer::Stdio(field::required("stdio", Some(stdio))?),
            Server::Http(http) => records::McpServer::Http(field::required("http", Some(http))?),
        };
        Ok(Self {
            provider_id: message.provider_id.into(),
            server,
            tool: Some(message.tool).filter(|tool| !tool.is_empty()),
            header_parameters: field::list("header_parameters", message.header_parameters)?,
            sharing: sharing(message.sharing)?,
        })
    }
}

impl From<&records::McpStdioServer> for v1::McpStdioServer {
    fn from(record: &records::McpStdioServer) -> Self {
        Self {
            argv: record.argv.clone(),
            env: record.env.clone(),
            env_names: record.env_names.clone(),
            credentials: record.credentials.clone(),
            placed_credentials: field::outs(&record.placed_credentials),
            sandbox: Some((&record.sandbox).into()),
        }
    }
}

impl TryFrom<v1::McpStdioServer> for records::McpStdioServer {
    type Error = ConvertError;

    fn try_from(message: v1::McpStdioServer) -> Result<Self, ConvertError> {
        Ok(Self {
            argv: message.argv,
            env: message.env,
            env_names: message.env_names,
            credentials: message.credentials,
            placed_credentials: field::list("placed_credentials", message.placed_credentials)?,
            sandbox: field::optional("sandbox", message.sandbox)?.unwrap_or_default(),
        })
    }
}

impl From<&records::McpSandbox> for v1::McpSandbox {
    fn from(record: &records::McpSandbox) -> Self {
        Self {
            allowed_hosts: record.allowed_hosts.clone(),
            allowed_ports: record.allowed_ports.iter().copied().map(u32::from).collect(),
            workspace: workspace_number(record.workspace),
            read_paths: record.read_paths.clone(),
        }
    }
}

impl TryFrom<v1::McpSandbox> for records::McpSandbox {
    type Error = ConvertError;

    fn try_from(message: v1::McpSandbox) -> Result<Self, ConvertError> {
        Ok(Self {
            allowed_hosts: message.allowed_hosts,
            allowed_ports: field::ports("allowed_ports", &message.allowed_ports)?,
            workspace: workspace(message.workspace)?,
            read_paths: message.read_paths,
        })
    }
}

impl From<&records::McpHttpServer> for v1::McpHttpServer {
    fn from(record: &records::McpHttpServer) -> Self {
        Self {
            url: record.url.clone(),
            headers: record.headers.clone(),
            credentials: record.credentials.clone(),
            placed_credentials: field::outs(&record.placed_credentials),
            allowed_hosts: record.allowed_hosts.clone(),
            allowed_ports: record.allowed_ports.iter().copied().map(u32::from).collect(),
        }
    }
}

impl TryFrom<v1::McpHttpServer> for records::McpHttpServer {
    type Error = ConvertError;

    fn try_from(message: v1::McpHttpServer) -> Result<Self, ConvertError> {
        Ok(Self {
            url: message.url,
            headers: message.headers,
            credentials: message.credentials,
            placed_credentials: field::list("placed_credentials", message.placed_credentials)?,
            allowed_hosts: message.allowed_hosts,
            allowed_ports: field::ports("allowed_ports", &message.allowed_ports)?,
        })
    }
}

impl From<&records::McpHeaderParameter> for v1::McpHeaderParameter {
    fn from(record: &records::McpHeaderParameter) -> Self {
        Self { path: record.path.clone(), header: record.header.clone() }
    }
}

impl TryFrom<v1::McpHeaderParameter> for records::McpHeaderParameter {
    type Error = ConvertError;

    fn try_from(message: v1::McpHeaderParameter) -> Result<Self, ConvertError> {
        Ok(Self { path: message.path, header: message.header })
    }
}

fn sharing_number(sharing: records::McpSharing) -> i32 {
    match sharing {
        records::McpSharing::Call => v1::McpSharing::Call.into(),
        records::McpSharing::Session => v1::McpSharing::Session.into(),
        records::McpSharing::Tenant => v1::McpSharing::Tenant.into(),
    }
}

fn sharing(number: i32) -> Result<records::McpSharing, ConvertError> {
    match v1::McpSharing::try_from(number) {
        Ok(v1::McpSharing::Unspecified | v1::McpSharing::Tenant) => Ok(records::McpSharing::Tenant),
        Ok(v1::McpSharing::Session) => Ok(records::McpSharing::Session),
        Ok(v1::McpSharing::Call) => Ok(records::McpSharing::Call),
        Err(_) => Err(ConvertError::new("sharing", format!("has the unknown value {number}"))),
    }
}

pub(super) fn workspace_number(workspace: records::McpWorkspace) -> i32 {
    match workspace {
        records::McpWorkspace::None => v1::McpWorkspace::None.into(),
        records::McpWorkspace::Read => v1::McpWorkspace::Read.into(),
        records::McpWorkspace::Write => v1::McpWorkspace::Write.into(),
    }
}

pub(super) fn workspace(number: i32) -> Result<records::McpWorkspace, ConvertError> {
    match v1::McpWorkspace::try_from(number) {
        Ok(v1::McpWorkspace::Unspecified | v1::McpWorkspace::None) => Ok(records::McpWorkspace::None),
        Ok(v1::McpWorkspace::Read) => Ok(records::McpWorkspace::Read),
        Ok(v1::McpWorkspace::Write) => Ok(records::McpWorkspace::Write),
        Err(_) => Err(ConvertError::new("workspace", format!("has the unknown value {number}"))),
    }
}
