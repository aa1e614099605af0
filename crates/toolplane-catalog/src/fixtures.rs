//! Registrations for tests, from the JSON people would write.

use serde_json::{Value, json};
use toolplane_records::payload::JsonPayload;

use crate::catalog::Catalog;
use crate::limits::CatalogLimits;
use crate::registration::Registration;

pub(crate) fn registration(value: &Value) -> Registration {
    serde_json::from_value(value.clone()).unwrap()
}

pub(crate) fn payload(text: &str) -> JsonPayload {
    JsonPayload::from_checked(text.to_owned())
}

/// A complete tool without arguments, to be changed by tests.
pub(crate) fn tool_json(namespace: &str, name: &str) -> Value {
    let id = format!("tool_{}_{}", namespace.replace('.', "_"), name.replace('.', "_"));
    json!({
        "declaration": {
            "schema_version": "0.2.0",
            "tool_id": id,
            "namespace": namespace,
            "name": name,
            "description": format!("does {name} for {namespace}"),
            "lifecycle": "available",
            "tool_kind": "function",
        }
    })
}

pub(crate) fn tool(namespace: &str, name: &str) -> Registration {
    registration(&tool_json(namespace, name))
}

/// The tool with an interface of the given fields.
pub(crate) fn tool_with(namespace: &str, name: &str, interface: Value) -> Registration {
    let mut value = tool_json(namespace, name);
    let id = value["declaration"]["tool_id"].clone();
    let mut fields = json!({ "interface_id": format!("interface:{namespace}.{name}"), "tool_id": id });
    fields.as_object_mut().unwrap().extend(interface.as_object().unwrap().clone());
    value["interface"] = fields;
    registration(&value)
}

/// The shell tool of the standard's examples.
pub(crate) fn shell_json() -> Value {
    json!({
        "declaration": {
            "schema_version": "0.2.0",
            "tool_id": "tool_shell_exec",
            "namespace": "local.shell",
            "name": "shell.exec",
            "search_hint": "run local shell commands",
            "description": "Run a shell command in the workspace.",
            "lifecycle": "available",
            "tool_kind": "shell_command",
            "input_contract": {
                "strict": true,
                "model_input_schema": {
                    "type": "object",
                    "properties": {
                        "command": { "type": "string" },
                        "timeout_ms": { "type": "integer", "minimum": 1000 },
                        "run_in_background": { "type": "boolean" },
                        "description": { "type": "string" }
                    },
                    "required": ["command"],
                    "additionalProperties": false
                },
                "runtime_input_schema": {
                    "type": "object",
                    "properties": {
                        "sandbox_override_ref": { "type": "string" },
                        "simulated_edit_ref": { "type": "string" }
                    }
                },
                "internal_only_fields": ["sandbox_override_ref", "simulated_edit_ref"]
            },
            "interface_ref": "interface:shell.exec",
            "execution_profile_ref": "execution:shell.exec",
            "permission_profile_ref": "permission:shell.exec"
        },
        "interface": {
            "interface_id": "interface:shell.exec",
            "tool_id": "tool_shell_exec",
            "is_read_only": "classifier:command_read_only",
            "is_concurrency_safe": "same_as:is_read_only",
            "is_destructive": "classifier:command_destructive",
            "is_open_world": true,
            "classifier_input": "input.command",
            "permission_matcher": "shell_pattern",
            "interrupt_behavior": "cancel",
            "max_inline_chars": 30000
        },
        "execution_profile": {
            "execution_profile_id": "execution:shell.exec",
            "execution_kind": "shell",
            "supports_progress": true,
            "supports_cancel": true,
            "supports_background": true,
            "sandboxed": true,
            "binding": { "type": "shell" }
        },
        "permission_profile": {
            "permission_profile_id": "permission:shell.exec",
            "risk_level": "high",
            "access_kinds": ["file_read", "file_write", "network", "code_execution"],
            "write_effects": ["local_persistent", "remote_mutation"],
            "approval_required": true,
            "sandbox_profile": "workspace_shell_sandbox"
        }
    })
}

pub(crate) fn catalog(registrations: &[Registration]) -> Catalog {
    let mut catalog = Catalog::new(CatalogLimits::default());
    for change in catalog.plan_register(registrations).unwrap() {
        catalog.apply(change);
    }
    catalog
}
