//! Execution and permission profiles (contracts/execution-profile, contracts/permission-profile).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::ProfileId;
use crate::mapping::ExternalMapping;
use crate::vocabulary::{AccessKind, ExecutionKind, RiskLevel, StartGuard, WriteEffect};

/// How a tool is run and what its executor supports. Absent capabilities are unsupported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionProfile {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: String,
    /// Identifier of the profile.
    pub execution_profile_id: ProfileId,
    /// Kind of executor.
    pub execution_kind: ExecutionKind,
    /// Emits progress.
    #[serde(default)]
    pub supports_progress: bool,
    /// Can be canceled while running.
    #[serde(default)]
    pub supports_cancel: bool,
    /// Can resume after an interruption.
    #[serde(default)]
    pub supports_resume: bool,
    /// May be retried by the scheduler.
    #[serde(default)]
    pub supports_retries: bool,
    /// Emits partial results.
    #[serde(default)]
    pub supports_partial_results: bool,
    /// Can run in the background.
    #[serde(default)]
    pub supports_background: bool,
    /// Produces artifacts.
    #[serde(default)]
    pub supports_artifacts: bool,
    /// Returns context modifiers.
    #[serde(default)]
    pub supports_context_modifiers: bool,
    /// Runs only inside a sandbox.
    #[serde(default)]
    pub sandboxed: bool,
    /// Name of the sandbox profile, e.g. `workspace_read_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_profile: Option<String>,
    /// Wall time of one execution in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Native operation ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_mappings: Vec<ExternalMapping>,
    /// What the executor does (ours). A profile without one cannot be executed by this cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<ExecutionBinding>,
    /// Where the one start of a call that must not start twice is recorded (ours).
    #[serde(default, skip_serializing_if = "StartGuard::is_default")]
    pub start_guard: StartGuard,
    /// An idempotent call that hit its timeout is executed again, as after a lost worker (ours).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_on_timeout: bool,
}

/// What an executor does with a call (ours). Tagged by `type` in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ExecutionBinding {
    /// A tool built into the executor, by name: `files.read_file`, `native.echo`, ...
    Native {
        /// Name of the built-in tool.
        name: String,
    },
    /// A shell command taken from the input field `command`.
    Shell {
        /// The shell; `/bin/bash` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shell: Option<String>,
    },
    /// A local process, started without a shell.
    Process(ProcessBinding),
    /// HTTP requests within an allow list.
    Http(HttpBinding),
}

impl ExecutionBinding {
    /// The execution class of calls with this binding: workers serve pools, and calls wait in the queue of their pool.
    pub fn pool(&self) -> &'static str {
        match self {
            Self::Native { name } if name.starts_with("files.") => "files",
            Self::Native { .. } => "native",
            Self::Shell { .. } => "shell",
            Self::Process(_) => "process",
            Self::Http(_) => "http",
        }
    }
}

/// A local process: an argument template and what it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessBinding {
    /// Program and arguments; an argument `{field}` is replaced whole by that input field.
    pub argv: Vec<String>,
    /// What the process reads on standard input.
    #[serde(default)]
    pub stdin: ProcessStdin,
    /// Further environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Exit codes that mean success; `[0]` when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub success_exit_codes: Vec<i32>,
    /// The standard output is one JSON value to be taken as structured content.
    #[serde(default)]
    pub json_output: bool,
}

/// What a process reads on standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessStdin {
    /// Nothing.
    #[default]
    None,
    /// The call input, as its exact JSON bytes.
    Json,
}

/// Where an HTTP tool may go. Loopback must be allowed by name like any other host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpBinding {
    /// Hosts that may be asked: exact names or addresses, or `*.example.org` for subdomains.
    pub allowed_hosts: Vec<String>,
    /// Ports that may be asked; 80 and 443 when empty; `0` allows every port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_ports: Vec<u16>,
    /// Methods that may be used; `GET` and `HEAD` when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_methods: Vec<String>,
    /// Most body bytes read after decompression; 1 MiB when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_response_bytes: Option<u64>,
}

/// Risk facts of a tool, for policy and reviewers. It is not a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionProfile {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: String,
    /// Identifier of the profile.
    pub permission_profile_id: ProfileId,
    /// Risk level.
    pub risk_level: RiskLevel,
    /// What the tool touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_kinds: Vec<AccessKind>,
    /// What the tool leaves behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_effects: Vec<WriteEffect>,
    /// Reach in the network; open vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_scope: Option<String>,
    /// Reach across tenants; open vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_scope: Option<String>,
    /// Credentials the tool uses, by reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credential_refs: Vec<String>,
    /// Sandbox the facts assume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_profile: Option<String>,
    /// A person must approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_required: Option<bool>,
    /// Why a person must approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_reason: Option<String>,
    /// How the question is put.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_channel: Option<String>,
    /// Input fields rules match on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_matching_fields: Vec<String>,
    /// How sensitive the data is; open vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sensitivity: Option<String>,
    /// How long results should be kept; open vocabulary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_hint: Option<String>,
    /// Results must be redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction_required: Option<bool>,
    /// Adjacent policies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<String>,
    /// The tool may carry sensitive data out (ours; HITL rules ask for it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive_sink: Option<bool>,
}
