//! Servers that are programs, each in a sandbox of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use toolplane_catalog::values::Egress;
use toolplane_mcp::{Guard, Transport};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::mcp::{McpStdioServer, McpWorkspace};
use toolplane_sandbox::running::{Killer, Observer};
use toolplane_sandbox::{
    Exit, Gate, OutputStream, Profile, RunLimits, Running, SandboxError, SandboxSpec, Session, StreamRates,
    WorkspaceAccess, WorkspaceMount,
};

use super::key::View;
use super::options::McpOptions;
use super::proxied::CredentialGate;
use crate::call::Call;
use crate::credentials::{Injections, RunCredentials};
use crate::failure::{excerpt, invalid_binding, nothing_done};
use crate::http::{Clients, EgressGate, Lookup, innermost};
use crate::sandboxed::{Sandboxed, masks, no_exit, unavailable};

/// How long a server that is lost is waited for, to say how it ended.
const FATE: Duration = Duration::from_secs(2);
/// Most characters of the last line of a server's standard error that are told.
const LAST_WORDS: usize = 300;

/// Starts servers that are programs.
#[derive(Debug)]
pub(super) struct StdioServers {
    sandboxed: Arc<Sandboxed>,
    lookup: Arc<dyn Lookup>,
    /// Send what a credential is put into.
    clients: Clients,
    limits: RunLimits,
    env_names: Vec<String>,
    read_paths: Vec<PathBuf>,
    /// One task for each program, which waits for its end. With the adapter the tasks end, and with them the programs.
    keepers: Mutex<JoinSet<()>>,
}

/// A program that was started.
#[derive(Debug)]
pub(super) struct ServerRun {
    pub(super) killer: Killer,
    observer: Observer,
    /// Cancelled when no session uses it any more.
    unused: CancellationToken,
    /// How it ended.
    fate: watch::Receiver<Option<Fate>>,
}

/// How a program ended.
#[derive(Clone, Debug)]
pub(super) struct Fate {
    /// In words.
    pub(super) how: String,
    /// What it tried and was denied.
    pub(super) violations: Vec<String>,
}

/// What the pool drops when a session is over.
pub(super) struct ServerGuard(pub(super) Arc<ServerRun>);

impl Drop for ServerGuard {
    fn drop(&mut self) {
        self.0.unused.cancel();
    }
}

impl StdioServers {
    pub(super) fn new(sandboxed: Arc<Sandboxed>, lookup: Arc<dyn Lookup>, options: &McpOptions) -> Self {
        let McpOptions { limits, env_names, read_paths, .. } = options.clone();
        let clients = Clients::new(Arc::clone(&lookup));
        Self { sandboxed, lookup, clients, limits, env_names, read_paths, keepers: Mutex::default() }
    }

    /// Refuses what this worker does not give to any server.
    pub(super) fn check(&self, call: &Call, server: &McpStdioServer) -> Result<(), ToolError> {
        let profile = call.place.sandbox_profile.as_deref().unwrap_or(Profile::McpStdioServer.as_str());
        if profile != Profile::McpStdioServer.as_str() {
            let only = Profile::McpStdioServer.as_str();
            return Err(invalid_binding(format!("MCP servers have the sandbox profile `{only}`, and no other")));
        }
        if !self.sandboxed.posture.available {
            return Err(unavailable(self.sandboxed.posture.missing_reason.as_deref().unwrap_or("unknown reason")));
        }
        if let Some(name) = server.env_names.iter().find(|name| !self.env_names.contains(name)) {
            return Err(not_allowed(&format!("its variable `{}`", excerpt(name)), "executor.mcp.env_names"));
        }
        let allowed = |path: &Path| self.read_paths.iter().any(|allowed| path.starts_with(allowed));
        match server.sandbox.read_paths.iter().find(|path| !allowed(Path::new(path))) {
            Some(path) => Err(not_allowed(&format!("to read `{}`", excerpt(path)), "executor.mcp.read_paths")),
            None => Ok(()),
        }
    }

    /// What a server for `call` sees of the workspace.
    pub(super) async fn view(&self, call: &Call, server: &McpStdioServer) -> Result<Option<View>, ToolError> {
        if server.sandbox.workspace == McpWorkspace::None {
            return Ok(None);
        }
        let workspace = call.place.workspace.as_ref().unwrap_or(&self.sandboxed.workspace).clone();
        let masks = masks(call, &workspace).await?;
        Ok(Some(View { workspace, denied: call.place.denied.clone(), masks }))
    }

    /// Starts `server`, which sees `view`, with the credentials it is given.
    pub(super) async fn start(
        &self,
        server: &McpStdioServer,
        view: Option<&View>,
        given: &RunCredentials,
        injections: &Arc<Injections>,
    ) -> Result<(Transport, Guard, Arc<ServerRun>), ToolError> {
        let mut spec = self.spec(server, view, given)?;
        spec.network = self.network(server, given, injections)?;
        let opened = self.sandboxed.backend.open(spec, StreamRates::default()).await;
        let Session { input, output, running } = opened.map_err(|error| match error {
            // Its caller chose none of this.
            SandboxError::Invalid { .. } => invalid_binding(format!("the server cannot be run: {error}")),
            error => no_exit(&error),
        })?;
        let (told, fate) = watch::channel(None);
        let run = Arc::new(ServerRun {
            killer: running.killer(),
            observer: running.observer(),
            unused: CancellationToken::new(),
            fate,
        });
        let workspace = view.map(|view| view.workspace.clone());
        let mut keepers = self.keepers.lock();
        while keepers.try_join_next().is_some() {}
        keepers.spawn(keep(running, Arc::clone(&run), Arc::clone(&self.sandboxed), workspace, told));
        let guard: Guard = Box::new(ServerGuard(Arc::clone(&run)));
        Ok((Transport::pipes(output, input), guard, run))
    }

    fn spec(
        &self,
        server: &McpStdioServer,
        view: Option<&View>,
        given: &RunCredentials,
    ) -> Result<SandboxSpec, ToolError> {
        let mut spec = SandboxSpec::server(server.argv.clone());
        spec.limits = self.limits.clone();
        spec.read_only_paths = self.sandboxed.read_only_paths.clone();
        spec.read_only_paths.extend(server.sandbox.read_paths.iter().map(PathBuf::from));
        let own = |name: &String| Some((name.clone(), std::env::var(name).ok()?));
        spec.env = server.env_names.iter().filter_map(own).collect();
        spec.env.extend(server.env.clone());
        spec.declared_env = spec.env.keys().cloned().collect();
        given.put_into(&mut spec);
        if let Some(view) = view {
            let (host, masks) = (view.workspace.clone(), view.masks.clone());
            let access = match server.sandbox.workspace {
                McpWorkspace::Write => WorkspaceAccess::ReadWrite,
                McpWorkspace::None | McpWorkspace::Read => WorkspaceAccess::ReadOnly,
            };
            let quota = match access {
                WorkspaceAccess::ReadWrite => self.sandboxed.budget.quota(&host)?,
                WorkspaceAccess::ReadOnly => toolplane_sandbox::Quota::default(),
            };
            spec.workspace = Some(WorkspaceMount { host, access, quota });
            spec.masks = masks;
        }
        Ok(spec)
    }

    /// The hosts it may reach, with what is put into requests to them; nothing when there are none.
    fn network(
        &self,
        server: &McpStdioServer,
        given: &RunCredentials,
        injections: &Arc<Injections>,
    ) -> Result<Option<Arc<dyn Gate>>, ToolError> {
        if server.sandbox.allowed_hosts.is_empty() {
            return Ok(None);
        }
        let egress = Egress::of_places(&server.sandbox.allowed_hosts, &server.sandbox.allowed_ports);
        let gate = EgressGate::new(egress.clone(), Arc::clone(&self.lookup));
        if given.proxied.is_empty() {
            return Ok(Some(Arc::new(gate)));
        }
        let client = self.clients.of(&egress).map_err(|error| invalid_binding(innermost(&error)))?;
        Ok(Some(Arc::new(CredentialGate {
            gate,
            egress,
            client,
            headers: given.proxied.clone(),
            injections: Arc::clone(injections),
            credentials: Arc::clone(&self.sandboxed.credentials),
        })))
    }
}

/// Waits for the end of a program. One that no session uses any more may end by itself for a moment.
async fn keep(
    running: Running,
    run: Arc<ServerRun>,
    sandboxed: Arc<Sandboxed>,
    workspace: Option<PathBuf>,
    told: watch::Sender<Option<Fate>>,
) {
    let canceler = running.canceler();
    let mut end = std::pin::pin!(running.wait());
    let ended = tokio::select! {
        ended = &mut end => ended,
        () = run.unused.cancelled() => {
            canceler.close();
            end.await
        }
    };
    if let Ok(Exit { workspace_usage: Some(usage), .. }) = &ended
        && let Some(workspace) = workspace
    {
        sandboxed.budget.note(&workspace, *usage, Duration::ZERO);
    }
    told.send_replace(Some(fate(&ended)));
}

fn fate(ended: &Result<Exit, SandboxError>) -> Fate {
    use toolplane_sandbox::ProcessEnd;
    let exit = match ended {
        Ok(exit) => exit,
        Err(error) => return Fate { how: error.to_string(), violations: Vec::new() },
    };
    let mut how = match exit.ending {
        ProcessEnd::Code(code) => format!("it ended with exit code {code}"),
        ProcessEnd::Signal(signal) => format!("it was ended by signal {signal}"),
    };
    if exit.timed_out {
        how.push_str(" because its time was over");
    }
    if let Some(hit) = exit.limits_hit.first() {
        how.push_str(&format!(" and reached its bound of {} for {}", hit.allowed, hit.limit.as_str()));
    }
    let serious = exit.violations.iter().filter(|tried| !tried.probe);
    Fate { how, violations: serious.map(toolplane_sandbox::Violation::evidence).take(16).collect() }
}

impl ServerRun {
    /// How the program ended; nothing when it still runs after a moment.
    pub(super) async fn fate(&self) -> Option<Fate> {
        let mut fate = self.fate.clone();
        let ended = tokio::time::timeout(FATE, fate.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// The last line it wrote to its standard error, as it may be shown; nothing when there is none.
    pub(super) fn last_words(&self) -> Option<String> {
        let kept = self.observer.kept(OutputStream::Stderr).kept();
        let text = String::from_utf8_lossy(&kept);
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(toolplane_records::visible::excerpt(line.trim(), LAST_WORDS))
    }
}

fn not_allowed(what: &str, key: &str) -> ToolError {
    let message = format!("this worker's operator does not allow MCP servers {what}; see `{key}`");
    nothing_done(ToolError::of(codes::MCP_NOT_ALLOWED, message))
}
