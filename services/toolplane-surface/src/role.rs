//! The role as a whole: its store, its handlers, its background work.

use std::path::Path;
use std::sync::Arc;

use toolplane_backend::{Backend, Keeper};
use toolplane_catalog::{Catalog, CatalogLimits, Registration};
use toolplane_metrics::{Observing, before_collect};
use toolplane_proto::v1::provider_service_server::ProviderServiceServer;
use toolplane_proto::v1::surface_service_server::SurfaceServiceServer;
use toolplane_records::cluster::ClusterRole;
use toolplane_records::ids::TenantId;
use toolplane_records::vocabulary::ToolLifecycle;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::Services;
use toolplane_runtime::status::describe;
use toolplane_runtime::{Config, Tasks};
use toolplane_store::StoreError;

use crate::declarations::ToolFile;
use crate::error::{SurfaceError, of_violations};
use crate::learning::Learning;
use crate::meaning::{self, Meaning};
use crate::options::SurfaceOptions;
use crate::providers::{Configured, Looks, Sources, configured};
use crate::registry::Registry;
use crate::rpc::SurfaceApi;
use crate::synonyms::Thesauri;
use crate::{declarations, rerank, takeover};

/// The services of the role, as health checks name them.
const HEALTH: [&str; 3] = ["toolplane.v1.SurfaceService", "toolplane.v1.ProviderService", "surface"];

/// What is said of a field of a tool file that may be misspelled.
const LEFT_OUT: &str = "no record has this field; nothing is kept of it";

/// The surface role, running. It does not listen by itself: [`SurfaceRole::add_to`] puts it behind a listener.
#[derive(Debug)]
pub struct SurfaceRole {
    api: SurfaceApi,
    backend: Backend,
    max_message_bytes: usize,
    /// The levels of circuits are told as long as the role is there.
    _levels: Observing,
}

/// Opens the role as configured, with its background work among `tasks`.
///
/// # Errors
///
/// - [`SurfaceError::Open`] when the store cannot be opened.
/// - [`SurfaceError::Moved`] when the store is Redis, and what the role kept in a directory before cannot be moved there.
/// - [`SurfaceError::Meaning`] when the embedding model or endpoint cannot be used.
/// - [`SurfaceError::Reranker`] when the reranker cannot be used.
/// - Everything [`SurfaceRole::open`] fails with.
pub async fn start(config: &Config, tasks: &Tasks) -> Result<SurfaceRole, SurfaceError> {
    start_with(config, SurfaceOptions::from_config(config), tasks).await
}

async fn start_with(config: &Config, mut options: SurfaceOptions, tasks: &Tasks) -> Result<SurfaceRole, SurfaceError> {
    options.meaning = meaning::open(config).await?;
    options.reranker = rerank::open(config)?;
    let backend = Backend::open(config, Keeper::Surface).await?;
    takeover::take_over(config, &backend).await?;
    SurfaceRole::open(options, backend, tasks).await
}

impl SurfaceRole {
    /// Opens the role over `backend`: reads its tools back, registers the configured tool files and starts the background
    /// work, which ends with the shutdown of `tasks`.
    ///
    /// # Errors
    ///
    /// - [`SurfaceError::Store`] when the store cannot be read.
    /// - [`SurfaceError::Tool`] when a stored tool cannot be used.
    /// - [`SurfaceError::Synonyms`] when words that are said to mean the same cannot be used.
    /// - [`SurfaceError::Declarations`] when a tool file cannot be read, or its tools are refused.
    pub async fn open(options: SurfaceOptions, backend: Backend, tasks: &Tasks) -> Result<Self, SurfaceError> {
        let thesauri = Thesauri::of(&options.synonyms, options.starter_synonyms)?;
        let store = backend.measured(Keeper::Surface, backend.store());
        let learning = Learning::new(Arc::clone(&store), options.learning.clone());
        let registry =
            Registry::open(store, options.sync_patience, thesauri, learning.clone(), options.unused_after).await?;
        registry.join().await?;
        let stop = tasks.shutdown().token();
        tasks.spawn("surface changes", registry.clone().follow(stop.clone()));
        tasks.spawn("logs of surfaces", registry.clone().write_found(stop.clone()));
        tasks.spawn("unused surfaces", registry.clone().delete_unused(stop.clone()));
        for file in &options.declarations {
            register_file(&registry, file).await?;
        }
        let (failed, stopping) = (backend.failed(), stop.clone());
        tasks.spawn_fallible("surface store", async move {
            // After a failed write nothing may be acknowledged any more: the process ends and recovers.
            stopping.run_until_cancelled(failed).await.map_or(Ok(()), Err)
        });
        let sources = Sources::new(registry.clone(), &options.providers);
        let levels = before_collect({
            let registry = registry.clone();
            move || registry.0.providers.tell_levels()
        });
        let looks = Looks::new(registry.clone(), Arc::new(sources), options.providers.clone());
        tasks.spawn("providers", looks.clone().rounds(stop.clone()));
        tasks.spawn("provider documents", registry.clone().forget_documents(stop.clone()));
        tasks.spawn("learning from use", learning.follow(stop.clone()));
        let meaning = options.meaning.map(Meaning::new);
        if let Some(meaning) = &meaning {
            tasks.spawn("tools for the embedding model", meaning.clone().read_tools(registry.clone(), stop.clone()));
        }
        let api = SurfaceApi {
            registry,
            looks,
            defer_threshold: options.defer_threshold,
            budget: options.budget,
            meaning,
            reranker: options.reranker,
            max_message_bytes: options.max_message_bytes,
            stopping: stop,
        };
        Ok(Self { api, backend, _levels: levels, max_message_bytes: options.max_message_bytes })
    }

    /// Adds this role to what a listener answers for.
    #[must_use]
    pub fn add_to(&self, services: Services) -> Services {
        let server = SurfaceServiceServer::new(self.api.clone())
            .max_decoding_message_size(self.max_message_bytes)
            .max_encoding_message_size(self.max_message_bytes);
        let providers = ProviderServiceServer::new(self.api.clone())
            .max_decoding_message_size(self.max_message_bytes)
            .max_encoding_message_size(self.max_message_bytes);
        services.with(server).with(providers).without_span("toolplane.v1.SurfaceService/SyncCatalog")
    }

    /// Ends the store with a last checkpoint; call it after the listener has ended. Fails with [`StoreError::Poisoned`]
    /// when a write of an embedded store failed, now or before; with Redis it does not fail.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.backend.close().await
    }
}

/// The surface role in its process: opened, with its background work running, and added to `services`.
async fn role(process: &Process, services: Services) -> Result<Role, RoleError> {
    let mut options = SurfaceOptions::from_config(&process.config);
    // Without a scheduler all else goes on: only what workers have to ask is not asked.
    if let Ok(scheduler) = process.peer(ClusterRole::Scheduler, &process.config.peers.scheduler) {
        options.providers.speaks_for_tenants = scheduler.is_inside() || process.config.server.auth.is_some();
        options.providers.scheduler = Some(scheduler);
    }
    let scheduler = options.providers.scheduler.clone();
    let service = start_with(&process.config, options, &process.tasks).await?;
    let need = process.readiness.need("the surface store", &HEALTH);
    let (backend, stop) = (service.backend.clone(), process.tasks.shutdown().token());
    process.tasks.spawn("surface store health", async move { backend.follow(need, stop).await });
    let need = process.readiness.need("changes of other surface processes", &HEALTH);
    let (registry, stop) = (service.api.registry.clone(), process.tasks.shutdown().token());
    process.tasks.spawn("surface changes health", registry.follow_health(need, stop));
    if let Some(scheduler) = scheduler {
        let follow = service.api.registry.clone().follow_credentials(scheduler, process.tasks.shutdown().token());
        process.tasks.spawn("credentials of workers", follow);
    }
    // Without it nothing is hidden, and denied when it is called.
    if let Ok(permission) = process.peer(ClusterRole::Permission, &process.config.peers.permission) {
        let follow = service.api.registry.clone().follow_denied(permission, process.tasks.shutdown().token());
        process.tasks.spawn("denied tools", follow);
    }
    let configured = Configured::new(service.api.registry.clone(), &process.config);
    process.tasks.spawn("configured providers", configured.follow(process.tasks.shutdown().token()));
    let services = service.add_to(services);
    let close = async move { service.close().await.map_err(|error| RoleError::new(error.code(), error)) };
    Ok(Role { services: Some(services), close: vec![Box::pin(close)] })
}

/// The surface role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Surface,
    check,
    rehearse,
    prepare: |_| Ok(()),
    start: |process, services| Box::pin(async move { role(&process, services).await }),
};

/// Checks what only this role understands in the configuration, without starting anything: the tool files must be there and
/// readable, and synonyms must be words.
fn check(config: &Config) -> Result<(), RoleError> {
    Thesauri::of(&SurfaceOptions::from_config(config).synonyms, config.surface.search.starter_synonyms)?;
    for file in &config.surface.declarations {
        declarations::read(file).map_err(|reason| refused(file, reason))?;
    }
    meaning::check(config)?;
    rerank::check(config)?;
    configured::read(&config.providers)?;
    Ok(toolplane_backend::check(config, Keeper::Surface)?)
}

/// Registers the configured tools with nothing, as a start does with what is stored; what they hold that no record has.
fn rehearse(config: &Config) -> Result<Vec<String>, RoleError> {
    let mut catalog = Catalog::new(CatalogLimits::default());
    let mut warnings = Vec::new();
    for file in &config.surface.declarations {
        let ToolFile { registrations, left_out } = declarations::read(file).map_err(|reason| refused(file, reason))?;
        warnings.extend(left_out.into_iter().map(|field| format!("{}: `{field}`: {LEFT_OUT}", file.display())));
        let planned = catalog.plan_register(&registrations).map_err(of_violations);
        let planned = planned.map_err(|error| refused(file, describe(&(&error).into()).to_string()))?;
        planned.into_iter().for_each(|change| catalog.apply(change));
    }
    Ok(warnings)
}

fn refused(file: &Path, reason: String) -> SurfaceError {
    SurfaceError::Declarations { file: file.to_owned(), reason }
}

/// The tools of a file. What of it no record takes is said in the log: it may be misspelled.
fn tools_of(file: &Path) -> Result<Vec<Registration>, SurfaceError> {
    let ToolFile { registrations, left_out } = declarations::read(file).map_err(|reason| refused(file, reason))?;
    for field in left_out {
        tracing::warn!(field, file = %file.display(), "{LEFT_OUT}");
    }
    Ok(registrations)
}

/// Registers the tools of a file. What was retired meanwhile stays retired.
async fn register_file(registry: &Registry, file: &Path) -> Result<(), SurfaceError> {
    let mut tools = tools_of(file)?;
    let tenant = TenantId::unauthenticated();
    tools.retain(|tool| {
        let id = &tool.declaration.tool_id;
        let known = registry.tool(&tenant, id);
        let retired = known.is_ok_and(|entry| entry.tool.registration().lifecycle() == ToolLifecycle::Retired);
        if retired {
            tracing::warn!(tool_id = %id, file = %file.display(), "the file declares a retired tool; it stays retired");
        }
        !retired
    });
    let count = tools.len();
    let refused = |error: toolplane_runtime::ApiError| refused(file, describe(&(&error).into()).to_string());
    registry.register(tenant, tools, false).await.map_err(refused)?;
    tracing::info!(count, file = %file.display(), "tools registered");
    Ok(())
}
