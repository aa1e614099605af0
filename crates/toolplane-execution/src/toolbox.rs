//! All adapters of a worker, and what they can do on this machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::mcp::McpServer;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::time::Timestamp;
use toolplane_sandbox::bubblewrap::{self, Bubblewrap};
use toolplane_sandbox::workspace::tidy;
use toolplane_sandbox::{Posture, RunLimits, SandboxBackend};

use crate::adapter::Adapter;
use crate::artifacts::ArtifactBounds;
use crate::budget::{Budget, WorkspaceBounds};
use crate::call::{Call, Context};
use crate::credentials::CredentialSource;
use crate::failure;
use crate::files::{EditFile, ListDir, ReadFile, SearchText, WriteFile};
use crate::http::{Http, Lookup, Requests, SystemLookup};
use crate::masked;
use crate::mcp::{Mcp, McpOptions, ProviderChanges};
use crate::native::{Ask, Echo, Noop, Sleep};
use crate::operation::Operation;
use crate::outcome::Outcome;
use crate::process::Process;
use crate::sandboxed::Sandboxed;
use crate::shell::Shell;

/// Why a pool that needs the sandbox is not served.
pub const REASON_SANDBOX: &str = toolplane_records::codes::SANDBOX_MISSING.as_str();

/// How a toolbox is set up.
#[derive(Clone, Debug)]
pub struct ToolboxOptions {
    /// The workspace of calls that bring none of their own. Must exist.
    pub workspace: PathBuf,
    /// Bounds of sandboxed calls that ask for no others.
    pub limits: RunLimits,
    /// The largest bounds a call can ask for.
    pub ceiling: RunLimits,
    /// Host directories outside `/usr` that sandboxed tools may read: where further programs are installed.
    pub read_only_paths: Vec<PathBuf>,
    /// Directory for outputs that do not fit into memory; without one, their middle is left out.
    pub outputs: Option<PathBuf>,
    /// Bounds on the files that are kept of what a sandboxed tool leaves.
    pub artifacts: ArtifactBounds,
    /// Bounds on what is kept in workspaces.
    pub bounds: WorkspaceBounds,
    /// What MCP servers may be given, and how long they are kept.
    pub mcp: McpOptions,
    /// Where the parts of the sandbox are.
    pub sandbox: bubblewrap::BubblewrapOptions,
    /// The credentials that bindings name.
    pub credentials: Arc<CredentialSource>,
    /// Says what time it is, for answers that name an instant; the beginning of 1970 unless it is set.
    pub clock: fn() -> Timestamp,
}

impl ToolboxOptions {
    /// The defaults, with this workspace.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            limits: RunLimits::default(),
            ceiling: RunLimits::ceiling(),
            read_only_paths: Vec::new(),
            outputs: None,
            artifacts: ArtifactBounds::default(),
            bounds: WorkspaceBounds::default(),
            mcp: McpOptions::default(),
            sandbox: bubblewrap::BubblewrapOptions::default(),
            credentials: Arc::default(),
            clock: Timestamp::default,
        }
    }
}

/// What can be run on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Pools that can be served.
    pub pools: Vec<&'static str>,
    /// Native tools that can be run, by name.
    pub native_tools: Vec<&'static str>,
    /// Pools that cannot.
    pub gaps: Vec<Gap>,
    /// What the sandbox was found to hold.
    pub posture: Posture,
}

/// A pool that cannot be served, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The pool.
    pub pool: &'static str,
    /// Stable reason, e.g. `sandbox_unavailable`.
    pub reason_code: &'static str,
    /// For people: what is missing and what would help.
    pub message: String,
}

/// Every pool there is, whether or not a machine can serve it.
pub const POOLS: [&str; 8] = ["files", "http", "mcp_http", "mcp_stdio", "native", "openapi", "process", "shell"];

/// Every adapter, ready to run calls.
#[derive(Debug)]
pub struct Toolbox {
    shell: Arc<dyn Adapter>,
    process: Arc<dyn Adapter>,
    http: Arc<dyn Adapter>,
    mcp_stdio: Arc<dyn Adapter>,
    mcp_http: Arc<dyn Adapter>,
    operation: Arc<dyn Adapter>,
    native: HashMap<&'static str, Arc<dyn Adapter>>,
    posture: Posture,
    budget: Arc<Budget>,
    credentials: Arc<CredentialSource>,
    changes: Arc<ProviderChanges>,
}

impl Toolbox {
    /// Probes the sandbox and sets up the adapters. Takes about a second; never fails: what is missing is a gap.
    pub async fn probe(options: ToolboxOptions) -> Self {
        let sandbox = Bubblewrap::new(&options.sandbox);
        let posture = sandbox.probe().await;
        Self::with_sandbox(options, Arc::new(sandbox), posture, Arc::new(SystemLookup))
    }

    /// A toolbox on a sandbox that was probed already, resolving host names with `lookup`.
    pub fn with_sandbox(
        options: ToolboxOptions,
        backend: Arc<dyn SandboxBackend>,
        posture: Posture,
        lookup: Arc<dyn Lookup>,
    ) -> Self {
        let default_timeout = options.limits.wall;
        let workspace = options.workspace.clone();
        let budget = Arc::new(Budget::new(options.bounds));
        let sandboxed = Arc::new(Sandboxed {
            backend,
            posture: posture.clone(),
            workspace: options.workspace,
            limits: options.limits,
            ceiling: options.ceiling,
            read_only_paths: options.read_only_paths,
            outputs: options.outputs.clone(),
            artifacts: options.artifacts,
            budget: Arc::clone(&budget),
            credentials: Arc::clone(&options.credentials),
        });
        let requests = Arc::new(Requests::new(Arc::clone(&lookup), Arc::clone(&options.credentials)));
        let native: [(&'static str, Arc<dyn Adapter>); 9] = [
            ("native.ask", Arc::new(Ask)),
            ("native.echo", Arc::new(Echo)),
            ("native.noop", Arc::new(Noop)),
            ("native.sleep", Arc::new(Sleep { default_timeout })),
            ("files.read_file", Arc::new(ReadFile::new(&workspace, default_timeout, &budget))),
            ("files.list_dir", Arc::new(ListDir::new(&workspace, default_timeout, &budget))),
            ("files.search_text", Arc::new(SearchText::new(&workspace, default_timeout, &budget))),
            ("files.write_file", Arc::new(WriteFile::new(&workspace, default_timeout, &budget))),
            ("files.edit_file", Arc::new(EditFile::new(&workspace, default_timeout, &budget))),
        ];
        let (mcp, changes) = (options.mcp, Arc::<ProviderChanges>::default());
        Self {
            shell: Arc::new(Shell(Arc::clone(&sandboxed))),
            process: Arc::new(Process(Arc::clone(&sandboxed))),
            http: Arc::new(Http::new(Arc::clone(&requests), default_timeout, options.outputs)),
            operation: Arc::new(Operation::new(requests, default_timeout, options.clock)),
            mcp_stdio: Arc::new(Mcp::stdio(
                sandboxed,
                Arc::clone(&lookup),
                mcp.clone(),
                changes.clone(),
                default_timeout,
            )),
            mcp_http: Arc::new(Mcp::http(lookup, mcp, options.credentials.clone(), changes.clone(), default_timeout)),
            native: native.into_iter().collect(),
            posture,
            budget,
            credentials: options.credentials,
            changes,
        }
    }

    /// Providers whose tools have changed, as their servers say while they are used.
    pub fn provider_changes(&self) -> Arc<ProviderChanges> {
        Arc::clone(&self.changes)
    }

    /// Looks through `workspace`, takes back what no tool may leave there (see [`toolplane_sandbox::workspace::tidy`]), and takes
    /// note of what it holds. For a worker that starts. Blocks.
    pub fn adopt(&self, workspace: &Path) -> std::io::Result<Vec<String>> {
        let (told, usage) = tidy(workspace)?;
        self.budget.note(workspace, usage, Duration::ZERO);
        Ok(told)
    }

    /// Which pools can be served, and which cannot and why.
    pub fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities {
            pools: Vec::new(),
            native_tools: self.native_tools(),
            gaps: Vec::new(),
            posture: self.posture.clone(),
        };
        let shared = [&self.shell, &self.process, &self.http, &self.operation, &self.mcp_stdio, &self.mcp_http];
        for adapter in shared.into_iter().chain(self.native.values()) {
            let pool = adapter.pool();
            if !adapter.needs_sandbox() || self.posture.available {
                capabilities.pools.push(pool);
            } else {
                let message = self.posture.missing_reason.clone().unwrap_or_else(|| "the sandbox does not hold".into());
                capabilities.gaps.push(Gap { pool, reason_code: REASON_SANDBOX, message });
            }
        }
        capabilities.pools.sort_unstable();
        capabilities.pools.dedup();
        capabilities.gaps.sort_unstable_by_key(|gap| gap.pool);
        capabilities
    }

    /// The credentials that bindings name.
    pub fn credentials(&self) -> &Arc<CredentialSource> {
        &self.credentials
    }

    /// Names of the built-in tools, sorted.
    pub fn native_tools(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.native.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// Runs one call to its end; see [`Adapter::execute`]. No secret of the worker leaves this function.
    pub fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        let adapter = match &call.binding {
            ExecutionBinding::Shell { .. } => &self.shell,
            ExecutionBinding::Process(_) => &self.process,
            ExecutionBinding::Http(_) => &self.http,
            ExecutionBinding::Operation(_) => &self.operation,
            ExecutionBinding::Mcp(binding) => match binding.server {
                McpServer::Stdio(_) => &self.mcp_stdio,
                McpServer::Http(_) => &self.mcp_http,
            },
            ExecutionBinding::Native { name } => match self.native.get(name.as_str()) {
                Some(adapter) => adapter,
                None => return Box::pin(std::future::ready(Outcome::failure(unknown_native(name)))),
            },
        };
        if self.credentials.broker().is_none() {
            return adapter.execute(call, context);
        }
        Box::pin(async move {
            let context = masked::context(context, &self.credentials);
            let outcome = adapter.execute(call, &context).await;
            masked::outcome(&self.credentials.mask(), outcome)
        })
    }
}

fn unknown_native(name: &str) -> ToolError {
    let message = format!("this worker has no built-in tool `{}`", failure::excerpt(name));
    failure::nothing_done(ToolError::of(codes::NATIVE_UNKNOWN, message))
}
