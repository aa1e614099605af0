//! A cluster with an HTTP listener, a tool that does nothing, and the tool of an MCP server over HTTP.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::{Cluster, Options, Problem, tools};

use super::{CONCURRENCY, INPUT};
use crate::bench::mcp::cluster::declaration;
use crate::bench::mcp::web::Program;

/// The process, with both tools declared.
pub(super) struct Bed {
    cluster: Cluster,
    http: String,
}

/// Calls tools over gRPC.
#[derive(Clone)]
pub(super) struct Caller(Clients);

impl Bed {
    /// Starts a process of all roles, whose worker asks `server`.
    pub(super) async fn start(server: &Program) -> Result<Self, Problem> {
        let slots = CONCURRENCY.into_iter().max().unwrap_or(1);
        let config = format!(
            "[log]\nfilter = \"warn\"\n[gateway]\n[mcp]\n[executor]\nslots = {slots}\n\
             [executor.mcp]\nallow = [\"127.0.0.1:{}\"]\ncalls_at_once = {slots}\n\
             [[permission.rules]]\nbehavior = \"allow\"\ntool = \"*\"\n",
            server.port()
        );
        let folder = Some(crate::bench::folder("doors")?);
        let cluster = Cluster::start(Options { folder, ..Options::new(config) }).await?;
        let echo = tools::examples()?
            .into_iter()
            .find(|tool| tool.declaration.as_ref().is_some_and(|declaration| declaration.name == "native.echo"));
        let echo = echo.ok_or_else(|| Problem::Missing("the example tool `native.echo`".to_owned()))?;
        let small = tools::registration(&declaration(&json!({ "transport": "http", "url": server.url() })))?;
        let request = v1::RegisterToolsRequest { tools: vec![echo, small], validate_only: false };
        cluster.clients().surfaces().register_tools(request).await?;
        let http = cluster.http()?;
        Ok(Self { cluster, http })
    }

    /// Where HTTP is answered.
    pub(super) fn http(&self) -> &str {
        &self.http
    }

    pub(super) fn caller(&self) -> Caller {
        Caller(self.cluster.clients().clone())
    }
}

impl Caller {
    /// One call to its end; its result must be without an error.
    pub(super) async fn make(self, tool: &str) -> Result<(), Problem> {
        let spec = Some(v1::InvocationSpec {
            tool_name: tool.to_owned(),
            model_input: Some(payload(INPUT)),
            ..Default::default()
        });
        let answer =
            self.0.invocations().call(v1::CallRequest { spec, wait_ms: 0, ..Default::default() }).await?.into_inner();
        match answer.result {
            Some(result) if !result.is_error => Ok(()),
            Some(result) => {
                Err(Problem::Missing(format!("a result without an error; this one is: {}", result.summary)))
            }
            None => Err(Problem::Missing("a result at the end of the call".to_owned())),
        }
    }
}
