//! Where tools of this worker may go: what their declaration allows, narrowed to what the operator allows.

use toolplane_execution::place_of_server;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::mcp::{McpHttpServer, McpServer};
use toolplane_records::operation::OperationBinding;
use toolplane_records::profile::{ExecutionBinding, HttpBinding};
use toolplane_records::provider::MAX_DOCUMENT_BYTES;

mod places;
#[cfg(test)]
mod tests;

pub(crate) use places::NotAHost;
use places::Places;

/// What the operator allows HTTP tools and MCP servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Egress {
    http: Places,
    /// Servers over HTTP are there, and servers in the sandbox reach it.
    servers: Places,
    max_response_bytes: u64,
}

/// The keys of the two lists.
const HTTP: &str = "executor.http.allow";
const SERVERS: &str = "executor.mcp.allow";

impl Egress {
    /// Reads what HTTP tools are allowed: `host`, `host:port`, `[v6]:port` or `*.example.org`; an entry that is none of these is refused.
    pub(crate) fn read(allow: &[String], max_response_bytes: u64) -> Result<Self, NotAHost> {
        Ok(Self { http: Places::read(allow)?, servers: Places::default(), max_response_bytes })
    }

    /// This, with what MCP servers are allowed.
    pub(crate) fn with_servers(self, allow: &[String]) -> Result<Self, NotAHost> {
        Ok(Self { servers: Places::read(allow)?, ..self })
    }

    /// Pools that could go nowhere at all, whose tools they hold, and the key that says so.
    pub(crate) fn closed(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
        let no_http = self.http.is_empty();
        let http = no_http.then_some(("http", "HTTP tools", HTTP));
        let operations = no_http.then_some(("openapi", "HTTP tools", HTTP));
        let servers = self.servers.is_empty().then_some(("mcp_http", "MCP servers over HTTP", SERVERS));
        http.into_iter().chain(operations).chain(servers)
    }

    /// This, for a call by which the platform fetches a document: documents are larger than what tools are answered.
    pub(crate) fn of_documents(&self) -> Self {
        Self { max_response_bytes: self.max_response_bytes.max(MAX_DOCUMENT_BYTES), ..self.clone() }
    }

    /// `binding` as it may be run here; bindings that go nowhere stay as they are.
    pub(crate) fn narrow(&self, binding: &mut ExecutionBinding) -> Result<(), Box<ToolError>> {
        match binding {
            ExecutionBinding::Http(http) => self.narrow_http(http),
            ExecutionBinding::Operation(operation) => self.narrow_operation(operation),
            ExecutionBinding::Mcp(mcp) => match &mut mcp.server {
                McpServer::Http(http) => self.narrow_server(http),
                McpServer::Stdio(stdio) if stdio.sandbox.allowed_hosts.is_empty() => Ok(()),
                McpServer::Stdio(stdio) => {
                    let sandbox = &mut stdio.sandbox;
                    let narrowed = self.servers.narrowed(&sandbox.allowed_hosts, &sandbox.allowed_ports);
                    let denied = || denied("MCP servers", SERVERS, &sandbox.allowed_hosts);
                    (sandbox.allowed_hosts, sandbox.allowed_ports) = narrowed.ok_or_else(denied)?;
                    Ok(())
                }
            },
            _ => Ok(()),
        }
    }

    /// The one place of an operation is allowed, or it is not asked.
    fn narrow_operation(&self, operation: &mut OperationBinding) -> Result<(), Box<ToolError>> {
        let host = operation.allowed_host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let mut one = HttpBinding {
            allowed_hosts: vec![host],
            allowed_ports: vec![operation.allowed_port],
            max_response_bytes: operation.max_response_bytes,
            ..HttpBinding::default()
        };
        self.narrow_http(&mut one)?;
        operation.max_response_bytes = one.max_response_bytes;
        Ok(())
    }

    fn narrow_http(&self, http: &mut HttpBinding) -> Result<(), Box<ToolError>> {
        let narrowed = self.http.narrowed(&http.allowed_hosts, &http.allowed_ports);
        let denied = || denied("HTTP tools", HTTP, &http.allowed_hosts);
        (http.allowed_hosts, http.allowed_ports) = narrowed.ok_or_else(denied)?;
        let most = http.max_response_bytes.unwrap_or(self.max_response_bytes);
        http.max_response_bytes = Some(most.min(self.max_response_bytes));
        Ok(())
    }

    /// A server at a place that is not allowed is not asked at others either.
    fn narrow_server(&self, http: &mut McpHttpServer) -> Result<(), Box<ToolError>> {
        let (host, port) = place_of_server(&http.url)
            .ok_or_else(|| denied("MCP servers", SERVERS, std::slice::from_ref(&http.url)))?;
        let denied = || denied("MCP servers", SERVERS, &[format!("{host}:{port}")]);
        self.servers.narrowed(std::slice::from_ref(&host), &[port]).ok_or_else(denied)?;
        // Hosts share their ports, so others are added only where its own place is still allowed beside them.
        let hosts: Vec<String> = std::iter::once(host.clone()).chain(std::mem::take(&mut http.allowed_hosts)).collect();
        let ports: Vec<u16> = std::iter::once(port).chain(std::mem::take(&mut http.allowed_ports)).collect();
        if let Some((mut hosts, ports)) = self.servers.narrowed(&hosts, &ports)
            && hosts.contains(&host)
            && ports.contains(&port)
        {
            hosts.retain(|other| *other != host);
            (http.allowed_hosts, http.allowed_ports) = (hosts, ports);
        }
        Ok(())
    }
}

fn denied(who: &str, key: &str, places: &[String]) -> Box<ToolError> {
    let message = format!(
        "this worker's operator allows {who} none of the places this one is declared for (`{}`); see `{key}`",
        places.join("`, `")
    );
    let mut error = ToolError::of(codes::EGRESS_DENIED, message);
    error.side_effects = Some("none".to_owned());
    Box::new(error)
}
