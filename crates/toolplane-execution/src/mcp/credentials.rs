//! Credentials as a server gets them: what a program is given, or headers of requests.

use std::collections::BTreeMap;

use toolplane_credentials::Injection;
use toolplane_records::error::ToolError;
use toolplane_records::mcp::McpServer;

use crate::credentials::{Injections, RunCredentials, unfit};

/// The values of credentials for one server. Nothing of it may be told.
#[derive(Hash)]
pub(super) enum Values {
    /// What a program is given.
    Run(RunCredentials),
    /// Headers of a server over HTTP.
    Headers(BTreeMap<String, String>),
}

/// What `server` gets of `injections`.
pub(super) fn values(server: &McpServer, injections: &Injections) -> Result<Values, ToolError> {
    match server {
        McpServer::Stdio(_) => injections.of_run().map(Values::Run),
        McpServer::Http(_) => injections.placed().iter().map(header).collect::<Result<_, _>>().map(Values::Headers),
    }
}

fn header(injection: &Injection) -> Result<(String, String), ToolError> {
    let Injection::Header { name, value } = injection else { return Err(unfit("a header")) };
    let text = value.to_str().map_err(|_| unfit(name.as_str()))?;
    Ok((name.as_str().to_owned(), text.to_owned()))
}
