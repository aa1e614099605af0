//! The role as a whole: its store, its rules, its handlers, its background work.

use std::sync::Arc;
use std::time::Duration;

use toolplane_backend::{Backend, Keeper};
use toolplane_hooks::Hooks;
use toolplane_proto::v1::permission_service_server::PermissionServiceServer;
use toolplane_records::cluster::ClusterRole;
use toolplane_records::vocabulary::HookEvent;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::Services;
use toolplane_runtime::{Config, Tasks};
use toolplane_store::StoreError;

use crate::approvals::Book;
use crate::error::PermissionError;
use crate::ledger::Ledger;
use crate::options::PermissionOptions;
use crate::rpc::PermissionApi;
use crate::rules::RuleBook;

/// How long the sweep waits after the store refused it.
const SWEEP_PAUSE: Duration = Duration::from_secs(5);

/// The points of a call whose hooks this role asks.
pub const HOOK_EVENTS: [HookEvent; 2] = [HookEvent::PermissionRequest, HookEvent::PermissionDecision];

/// The permission role, running. It does not listen by itself: [`PermissionRole::add_to`] puts it behind a listener.
#[derive(Debug)]
pub struct PermissionRole {
    api: PermissionApi,
    backend: Backend,
    max_message_bytes: usize,
}

/// Opens the role as configured, with its background work among `tasks`.
///
/// # Errors
///
/// - [`PermissionError::Config`] when the configuration is wrong, e.g. one of its rules.
/// - [`PermissionError::Open`] when the store cannot be opened.
/// - [`PermissionError::Hooks`] when a hook cannot be opened.
/// - Everything [`PermissionRole::open`] fails with.
pub async fn start(config: &Config, tasks: &Tasks) -> Result<PermissionRole, PermissionError> {
    let options = PermissionOptions::from_config(config)?;
    let backend = Backend::open(config, Keeper::Permission).await?;
    let hooks = Hooks::open(config, &HOOK_EVENTS).await?;
    PermissionRole::open(options, backend, hooks, tasks).await
}

impl PermissionRole {
    /// Opens the role over `backend` and starts its background work, which ends with the shutdown of `tasks`.
    ///
    /// Fails with [`PermissionError::Store`] when the store cannot be read, and with [`PermissionError::Rules`] when the
    /// configured rules or the stored ones cannot be used.
    pub async fn open(
        options: PermissionOptions,
        backend: Backend,
        hooks: Hooks,
        tasks: &Tasks,
    ) -> Result<Self, PermissionError> {
        let ledger = Arc::new(Ledger::open(backend.measured(Keeper::Permission, backend.store())).await?);
        let rules = RuleBook::open(Arc::clone(&ledger), options.source, options.limits.max_rules).await?;
        let rules = Arc::new(rules);
        let book = Arc::new(Book::new(Arc::clone(&ledger), options.limits));
        let stop = tasks.shutdown().token();
        let api = PermissionApi {
            rules: Arc::clone(&rules),
            book: Arc::clone(&book),
            hooks,
            shadow: Arc::default(),
            approval_ttl_ms: options.approval_ttl_ms,
            poll_every: options.poll_every,
            stopping: stop.clone(),
        };
        let (every, until) = (options.sweep_every, stop.clone());
        tasks.spawn("permission expiry sweep", async move {
            until.run_until_cancelled(sweep(&book, every)).await;
        });
        tasks.spawn("permission rules", rules.follow(options.look_every, stop.clone()));
        let until = stop.clone();
        tasks.spawn("permission hints", async move { ledger.listen(&until).await });
        let failed = backend.failed();
        tasks.spawn_fallible("permission store", async move {
            // After a failed write nothing may be acknowledged any more: the process ends and recovers.
            stop.run_until_cancelled(failed).await.map_or(Ok(()), Err)
        });
        Ok(Self { api, backend, max_message_bytes: options.max_message_bytes })
    }

    /// Adds this role to what a listener answers for.
    #[must_use]
    pub fn add_to(&self, services: Services) -> Services {
        let server = PermissionServiceServer::new(self.api.clone())
            .max_decoding_message_size(self.max_message_bytes)
            .max_encoding_message_size(self.max_message_bytes);
        services
            .with(server)
            .without_span("toolplane.v1.PermissionService/WatchApprovals")
            .without_span("toolplane.v1.PermissionService/WatchPolicy")
    }

    /// Ends the store with a last checkpoint; call it after the listener has ended. Fails with [`StoreError::Poisoned`]
    /// when a write of an embedded store failed, now or before; with Redis it does not fail.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.backend.close().await
    }
}

/// The permission role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Permission,
    check,
    rehearse: |_| Ok(Vec::new()),
    prepare: |_| Ok(()),
    start: |process, services| Box::pin(async move { role(&process, services).await }),
};

/// Checks what only this role understands in the configuration, without starting anything.
fn check(config: &Config) -> Result<(), RoleError> {
    PermissionOptions::from_config(config)?;
    Hooks::check(config)?;
    Ok(toolplane_backend::check(config, Keeper::Permission)?)
}

/// The permission role in its process: opened, with its background work running, and added to `services`.
async fn role(process: &Process, services: Services) -> Result<Role, RoleError> {
    let service = start(&process.config, &process.tasks).await?;
    let need = process.readiness.need("the permission store", &["toolplane.v1.PermissionService", "permission"]);
    let (backend, stop) = (service.backend.clone(), process.tasks.shutdown().token());
    process.tasks.spawn("permission store health", async move { backend.follow(need, stop).await });
    let services = service.add_to(services);
    let close = async move { service.close().await.map_err(|error| RoleError::new(error.code(), error)) };
    Ok(Role { services: Some(services), close: vec![Box::pin(close)] })
}

async fn sweep(book: &Book, every: Duration) {
    loop {
        match book.expire_due().await {
            Ok(0) => tokio::time::sleep(every).await,
            Ok(count) => tracing::info!(count, "questions expired unanswered"),
            Err(error) => {
                tracing::warn!(%error, code = error.code(), "expired approval requests cannot be closed now");
                tokio::time::sleep(SWEEP_PAUSE).await;
            }
        }
    }
}
