//! Tools for tests: the examples of the repository, and small ones made on the spot.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolplane_proto::convert::registration::RegistrationParts;
use toolplane_proto::v1;
use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::interface::ToolInterface;
use toolplane_records::profile::{ExecutionProfile, PermissionProfile};

use crate::{Problem, binary};

/// The folder of the example tools.
pub fn examples_folder() -> PathBuf {
    binary::root().join("deploy/examples/tools")
}

/// The files of the example tools, sorted by name.
pub fn example_files() -> Result<Vec<PathBuf>, Problem> {
    let folder = examples_folder();
    let entries = std::fs::read_dir(&folder).map_err(Problem::file(&folder))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

/// Every example tool, ready to be registered.
pub fn examples() -> Result<Vec<v1::ToolRegistration>, Problem> {
    example_files()?
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).map_err(Problem::file(&file))?;
            registration(&text)
        })
        .collect()
}

/// A registration from its JSON.
pub fn registration(text: &str) -> Result<v1::ToolRegistration, Problem> {
    fn part<T: serde::de::DeserializeOwned>(value: &Value, name: &str) -> Result<Option<T>, Problem> {
        let Some(part) = value.get(name) else { return Ok(None) };
        let read = serde_json::from_str(&part.to_string());
        read.map(Some).map_err(|error| Problem::Missing(format!("a readable {name}: {error}")))
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| Problem::Missing(format!("a registration: {error}")))?;
    let declaration = part::<ToolDeclaration>(&value, "declaration")?;
    let parts = RegistrationParts {
        declaration: declaration.ok_or_else(|| Problem::Missing("a declaration".to_owned()))?,
        interface: part::<ToolInterface>(&value, "interface")?,
        execution_profile: part::<ExecutionProfile>(&value, "execution_profile")?,
        permission_profile: part::<PermissionProfile>(&value, "permission_profile")?,
    };
    Ok(v1::ToolRegistration::from(&parts))
}

/// What a tool made for a test does and says of itself.
#[derive(Clone, Debug)]
pub struct TestTool {
    /// Namespace and name, e.g. `test.append`.
    pub name: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
    /// Program and arguments, `{field}` being replaced by that argument.
    pub argv: Vec<String>,
    /// Running it again is harmless.
    pub idempotent: bool,
    /// Leaves no trace, so that default rules allow it.
    pub read_only: bool,
    /// Wall time of one execution in milliseconds.
    pub timeout_ms: u64,
}

impl TestTool {
    /// The registration: a sandboxed process that may write to the workspace.
    pub fn registration(&self) -> Result<v1::ToolRegistration, Problem> {
        let namespace = self.name.split('.').next().unwrap_or_default();
        let id = format!("tool_{}", self.name.replace('.', "_"));
        let profile = if self.read_only { "workspace_read_only" } else { "workspace_write" };
        let document = json!({
            "declaration": {
                "tool_id": id, "namespace": namespace, "name": self.name, "description": "A tool made for a test.",
                "lifecycle": "available", "tool_kind": "function",
                "input_contract": { "strict": true, "model_input_schema": self.schema },
            },
            "interface": {
                "interface_id": format!("iface_{id}"), "tool_id": id,
                "is_read_only": self.read_only, "is_concurrency_safe": true, "is_destructive": false,
                "is_open_world": false, "is_idempotent": self.idempotent, "interrupt_behavior": "cancel",
            },
            "execution_profile": {
                "execution_profile_id": format!("exec_{id}"), "execution_kind": "local_process",
                "supports_progress": true, "supports_cancel": true, "supports_retries": self.idempotent,
                "sandboxed": true, "sandbox_profile": profile, "timeout_ms": self.timeout_ms,
                "binding": { "type": "process", "argv": self.argv },
            },
            "permission_profile": {
                "permission_profile_id": format!("perm_{id}"), "risk_level": "low", "sandbox_profile": profile,
            },
        });
        registration(&document.to_string())
    }
}
