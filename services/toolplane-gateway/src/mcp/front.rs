//! What all requests over MCP share, whichever way they come.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolplane_runtime::config::McpConfig;

use crate::mcp::listen::Changes;
use crate::mcp::log::{Ended, Levels};
use crate::mcp::questions::Replies;
use crate::mcp::seal::Seals;
use crate::mcp::tools::{Definitions, Listings};

/// The front door of MCP, without a transport. It remembers nothing that another process could not make anew.
#[derive(Debug)]
pub(crate) struct Front {
    pub(crate) config: Arc<McpConfig>,
    pub(crate) seals: Seals,
    pub(crate) listings: Listings,
    pub(crate) definitions: Definitions,
    pub(crate) levels: Levels,
    pub(crate) ended: Ended,
    pub(crate) replies: Replies,
    pub(crate) changes: Changes,
    /// Nothing is waited for any longer that its client can come back to, see `draining` of the runtime.
    pub(crate) drains: CancellationToken,
}

impl Front {
    /// `drains` says when the process that serves is told to stop.
    pub(crate) fn new(config: Arc<McpConfig>, seals: Seals, drains: CancellationToken) -> Self {
        Self {
            listings: Listings::new(config.short_names),
            config,
            seals,
            definitions: Definitions::default(),
            levels: Levels::default(),
            ended: Ended::default(),
            replies: Replies::default(),
            changes: Changes::default(),
            drains,
        }
    }

    /// The surface whose tools are seen here; empty for the default one.
    pub(crate) fn surface(&self) -> String {
        self.config.surface.clone().unwrap_or_default()
    }
}
