//! A cluster of one process for a part of the bench: a tool that does nothing, and one whose calls wait for the bench's own worker.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::{Cluster, Options, Problem, tools};

use crate::bench::load::{self, Measured};
use crate::bench::stores::{StoreName, Stores};
use crate::bench::usage::Usage;
use crate::bench::{folder, usage};

/// The tool that does nothing, and is run by the process itself.
pub(super) const NOOP: &str = "native.noop";
/// The tool that only the bench's worker runs; its name is that of its binding, too.
pub(super) const HELD: &str = "bench.held";
/// What an agent sends.
const INPUT: &[u8] = br#"{"text":"what an agent would say, more or less, in one short sentence"}"#;
/// How long calls beside something are measured.
const BESIDE: Duration = Duration::from_secs(5);
/// Connections on which calls are submitted.
const CONNECTIONS: usize = 4;

/// The bounds that are in the way of a bench, and leases that a worker need not renew while it waits.
const CONFIG: &str = r#"
[log]
filter = "warn"

[server]
max_connections = 100000
max_connections_per_address = 100000

[scheduler]
lease_ms = 3600000
max_queued_per_tenant = 100000000
max_watchers_per_tenant = 1000000
max_watchers = 1000000

[executor]
slots = 64

[[permission.rules]]
behavior = "allow"
tool = "*"
reason = "a bench"
"#;

/// The cluster, with both tools in a surface.
pub(super) struct Bed {
    pub(super) cluster: Cluster,
    pub(super) stores: Stores,
    pub(super) surface_id: String,
}

impl Bed {
    /// Starts the cluster on an empty store.
    pub(super) async fn start(store: StoreName, name: &str) -> Result<Self, Problem> {
        let stores = Stores::start(store, 1).await?;
        let folder = folder(&format!("growth-{name}"))?;
        let options = Options { folder: Some(folder), environment: stores.environment(), ..Options::new(CONFIG) };
        let cluster = Cluster::start(options).await?;
        let clients = cluster.clients();
        let mut tools = tools::examples()?;
        tools.push(held(HELD)?);
        clients.surfaces().register_tools(v1::RegisterToolsRequest { tools, validate_only: false }).await?;
        let load = vec![NOOP.to_owned(), HELD.to_owned()];
        let request = v1::CreateSurfaceRequest { tool_refs: load.clone(), load, ..Default::default() };
        let surface = clients.surfaces().create_surface(request).await?.into_inner().surface.unwrap_or_default();
        Ok(Self { cluster, stores, surface_id: surface.surface_id })
    }

    /// Calls one after the other to the tool that does nothing, beside whatever else there is.
    pub(super) async fn calls_beside(&self) -> Result<Measured, Problem> {
        self.calls_in(&self.surface_id).await
    }

    /// The same in this surface.
    pub(super) async fn calls_in(&self, surface_id: &str) -> Result<Measured, Problem> {
        let (clients, surface_id) = (self.cluster.clients().clone(), Arc::<str>::from(surface_id));
        load::run(1, BESIDE, move || {
            let (clients, surface_id) = (clients.clone(), Arc::clone(&surface_id));
            async move { noop(&clients, &surface_id).await }
        })
        .await
    }

    /// Submits `count` calls that wait for the bench's worker, so many at a time.
    pub(super) async fn submit(&self, count: u64, at_a_time: u64) -> Result<(), Problem> {
        let endpoint = self.cluster.endpoint();
        let connections = (0..CONNECTIONS).map(|_| Clients::of(&endpoint)).collect::<Result<Vec<_>, _>>()?;
        let callers: Vec<_> = (0..at_a_time)
            .zip(connections.iter().cycle())
            .map(|(caller, clients)| {
                let (clients, surface_id) = (clients.clone(), self.surface_id.clone());
                tokio::spawn(async move {
                    for _ in (caller..count).step_by(at_a_time as usize) {
                        let request = v1::SubmitInvocationRequest { spec: Some(spec(&surface_id, HELD)) };
                        clients.invocations().submit_invocation(request).await?;
                    }
                    Ok::<_, Problem>(())
                })
            })
            .collect();
        for caller in callers {
            caller.await.map_err(|error| Problem::Missing(format!("a caller that ends: {error}")))??;
        }
        Ok(())
    }

    /// Submits one call that waits for the bench's worker; its id.
    pub(super) async fn submit_one(&self) -> Result<String, Problem> {
        let request = v1::SubmitInvocationRequest { spec: Some(spec(&self.surface_id, HELD)) };
        let answer = self.cluster.clients().invocations().submit_invocation(request).await?.into_inner();
        Ok(answer.accepted.unwrap_or_default().invocation_id)
    }

    /// What the process has used.
    pub(super) fn usage(&mut self) -> Result<Usage, Problem> {
        Usage::of(self.cluster.running()?.id()).map_err(|error| failed(&error))
    }

    /// Bytes of memory the process holds.
    pub(super) fn memory(&mut self) -> Result<u64, Problem> {
        usage::memory(self.cluster.running()?.id()).map_err(|error| failed(&error))
    }
}

/// One call of the tool that does nothing, to its end.
pub(super) async fn noop(clients: &Clients, surface_id: &str) -> Result<(), Problem> {
    let request = v1::CallRequest { spec: Some(spec(surface_id, NOOP)), wait_ms: 0, ..Default::default() };
    match clients.invocations().call(request).await?.into_inner().result {
        Some(result) if !result.is_error => Ok(()),
        Some(result) => Err(Problem::Missing(format!("a result without an error; this one is: {}", result.summary))),
        None => Err(Problem::Missing("a result at the end of the call".to_owned())),
    }
}

fn spec(surface_id: &str, tool: &str) -> v1::InvocationSpec {
    v1::InvocationSpec {
        surface_id: surface_id.to_owned(),
        tool_name: tool.to_owned(),
        model_input: Some(payload(INPUT)),
        ..Default::default()
    }
}

/// A tool that the worker of the bench runs, whatever its name.
pub(super) fn held(name: &str) -> Result<v1::ToolRegistration, Problem> {
    let id = format!("tool_{}", name.replace('.', "_"));
    let document = json!({
        "declaration": {
            "tool_id": id, "namespace": "bench", "name": name, "description": "Runs when the bench says so.",
            "lifecycle": "available", "tool_kind": "native_tool",
            "input_contract": { "strict": true, "model_input_schema": {
                "type": "object", "properties": { "text": { "type": "string" } },
            } },
        },
        "interface": {
            "interface_id": format!("iface_{id}"), "tool_id": id, "is_read_only": true, "is_concurrency_safe": true,
            "is_destructive": false, "is_open_world": false, "is_idempotent": true,
        },
        "execution_profile": {
            "execution_profile_id": format!("exec_{id}"), "execution_kind": "embedded_runtime", "supports_cancel": true,
            "sandboxed": false, "timeout_ms": 600_000, "binding": { "type": "native", "name": HELD },
        },
        "permission_profile": { "permission_profile_id": format!("perm_{id}"), "risk_level": "low" },
    });
    tools::registration(&document.to_string())
}

/// Looking at the process failed.
fn failed(error: &std::io::Error) -> Problem {
    Problem::Program { what: "looking at what the cluster uses".to_owned(), said: error.to_string() }
}
