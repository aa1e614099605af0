//! Settings of the role.

use std::sync::Arc;

use toolplane_runtime::Config;
use toolplane_runtime::config::{AuthConfig, GatewayConfig, McpConfig};
use toolplane_runtime::web::WebSettings;

use crate::error::GatewayError;

/// What the role takes from the configuration, checked.
#[derive(Clone, Debug)]
pub struct GatewayOptions {
    /// The listener.
    pub listener: GatewayConfig,
    /// How it treats connections.
    pub web: WebSettings,
    /// MCP.
    pub mcp: Arc<McpConfig>,
    /// Who may call.
    pub auth: Option<Arc<AuthConfig>>,
    /// Most bytes of a body, and of a message of a role.
    pub max_message_bytes: usize,
    /// Whether the API is described to everybody.
    pub reflection: bool,
}

impl GatewayOptions {
    /// The settings of `config`; nothing where neither of the role's sections is there.
    ///
    /// Fails with [`GatewayError::Server`] when a file of the listener cannot be used.
    pub fn from_config(config: &Config) -> Result<Option<Self>, GatewayError> {
        let Some(listener) = config.gateway() else { return Ok(None) };
        Ok(Some(Self {
            web: WebSettings::from_config(&config.server, &listener)?,
            listener,
            auth: config.server.auth.clone().map(Arc::new),
            mcp: Arc::new(config.mcp.clone().unwrap_or_default()),
            max_message_bytes: config.server.max_message_bytes,
            reflection: config.server.reflection,
        }))
    }
}
