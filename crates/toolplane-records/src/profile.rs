//! Execution and permission profiles (contracts/execution-profile, contracts/permission-profile).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::credential::CredentialUse;
use crate::ids::ProfileId;
use crate::mapping::ExternalMapping;
use crate::mcp::{McpBinding, McpServer};
use crate::operation::OperationBinding;
use crate::vocabulary::{AccessKind, ExecutionKind, RiskLevel, StartGuard, WriteEffect};

/// How a tool is run and what its executor supports. Absent capabilities are unsupported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutionProfile {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// A tool of an MCP server.
    Mcp(McpBinding),
    /// An operation of an HTTP API that an OpenAPI document describes.
    Operation(OperationBinding),
}

/// Built-in tools by the pool they share. A worker serves all of a pool or none. The lists stay as they are: a later built-in
/// tool is served by its name, like the tools workers bring themselves, so that older workers are not asked for it.
pub const BUILT_IN: &[(&str, &[&str])] = &[
    ("native", &["native.ask", "native.echo", "native.noop", "native.sleep"]),
    ("files", &["files.edit_file", "files.list_dir", "files.read_file", "files.search_text", "files.write_file"]),
];

/// What the pool of one native tool that is not built in starts with; its name follows.
const NATIVE: &str = "native:";

impl ExecutionBinding {
    /// The execution class of calls with this binding: workers serve pools, and calls wait in the queue of their pool. Every
    /// native tool that is not built in is a pool of its own, which only workers serve that name it.
    pub fn pool(&self) -> Cow<'static, str> {
        match self {
            Self::Native { name } => match BUILT_IN.iter().find(|(_, names)| names.contains(&name.as_str())) {
                Some((pool, _)) => Cow::Borrowed(pool),
                None => Cow::Owned(format!("{NATIVE}{name}")),
            },
            Self::Shell { .. } => Cow::Borrowed("shell"),
            Self::Process(_) => Cow::Borrowed("process"),
            Self::Http(_) => Cow::Borrowed("http"),
            Self::Operation(_) => Cow::Borrowed("openapi"),
            // Not every machine that asks servers over HTTP can start programs in a sandbox.
            Self::Mcp(mcp) => Cow::Borrowed(match mcp.server {
                McpServer::Stdio(_) => "mcp_stdio",
                McpServer::Http(_) => "mcp_http",
            }),
        }
    }
}

/// The native tool that has `pool` for itself; `None` for a pool that tools share.
pub fn native_tool_of(pool: &str) -> Option<&str> {
    pool.strip_prefix(NATIVE)
}

/// Whether a worker that serves `pools`, and names `native_tools`, serves calls of `pool`.
///
/// A name is exact, or a prefix that ends in `.*`. A worker that names any serves built-in tools only where all of
/// their pool are named; one that names none serves the built-in tools of its pools, and no other native ones: what is
/// not said is not served.
pub fn serves(pools: &[String], native_tools: &[String], pool: &str) -> bool {
    let named = |tool: &str| native_tools.iter().any(|name| names(name, tool));
    if let Some(tool) = native_tool_of(pool) {
        return named(tool);
    }
    let built_in = BUILT_IN.iter().find(|(shared, _)| *shared == pool);
    let all_named = native_tools.is_empty() || built_in.is_none_or(|(_, tools)| tools.iter().all(|tool| named(tool)));
    all_named && pools.iter().any(|served| served == pool)
}

/// Whether `name`, exact or a prefix that ends in `.*`, is one of `tool`.
fn names(name: &str, tool: &str) -> bool {
    match name.strip_suffix('*') {
        Some(prefix) => prefix.ends_with('.') && tool.len() > prefix.len() && tool.starts_with(prefix),
        None => name == tool,
    }
}

/// A local process: an argument template and what it reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Credentials the worker puts into its environment or its files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<CredentialUse>,
}

/// What a process reads on standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Credentials the worker puts into every request: headers, parameters of the query, cookies. A redirect to another origin takes
    /// none of them along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<CredentialUse>,
}

/// Risk facts of a tool, for policy and reviewers. It is not a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionProfile {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
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
    /// How long outputs should be kept: see [`crate::retention`].
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

impl PermissionProfile {
    /// A profile of that risk that says nothing else.
    pub fn new(permission_profile_id: ProfileId, risk_level: RiskLevel) -> Self {
        Self {
            schema_version: crate::schema_version(),
            permission_profile_id,
            risk_level,
            access_kinds: Vec::new(),
            write_effects: Vec::new(),
            network_scope: None,
            tenant_scope: None,
            credential_refs: Vec::new(),
            sandbox_profile: None,
            approval_required: None,
            approval_reason: None,
            permission_channel: None,
            rule_matching_fields: Vec::new(),
            data_sensitivity: None,
            retention_hint: None,
            redaction_required: None,
            policy_refs: Vec::new(),
            sensitive_sink: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ExecutionBinding, serves};

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn pool(name: &str) -> String {
        ExecutionBinding::Native { name: name.to_owned() }.pool().into_owned()
    }

    #[test]
    fn a_worker_gets_only_calls_of_tools_it_serves() {
        assert_eq!((pool("native.echo"), pool("files.read_file")), ("native".into(), "files".into()));
        assert_eq!((pool("acme.x"), pool("native.later")), ("native:acme.x".into(), "native:native.later".into()));
        let both = texts(&["native", "files", "shell"]);
        // Nothing said: built-in tools alone.
        for (tool, served) in
            [("native.echo", true), ("files.read_file", true), ("acme.x", false), ("native.later", false)]
        {
            assert_eq!(serves(&both, &[], &pool(tool)), served, "{tool}");
        }
        // An own worker in the pool of built-in tools is not given those.
        let own = texts(&["acme.*", "other.one"]);
        for (tool, served) in [
            ("acme.x", true),
            ("acme.x.y", true),
            ("acme.", false),
            ("acmes.x", false),
            ("other.one", true),
            ("other.one.more", false),
            ("native.echo", false),
            ("files.read_file", false),
        ] {
            assert_eq!(serves(&both, &own, &pool(tool)), served, "{tool}");
        }
        assert!(serves(&both, &own, "shell") && !serves(&[], &own, "shell"));
        // Named whole, built-in tools are served beside its own; named in part they are not.
        let whole = texts(&["native.*", "acme.x"]);
        assert!(serves(&both, &whole, "native") && serves(&both, &whole, "native:acme.x"));
        assert!(!serves(&texts(&["shell"]), &whole, "native"), "the pool is not served");
        assert!(!serves(&both, &texts(&["native.echo"]), "native"));
        for odd in ["*", "acme*", ".*", ""] {
            assert!(!serves(&both, &texts(&[odd]), "native:acme.x"), "{odd}");
        }
    }
}
