//! Tools of MCP servers: sessions that are kept and lent, one call on one of them, and what came of it.
//!
//! ```text
//! binding ──► credentials ──► key ──► pool of sessions ──► call ──► answer or failure ──► outcome
//!                                        │ start
//!                                        ├─ stdio: a program in the sandbox, its streams, its end
//!                                        └─ http:  requests within the allow list of the server
//! ```
//!
//! A session is shared by the calls that agree in everything a server could tell them apart by ([`Key`]): tenant, session or call as the
//! binding says, what they see of the workspace, the server, and the values of its credentials.

mod answer;
mod call;
mod changes;
mod credentials;
mod fault;
mod http;
mod key;
mod options;
mod proxied;
mod stdio;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use toolplane_mcp::{OnChange, SessionOptions, Sessions, Started};
use toolplane_records::credential::CredentialUse;
use toolplane_records::error::ToolError;
use toolplane_records::mcp::{McpBinding, McpServer};
use toolplane_records::profile::ExecutionBinding;

use crate::adapter::Adapter;
use crate::call::{Call, Context};
use crate::credentials::{CredentialSource, Injections};
use crate::failure::invalid_binding;
use crate::http::Lookup;
use crate::outcome::Outcome;
use crate::progress::{Meter, final_status};
use crate::sandboxed::{Sandboxed, unavailable};
pub use changes::{ChangedProvider, ProviderChanges};
use credentials::Values;
use http::HttpServers;
pub use http::place_of_server;
use key::{Key, Scope};
pub use options::McpOptions;
use stdio::{ServerRun, StdioServers};
use watch::CallWatch;

/// Runs calls of the tools of MCP servers of one kind.
#[derive(Debug)]
pub(crate) struct Mcp {
    servers: Servers,
    sessions: Arc<Sessions<Key>>,
    credentials: Arc<CredentialSource>,
    /// Told when servers say that their tools have changed.
    changes: Arc<ProviderChanges>,
    default_timeout: Duration,
    /// Tells sessions with different secrets apart.
    secrets: std::hash::RandomState,
    /// The tending of the pool, begun with the first call. Ends with the adapter.
    tending: Mutex<JoinSet<()>>,
}

/// How servers of a kind are reached.
#[derive(Debug)]
enum Servers {
    Stdio(StdioServers),
    Http(HttpServers),
}

impl Mcp {
    /// For servers that are programs.
    pub(crate) fn stdio(
        sandboxed: Arc<Sandboxed>,
        lookup: Arc<dyn Lookup>,
        options: McpOptions,
        changes: Arc<ProviderChanges>,
        default_timeout: Duration,
    ) -> Self {
        let credentials = Arc::clone(&sandboxed.credentials);
        let servers = Servers::Stdio(StdioServers::new(sandboxed, lookup, &options));
        Self::new(servers, options, credentials, changes, default_timeout)
    }

    /// For servers over HTTP.
    pub(crate) fn http(
        lookup: Arc<dyn Lookup>,
        options: McpOptions,
        credentials: Arc<CredentialSource>,
        changes: Arc<ProviderChanges>,
        default_timeout: Duration,
    ) -> Self {
        Self::new(Servers::Http(HttpServers::new(lookup)), options, credentials, changes, default_timeout)
    }

    fn new(
        servers: Servers,
        options: McpOptions,
        credentials: Arc<CredentialSource>,
        changes: Arc<ProviderChanges>,
        default_timeout: Duration,
    ) -> Self {
        // Whether there is a person is a matter of the call; a session may have calls of both kinds.
        let session = SessionOptions { answers: true, ..SessionOptions::default() };
        Self {
            servers,
            sessions: Arc::new(Sessions::new(options.pool, session)),
            credentials,
            changes,
            default_timeout,
            secrets: std::hash::RandomState::new(),
            tending: Mutex::default(),
        }
    }

    /// Begins to tend the pool, once.
    fn tend(&self) {
        let mut tending = self.tending.lock();
        if tending.is_empty() {
            let sessions = Arc::clone(&self.sessions);
            tending.spawn(async move { sessions.tend().await });
        }
    }

    /// What the binding asks for, checked before anything is started.
    async fn prepared<'a>(&'a self, call: &'a Call, binding: &'a McpBinding) -> Result<Prepared<'a>, ToolError> {
        self.check(call, binding)?;
        let injections = Arc::new(self.credentials.place(call, &CredentialUse::of_mcp(&binding.server)).await?);
        let values = credentials::values(&binding.server, &injections)?;
        let view = match (&self.servers, &binding.server) {
            (Servers::Stdio(servers), McpServer::Stdio(server)) => servers.view(call, server).await?,
            _ => None,
        };
        let key = Key {
            tenant: call.origin.tenant.clone(),
            provider_id: binding.provider_id.clone(),
            scope: Scope::of(call, binding.sharing),
            view,
            server: binding.server.clone(),
            secrets: std::hash::BuildHasher::hash_one(&self.secrets, &values),
        };
        // What was started for another look at the same workspace may have seen what this call must not.
        if key.view.is_some() {
            self.sessions.let_go(|other| key.replaces(other));
        }
        let (run, fault) = (Mutex::default(), Arc::default());
        Ok(Prepared { mcp: self, call, binding, key, injections, values, run, fault })
    }

    fn check(&self, call: &Call, binding: &McpBinding) -> Result<(), ToolError> {
        match (&self.servers, &binding.server) {
            (Servers::Stdio(servers), McpServer::Stdio(server)) => servers.check(call, server),
            (Servers::Http(servers), McpServer::Http(server)) => servers.check(server),
            _ => Err(invalid_binding("the server is of another kind")),
        }
    }
}

impl Adapter for Mcp {
    fn pool(&self) -> &'static str {
        match self.servers {
            Servers::Stdio(_) => "mcp_stdio",
            Servers::Http(_) => "mcp_http",
        }
    }

    fn needs_sandbox(&self) -> bool {
        matches!(self.servers, Servers::Stdio(_))
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let ExecutionBinding::Mcp(binding) = &call.binding else {
                return Outcome::failure(invalid_binding("the tool is not bound to an MCP server"));
            };
            self.tend();
            let mut meter = Meter::start(&context.progress);
            let watch = CallWatch::new(context);
            let mut work = std::pin::pin!(self.run(call, binding, context, &watch));
            let outcome = loop {
                tokio::select! {
                    biased;
                    outcome = &mut work => break outcome,
                    () = watch.changed() => meter.note(watch.counts()),
                    // While a person is asked there is nothing to tell.
                    () = meter.due(), if !watch.is_asking() => meter.flush(),
                }
            };
            meter.finish(watch.counts(), final_status(&outcome));
            outcome
        })
    }
}

/// One call that may be made, and what it needs for a session.
struct Prepared<'a> {
    mcp: &'a Mcp,
    call: &'a Call,
    binding: &'a McpBinding,
    key: Key,
    /// Held until the call has ended, so that what is in them is masked.
    injections: Arc<Injections>,
    values: Values,
    /// The program that was started for this call last.
    run: Mutex<Option<Arc<ServerRun>>>,
    /// Why a start failed, where more is known than a text.
    fault: Arc<Mutex<Option<ToolError>>>,
}

impl Prepared<'_> {
    /// Starts the server, or makes what asks it. The text of a failure is for later calls; this one is told [`Prepared::fault`].
    async fn start(&self) -> Result<Started, String> {
        let started = match (&self.mcp.servers, &self.binding.server, &self.values) {
            (Servers::Stdio(servers), McpServer::Stdio(server), Values::Run(given)) => {
                let started = servers.start(server, self.key.view.as_ref(), given, &self.injections).await;
                started.map(|(transport, guard, run)| {
                    *self.run.lock() = Some(run);
                    (transport, guard)
                })
            }
            (Servers::Http(servers), McpServer::Http(server), Values::Request(given)) => {
                servers.start(server, given.clone(), Arc::clone(&self.fault))
            }
            _ => Err(unavailable("the server is of another kind")),
        };
        let is_shared = !self.key.scope.is_over_with_its_call();
        // What a session for one call alone says is seen when its provider is asked next.
        let is_heard = is_shared && !self.key.provider_id.is_empty();
        let started = started.map(|(transport, guard)| Started {
            transport,
            guard,
            on_change: is_heard.then(|| self.on_change()),
            is_shared,
        });
        started.map_err(|error| {
            let message = error.message.clone();
            *self.fault.lock() = Some(error);
            message
        })
    }

    fn on_change(&self) -> OnChange {
        let changes = Arc::clone(&self.mcp.changes);
        let (tenant, provider_id) = (self.key.tenant.clone(), self.key.provider_id.to_string());
        let changed = ChangedProvider { tenant, provider_id };
        Box::new(move || changes.note(changed.clone()))
    }
}
