//! The role as a whole: its store, its handlers, its background work.

use std::sync::Arc;
use std::time::Duration;

use toolplane_backend::{Backend, Keeper};
use toolplane_metrics::{Observing, before_collect};
use toolplane_proto::v1::provider_service_server::ProviderServiceServer;
use toolplane_proto::v1::surface_service_server::SurfaceServiceServer;
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::Services;
use toolplane_runtime::{Config, Tasks};
use toolplane_store::StoreError;

use crate::declarations::configured::ToolFiles;
use crate::error::SurfaceError;
use crate::learning::Learning;
use crate::meaning::{self, Meaning};
use crate::memory::Memory;
use crate::options::{DenialOptions, SurfaceOptions};
use crate::parts::Parts;
use crate::providers::{Clock, Configured, Looks, Sources, configured};
use crate::registry::Registry;
use crate::retention::{Retention, UseNotes};
use crate::rpc::SurfaceApi;
use crate::synonyms::Thesauri;
use crate::{rerank, takeover};

/// The services of the role, as health checks name them.
const HEALTH: [&str; 3] = ["toolplane.v1.SurfaceService", "toolplane.v1.ProviderService", "surface"];

/// How long what is shown waits, after a start, for the first word of which tools are denied.
const FIRST_WORD: Duration = Duration::from_secs(3);

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
    /// - [`SurfaceError::Declarations`] when a tool file cannot be read, its tools are refused, or two contradict each other.
    pub async fn open(options: SurfaceOptions, backend: Backend, tasks: &Tasks) -> Result<Self, SurfaceError> {
        let thesauri = Thesauri::of(&options.synonyms, options.starter_synonyms)?;
        // All that is wrong in any of them is told before anything is registered.
        let tool_files = ToolFiles::checked(&options.declarations)?;
        let store = backend.measured(Keeper::Surface, backend.store());
        let learning = Learning::new(Arc::clone(&store), options.learning.clone());
        let memory = Memory::new(thesauri, learning.clone());
        let registry = Registry::open(Arc::clone(&store), options.sync_patience, memory.clone()).await?;
        registry.join().await?;
        let uses = UseNotes::new(Arc::clone(&store), options.unused_after);
        let parts = Parts::new(registry.clone(), &memory, &uses);
        let stop = tasks.shutdown().token();
        tasks.spawn("surface changes", registry.clone().follow(stop.clone()));
        tasks.spawn("logs of surfaces", parts.finds.clone().write(stop.clone()));
        let retention = Retention::new(store, options.unused_after, uses, parts.surfaces.clone());
        tasks.spawn("unused surfaces", retention.follow(stop.clone()));
        if let Some(denials) = options.denials {
            tasks.spawn("denied tools", parts.denied.clone().follow(denials, stop.clone()));
        }
        tool_files.register(&registry).await?;
        let (failed, stopping) = (backend.failed(), stop.clone());
        tasks.spawn_fallible("surface store", async move {
            // After a failed write nothing may be acknowledged any more: the process ends and recovers.
            stopping.run_until_cancelled(failed).await.map_or(Ok(()), Err)
        });
        let sources = Sources::new(parts.documents.clone(), &options.providers);
        let levels = before_collect({
            let shelf = Arc::clone(&memory.shelf);
            move || shelf.tell_levels()
        });
        let (providers, hidden) = (parts.providers.clone(), parts.hidden.clone());
        let looks = Looks::new(clock(&registry), providers, hidden, Arc::new(sources), options.providers.clone());
        tasks.spawn("providers", looks.clone().rounds(stop.clone()));
        tasks.spawn("provider documents", parts.documents.clone().follow(stop.clone()));
        tasks.spawn("learning from use", learning.follow(stop.clone()));
        let meaning = options.meaning.map(Meaning::new);
        if let Some(meaning) = &meaning {
            tasks.spawn("tools for the embedding model", meaning.clone().read_tools(registry.clone(), stop.clone()));
        }
        let api = SurfaceApi {
            parts,
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

/// The clock of the store.
fn clock(registry: &Registry) -> Clock {
    let own = registry.clone();
    Arc::new(move || {
        let registry = own.clone();
        Box::pin(async move { registry.now().await })
    })
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
    // Without it nothing is hidden, and denied when it is called.
    let permission = process.peer(ClusterRole::Permission, &process.config.peers.permission).ok();
    options.denials = permission.map(|permission| DenialOptions { permission, patience: FIRST_WORD });
    let service = start_with(&process.config, options, &process.tasks).await?;
    let need = process.readiness.need("the surface store", &HEALTH);
    let (backend, stop) = (service.backend.clone(), process.tasks.shutdown().token());
    process.tasks.spawn("surface store health", async move { backend.follow(need, stop).await });
    let need = process.readiness.need("changes of other surface processes", &HEALTH);
    let (registry, stop) = (service.api.parts.registry.clone(), process.tasks.shutdown().token());
    process.tasks.spawn("surface changes health", registry.follow_health(need, stop));
    if let Some(scheduler) = scheduler {
        let follow = service.api.parts.credentials.clone().follow(scheduler, process.tasks.shutdown().token());
        process.tasks.spawn("credentials of workers", follow);
    }
    let Parts { providers, documents, .. } = service.api.parts.clone();
    let configured = Configured::new(providers, documents, &process.config);
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

/// Checks what only this role understands in the configuration, without starting anything: the tool files must be there and hold what can be
/// registered, and synonyms must be words.
fn check(config: &Config) -> Result<(), RoleError> {
    Thesauri::of(&SurfaceOptions::from_config(config).synonyms, config.surface.search.starter_synonyms)?;
    ToolFiles::checked(&config.surface.declarations)?;
    meaning::check(config)?;
    rerank::check(config)?;
    configured::read(&config.providers)?;
    Ok(toolplane_backend::check(config, Keeper::Surface)?)
}

/// What the configured tool files hold that no record has.
fn rehearse(config: &Config) -> Result<Vec<String>, RoleError> {
    Ok(ToolFiles::checked(&config.surface.declarations)?.warnings())
}
