//! Credentials as a server gets them: what a program is given, or what goes into requests.

use toolplane_records::error::ToolError;
use toolplane_records::mcp::McpServer;

use crate::credentials::{Injections, RequestCredentials, RunCredentials};

/// The values of credentials for one server. Nothing of it may be told.
#[derive(Hash)]
pub(super) enum Values {
    /// What a program is given.
    Run(RunCredentials),
    /// What goes into every request to a server over HTTP.
    Request(RequestCredentials),
}

/// What `server` gets of `injections`.
pub(super) fn values(server: &McpServer, injections: &Injections) -> Result<Values, ToolError> {
    match server {
        McpServer::Stdio(_) => injections.of_run().map(Values::Run),
        McpServer::Http(_) => injections.of_requests().map(Values::Request),
    }
}
