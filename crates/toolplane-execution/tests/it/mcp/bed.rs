//! A worker's tools with a small server, and calls of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolplane_execution::{Call, CredentialSource, McpOptions, Outcome, Toolbox, ToolboxOptions};
use toolplane_records::mcp::{McpBinding, McpServer, McpSharing, McpStdioServer};
use toolplane_records::profile::ExecutionBinding;

use crate::http::Names;
use crate::support::{self, execute, toolbox_with};

/// The server, as a Python program.
pub(crate) const SERVER: &str = include_str!("server.py");

/// A program that is the server.
pub(crate) fn program() -> McpStdioServer {
    let argv = ["/usr/bin/python3", "-c", SERVER].map(str::to_owned).to_vec();
    McpStdioServer { argv, ..McpStdioServer::default() }
}

pub(crate) fn binding(server: McpServer, tool: Option<&str>) -> McpBinding {
    McpBinding {
        provider_id: "small".into(),
        server,
        tool: tool.map(str::to_owned),
        header_parameters: Vec::new(),
        sharing: McpSharing::Tenant,
    }
}

/// A call of `tool` of the server, which a test may change.
pub(crate) fn call_of(server: McpServer, tool: &str, input: Value) -> Call {
    call(binding(server, Some(tool)), input)
}

pub(crate) fn call(binding: McpBinding, input: Value) -> Call {
    support::call(ExecutionBinding::Mcp(binding), input)
}

/// The tools of a worker that allows its servers nothing.
pub(crate) struct Bed {
    pub(crate) workspace: tempfile::TempDir,
    pub(crate) toolbox: Toolbox,
}

impl Bed {
    pub(crate) async fn new() -> Self {
        Self::with(McpOptions::default()).await
    }

    pub(crate) async fn with(mcp: McpOptions) -> Self {
        Self::with_credentials(mcp, Arc::default()).await
    }

    pub(crate) async fn with_credentials(mcp: McpOptions, credentials: Arc<CredentialSource>) -> Self {
        let workspace = tempfile::tempdir().unwrap();
        let options = ToolboxOptions { mcp, credentials, ..ToolboxOptions::new(workspace.path()) };
        let toolbox = toolbox_with(options, Arc::new(Names)).await;
        Self { workspace, toolbox }
    }

    /// Calls a tool of the plain program.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Outcome {
        self.run(call_of(McpServer::Stdio(program()), tool, input)).await
    }

    pub(crate) async fn run(&self, call: Call) -> Outcome {
        execute(&self.toolbox, &call).await
    }
}

pub(crate) fn evidence(outcome: &Outcome) -> Value {
    outcome.evidence.as_ref().map_or(Value::Null, toolplane_records::payload::JsonPayload::to_value)
}

/// What the tools of the server are said to be able to do nothing about.
pub(crate) fn effects(outcome: &Outcome) -> &str {
    outcome.error.as_ref().and_then(|error| error.side_effects.as_deref()).unwrap_or("-")
}

pub(crate) fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> BTreeMap<String, String> {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}
