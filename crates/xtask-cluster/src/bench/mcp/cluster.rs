//! Toolplane as it is started, with the tool in a surface: durable, sandboxed, decided about.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::{Cluster, Options, Problem, tools};

use super::{CONCURRENCY, INPUT, TOOL};

const CONFIG: &str = "[log]\nfilter = \"warn\"\n[[permission.rules]]\nbehavior = \"allow\"\ntool = \"small.echo\"\n";

/// The process, with a declaration of the server's tool.
pub(super) struct Bed {
    caller: Caller,
    _cluster: Cluster,
}

/// Calls the tool.
#[derive(Clone)]
pub(super) struct Caller {
    clients: Clients,
    surface_id: String,
}

impl Bed {
    /// Starts a process of all roles, whose worker runs `server`, or asks it at that port of the loopback address.
    pub(super) async fn start(server: &Value, port: Option<&str>) -> Result<Self, Problem> {
        let slots = CONCURRENCY.into_iter().max().unwrap_or(1).to_string();
        // As many calls share a session as are in flight.
        let place = port.map(|port| ("MCP__ALLOW", format!("[\"127.0.0.1:{port}\"]")));
        let settings = [("SLOTS", slots.clone()), ("MCP__CALLS_AT_ONCE", slots)].into_iter().chain(place);
        let environment = settings.map(|(name, value)| (format!("TOOLPLANE__EXECUTOR__{name}"), value)).collect();
        let folder = Some(crate::bench::folder("mcp")?);
        let cluster = Cluster::start(Options { folder, environment, ..Options::new(CONFIG) }).await?;
        let clients = cluster.clients().clone();
        let tools = vec![tools::registration(&declaration(server))?];
        clients.surfaces().register_tools(v1::RegisterToolsRequest { tools, validate_only: false }).await?;
        let request = v1::CreateSurfaceRequest { load: vec!["small.echo".to_owned()], ..Default::default() };
        let surface = clients.surfaces().create_surface(request).await?.into_inner().surface.unwrap_or_default();
        let caller = Caller { clients, surface_id: surface.surface_id };
        Ok(Self { caller, _cluster: cluster })
    }

    pub(super) fn caller(&self) -> Caller {
        self.caller.clone()
    }
}

impl Caller {
    /// One call to its end; its result must be without an error.
    pub(super) async fn make(self) -> Result<(), Problem> {
        let spec = Some(v1::InvocationSpec {
            surface_id: self.surface_id,
            tool_name: "small.echo".to_owned(),
            model_input: Some(payload(INPUT)),
            ..Default::default()
        });
        let answer = self
            .clients
            .invocations()
            .call(v1::CallRequest { spec, wait_ms: 0, ..Default::default() })
            .await?
            .into_inner();
        match answer.result {
            Some(result) if !result.is_error => Ok(()),
            Some(result) => {
                Err(Problem::Missing(format!("a result without an error; this one is: {}", result.summary)))
            }
            None => Err(Problem::Missing("a result at the end of the call".to_owned())),
        }
    }
}

/// The declaration of the tool `small.echo` of a server.
pub(in crate::bench) fn declaration(server: &Value) -> String {
    let document = json!({
        "declaration": {
            "tool_id": "tool_small_echo", "namespace": "small", "name": "small.echo", "description": "Says it again.",
            "lifecycle": "available", "tool_kind": "mcp_tool",
            "input_contract": { "model_input_schema": { "type": "object" } },
        },
        "interface": {
            "interface_id": "iface_echo", "tool_id": "tool_small_echo", "is_read_only": true, "is_concurrency_safe": true,
            "is_destructive": false, "is_open_world": false, "is_idempotent": true, "interrupt_behavior": "cancel",
        },
        "execution_profile": {
            "execution_profile_id": "exec_echo", "execution_kind": "mcp_server", "supports_progress": true,
            "supports_cancel": true, "sandboxed": server["transport"] == "stdio", "timeout_ms": 30_000,
            "binding": {
                "type": "mcp", "provider_id": "small", "tool": TOOL, "server": server,
            },
        },
        "permission_profile": { "permission_profile_id": "perm_echo", "risk_level": "low" },
    });
    document.to_string()
}
