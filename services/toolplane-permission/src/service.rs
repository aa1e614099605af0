//! The role as a whole: its store, its handlers, its background work.

use std::sync::Arc;
use std::time::Duration;

use toolplane_proto::v1::permission_service_server::PermissionServiceServer;
use toolplane_runtime::process::{Process, Role, RoleError};
use toolplane_runtime::server::Services;
use toolplane_runtime::{Config, Tasks};
use toolplane_store::StoreError;
use toolplane_store_embedded::EmbeddedStore;

use crate::approvals::Book;
use crate::decide::Decider;
use crate::error::StartError;
use crate::options::Options;
use crate::rpc::PermissionApi;

/// How long the sweep waits after the store refused it.
const SWEEP_PAUSE: Duration = Duration::from_secs(5);

/// The permission role, running. It does not listen by itself: [`Service::add_to`] puts it behind a listener.
#[derive(Debug)]
pub struct Service {
    api: PermissionApi,
    store: EmbeddedStore,
    max_message_bytes: usize,
}

/// Opens the role as configured, with its background work among `tasks`.
pub async fn start(config: &Config, tasks: &Tasks) -> Result<Service, StartError> {
    Service::open(Options::from_config(config)?, tasks).await
}

impl Service {
    /// Opens the role's store and starts its background work, which ends with the shutdown of `tasks`.
    pub async fn open(options: Options, tasks: &Tasks) -> Result<Self, StartError> {
        let store = EmbeddedStore::open(&options.store_dir, toolplane_store_embedded::Options::default())?;
        let book = Arc::new(Book::open(Arc::new(store.clone())).await?);
        let api = PermissionApi {
            decider: Arc::new(Decider::new(options.rules)),
            book: Arc::clone(&book),
            approval_ttl_ms: options.approval_ttl_ms,
            poll_every: options.poll_every,
            stopping: tasks.shutdown().token(),
        };
        let stopping = tasks.shutdown().token();
        let sweep = async move {
            stopping.run_until_cancelled(sweep(&book, options.sweep_every)).await;
        };
        tasks.spawn("permission expiry sweep", sweep);
        let (mut poisoned, stopping) = (store.poisoned(), tasks.shutdown().token());
        tasks.spawn_fallible("permission store", async move {
            let broken = stopping.run_until_cancelled(poisoned.wait_for(Option::is_some)).await;
            match broken {
                Some(Ok(reason)) => Err(reason.as_deref().unwrap_or_default().to_owned()),
                _ => Ok(()),
            }
        });
        Ok(Self { api, store, max_message_bytes: options.max_message_bytes })
    }

    /// Adds this role to what a listener answers for.
    #[must_use]
    pub fn add_to(&self, services: Services) -> Services {
        let server = PermissionServiceServer::new(self.api.clone())
            .max_decoding_message_size(self.max_message_bytes)
            .max_encoding_message_size(self.max_message_bytes);
        services.with(server).without_span("toolplane.v1.PermissionService/WatchApprovals")
    }

    /// Ends the store with a last checkpoint; call it after the listener has ended.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.store.close().await
    }
}

/// The permission role in its process: opened, with its background work running, and added to `services`.
pub async fn role(process: &Process, services: Services) -> Result<Role, RoleError> {
    let service = start(&process.config, &process.tasks).await?;
    let services = service.add_to(services);
    let close = async move { Ok(service.close().await?) };
    Ok(Role { services: Some(services), close: vec![Box::pin(close)] })
}

async fn sweep(book: &Book, every: Duration) {
    loop {
        match book.expire_due().await {
            Ok(0) => tokio::time::sleep(every).await,
            Ok(count) => tracing::info!(count, "questions expired unanswered"),
            Err(error) => {
                tracing::warn!(%error, code = error.code(), "expired questions cannot be ended now");
                tokio::time::sleep(SWEEP_PAUSE).await;
            }
        }
    }
}
