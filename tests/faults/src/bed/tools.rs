//! The storm's tools.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_testkit::clients::Clients;
use toolplane_testkit::tools::{TestTool, registration};

use crate::trouble::Trouble;

/// May run twice.
pub(crate) const AGAIN: &str = "storm.again";
/// Must not run twice.
pub(crate) const ONCE: &str = "storm.once";
/// Must not run twice, and a person has to say yes.
pub(crate) const ASK: &str = "storm.ask";
/// May run twice; a real process in a real sandbox.
pub(crate) const SHELL: &str = "storm.shell";
/// Must not run twice, and does nothing; built into the real executor.
pub(crate) const NOTHING: &str = "storm.nothing";
/// How many MCP servers there are, where there are any.
pub(crate) const SERVERS: u64 = 5;

/// The tool of a server that may run twice, or the one that must not.
pub(crate) fn server_tool(number: u64, again: bool) -> String {
    format!("storm.server_{number}_{}", if again { "again" } else { "once" })
}

/// What [`SHELL`] writes to, below the workspace.
pub(super) const SHELL_LEDGER: &str = "shell.jsonl";

/// Registers the tools and makes a surface in which all are loaded; answers with its id.
pub(super) async fn load(clients: &Clients, servers: Option<&str>) -> Result<String, Trouble> {
    let mut tools = vec![native(AGAIN, true)?, native(ONCE, false)?, native(ASK, false)?, nothing()?, shell()?];
    if let Some(mark) = servers {
        for (number, again) in (0..SERVERS).flat_map(|number| [(number, false), (number, true)]) {
            tools.push(server(number, again, mark)?);
        }
    }
    clients.surfaces().register_tools(v1::RegisterToolsRequest { tools, validate_only: false }).await?;
    let request = v1::CreateSurfaceRequest {
        defer_policy: v1::DeferPolicy::None.into(),
        interaction_mode: v1::InteractionMode::Interactive.into(),
        role: "agent".to_owned(),
        ..Default::default()
    };
    let surface = clients.surfaces().create_surface(request).await?.into_inner().surface;
    Ok(surface.map(|surface| surface.surface_id).unwrap_or_default())
}

/// A tool of the ledger worker: built in, as far as the cluster knows.
fn native(name: &str, idempotent: bool) -> Result<v1::ToolRegistration, Trouble> {
    bound(name, name, idempotent)
}

fn nothing() -> Result<v1::ToolRegistration, Trouble> {
    bound(NOTHING, "native.noop", false)
}

fn bound(name: &str, built_in: &str, idempotent: bool) -> Result<v1::ToolRegistration, Trouble> {
    let binding = json!({ "type": "native", "name": built_in });
    bound_to(name, ("embedded_runtime", false), &binding, idempotent)
}

/// A tool with this binding; `kind` is the kind of its execution, and whether it runs in a sandbox.
fn bound_to(
    name: &str,
    kind: (&str, bool),
    binding: &Value,
    idempotent: bool,
) -> Result<v1::ToolRegistration, Trouble> {
    let id = format!("tool_{}", name.replace('.', "_"));
    let document = json!({
        "declaration": {
            "tool_id": id, "namespace": "storm", "name": name, "description": "A tool of the storm.",
            "lifecycle": "available", "tool_kind": "native_tool",
            "input_contract": { "strict": true, "model_input_schema": { "type": "object", "properties": {
                "mark": { "type": "string" }, "ms": { "type": "integer" }, "fail": { "type": "boolean" },
                "door": { "type": "string" }, "alone": { "type": "boolean" }, "bytes": { "type": "integer" },
            }}},
        },
        "interface": {
            "interface_id": format!("iface_{id}"), "tool_id": id,
            "is_read_only": false, "is_concurrency_safe": true, "is_destructive": false,
            "is_open_world": false, "is_idempotent": idempotent, "interrupt_behavior": "cancel",
        },
        "execution_profile": {
            "execution_profile_id": format!("exec_{id}"), "execution_kind": kind.0,
            "supports_progress": true, "supports_cancel": true, "supports_retries": idempotent,
            "sandboxed": kind.1, "timeout_ms": 20_000,
            "binding": binding,
        },
        "permission_profile": { "permission_profile_id": format!("perm_{id}"), "risk_level": "low" },
    });
    Ok(registration(&document.to_string())?)
}

/// A tool of an MCP server that is a program; both tools of a server share its sessions.
fn server(number: u64, again: bool, mark: &str) -> Result<v1::ToolRegistration, Trouble> {
    let argv = ["/usr/bin/python3".to_owned(), "/workspace/server.py".to_owned(), format!("{mark}-{number}")];
    let binding = json!({
        "type": "mcp", "provider_id": format!("server-{number}"), "tool": "note",
        "server": { "transport": "stdio", "argv": argv, "sandbox": { "workspace": "write" } },
    });
    bound_to(&server_tool(number, again), ("mcp_server", true), &binding, again)
}

/// Writes the same ledger as the worker's own tools, from a process in a sandbox.
fn shell() -> Result<v1::ToolRegistration, Trouble> {
    let line = r#"{"at_ms":%s,"kind":"ledger","invocation":"%s","lease_no":0,"fence":%s,"attempt":0,"worker":"","edge":"%s"}\n"#;
    let script = format!(
        r#"w() {{ printf '{line}' "$(date +%s%3N)" "$TOOLPLANE_IDEMPOTENCY_KEY" "$TOOLPLANE_FENCE" "$1" >> {SHELL_LEDGER}; }}
        w start; w end; sync {SHELL_LEDGER}
        printf '{{"report":{{"lease_no":0,"fence":%s,"worker":""}}}}' "$TOOLPLANE_FENCE""#
    );
    let tool = TestTool {
        name: SHELL.to_owned(),
        schema: json!({ "type": "object", "properties": { "mark": { "type": "string" } } }),
        argv: ["/bin/sh", "-c", script.as_str()].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: false,
        timeout_ms: 20_000,
    };
    let mut registration = tool.registration()?;
    let binding = registration.execution_profile.as_mut().and_then(|profile| profile.binding.as_mut());
    if let Some(v1::execution_binding::Binding::Process(process)) = binding.and_then(|binding| binding.binding.as_mut())
    {
        process.json_output = true;
    }
    Ok(registration)
}
