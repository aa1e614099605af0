//! The sections of the gateway role.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Config, ConfigError};

/// The gateway role: an HTTP listener that takes calls as JSON (`/v1/...`) and speaks MCP (`/mcp`). Encryption and callers are those of
/// `server.tls` and `server.auth`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct GatewayConfig {
    /// Address to listen on; port 0 takes a free one. Beyond loopback, `server.tls` and `server.auth` are required.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub listen: SocketAddr,
    /// The URL under which clients reach this listener, e.g. `https://tools.example.com`; its own address when absent. Its host is one
    /// that requests may name, and it is what clients are told in the metadata of OAuth.
    pub public_url: Option<String>,
    /// Further hosts that requests may name in `Host`, as `host` or `host:port`. `localhost` and the addresses of loopback always may
    /// where the listener is on loopback.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may ask, e.g. `https://app.example.com`. A request of a browser from any other page is refused.
    pub allowed_origins: Vec<String>,
    /// Most connections at once.
    pub max_connections: u32,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7480)),
            public_url: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_connections: 4096,
        }
    }
}

/// MCP, as the gateway role speaks it at `/mcp`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct McpConfig {
    /// The surface whose tools clients see; the default one of their tenant when absent.
    pub surface: Option<String>,
    /// Tools are listed by their names without the namespace, where only one tool has such a name.
    pub short_names: bool,
    /// Most tools that are listed. Where there are more, clients get tools to search and load them instead.
    pub list_at_most: u32,
    /// How long a call is waited for before the client is told how to come back to it.
    pub wait_ms: u64,
    /// Keys that seal what clients keep (sessions, tasks, questions), one a line of at least 16 characters: the first one seals, all of them
    /// open. It must be the same for all processes of the role. When absent, the tokens of `server.auth.token_file`, and without
    /// those a key that the process keeps in `server.data_dir`.
    pub key_file: Option<PathBuf>,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self { surface: None, short_names: false, list_at_most: 40, wait_ms: 300_000, key_file: None }
    }
}

impl Config {
    /// The gateway, where one of its sections is there.
    pub fn gateway(&self) -> Option<GatewayConfig> {
        self.gateway.clone().or_else(|| self.mcp.as_ref().map(|_| GatewayConfig::default()))
    }

    /// Where other machines can reach the listener, callers must be known and the wire must be encrypted.
    pub(super) fn check_gateway(&self) -> Result<(), ConfigError> {
        let Some(gateway) = self.gateway() else { return Ok(()) };
        super::check::check_exposed("gateway.listen", gateway.listen, &self.server)?;
        if let Some(url) = &gateway.public_url {
            let parsed: Option<http::Uri> = url.parse().ok();
            let good = parsed.is_some_and(|url| {
                matches!(url.scheme_str(), Some("http" | "https"))
                    && url.host().is_some_and(|host| !host.is_empty())
                    && matches!(url.path(), "" | "/")
                    && url.query().is_none()
            });
            if !good {
                let rule = format!("`{url}` is not `http://` or `https://`, a host, a port and nothing after it");
                return Err(ConfigError::value("gateway.public_url", rule));
            }
        }
        for origin in &gateway.allowed_origins {
            let parsed: Option<http::Uri> = origin.parse().ok();
            if !parsed.is_some_and(|url| url.scheme_str().is_some() && url.host().is_some() && !origin.ends_with('/')) {
                let rule = format!("`{origin}` is no origin, e.g. `https://app.example.com`");
                return Err(ConfigError::value("gateway.allowed_origins", rule));
            }
        }
        let mcp = self.mcp.clone().unwrap_or_default();
        if let Some(surface) = &mcp.surface {
            toolplane_records::ids::SurfaceId::parse(surface)
                .map_err(|rule| ConfigError::value("mcp.surface", format!("`{surface}` {rule}")))?;
        }
        Ok(())
    }
}
