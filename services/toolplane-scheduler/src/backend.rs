//! The scheduler's store: embedded and its own, or Redis and shared.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use toolplane_runtime::Config;
use toolplane_runtime::config::{RedisConfig, RedisMode, StoreBackend};
use toolplane_store::{Durability, Store, StoreError};
use toolplane_store_embedded::EmbeddedStore;
use toolplane_store_redis::{OpenError, RedisOptions, RedisStore, Secret, Servers, TlsFiles};

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The embedded store cannot be opened.
    #[error("`{path}`: {reason}")]
    Embedded {
        /// Its directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Redis cannot be used.
    #[error(transparent)]
    Redis(#[from] OpenError),
    /// The password cannot be read.
    #[error("the password of Redis cannot be read from {place}: {reason}")]
    Password {
        /// The file or variable.
        place: String,
        /// Why.
        reason: String,
    },
    /// Redis may lose what it has answered.
    #[error(
        "Redis may lose answered calls in a crash: set `appendonly yes` and `appendfsync always`, or accept that with \
         `store.redis.accept_buffered = true`"
    )]
    Buffered,
}

/// The opened store. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    /// A directory of this process.
    Embedded(Arc<EmbeddedStore>),
    /// Redis.
    Redis(Arc<RedisStore>),
}

impl Backend {
    /// Opens the store that is configured.
    pub(crate) async fn open(config: &Config) -> Result<Self, BackendError> {
        match config.store.backend {
            StoreBackend::Embedded => {
                let path = config.server.data_dir.join("scheduler");
                let store = EmbeddedStore::open(&path, Default::default())
                    .map_err(|error| BackendError::Embedded { path, reason: error.to_string() })?;
                Ok(Self::Embedded(Arc::new(store)))
            }
            StoreBackend::Redis => {
                let redis = &config.store.redis;
                let store = RedisStore::open(redis_options(redis)?).await?;
                if store.durability() == Durability::Buffered && !redis.accept_buffered {
                    return Err(BackendError::Buffered);
                }
                tracing::info!(durability = %store.durability(), "the scheduler keeps its state in Redis");
                Ok(Self::Redis(Arc::new(store)))
            }
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Embedded(store) => store.clone(),
            Self::Redis(store) => store.clone(),
        }
    }

    /// Ends with the reason when the store can never answer again in this process.
    pub(crate) fn failed(&self) -> impl Future<Output = String> + Send + 'static {
        let poisoned = match self {
            Self::Embedded(store) => Some(store.poisoned()),
            // A Redis that is away comes back.
            Self::Redis(_) => None,
        };
        async move {
            let Some(mut poisoned) = poisoned else { return std::future::pending().await };
            let reason = match poisoned.wait_for(Option::is_some).await {
                Ok(reason) => reason.as_deref().map(str::to_owned),
                Err(_) => None,
            };
            match reason {
                Some(reason) => reason,
                None => std::future::pending().await,
            }
        }
    }

    /// Closes the store in order.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.close().await,
            Self::Redis(_) => Ok(()),
        }
    }
}

fn redis_options(config: &RedisConfig) -> Result<RedisOptions, BackendError> {
    let urls = config.endpoints();
    let servers = match config.mode {
        RedisMode::Standalone => Servers::Standalone { url: urls.into_iter().next().unwrap_or_default() },
        RedisMode::Sentinel => Servers::Sentinel { master: config.sentinel_master.clone().unwrap_or_default(), urls },
        RedisMode::Cluster => Servers::Cluster { urls },
    };
    let mut options = RedisOptions::new(servers);
    options.username.clone_from(&config.username);
    options.password = password(config)?.map(Secret::new);
    let client = config.client_cert_file.clone().zip(config.client_key_file.clone());
    options.tls = TlsFiles { ca: config.ca_file.clone(), client };
    options.namespace.clone_from(&config.namespace);
    options.replicas = config.replicas;
    Ok(options)
}

fn password(config: &RedisConfig) -> Result<Option<String>, BackendError> {
    let refuse = |place: String, reason: String| BackendError::Password { place, reason };
    if let Some(file) = &config.password_file {
        let place = format!("`{}`", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| refuse(place, error.to_string()))?;
        return Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()));
    }
    let Some(variable) = &config.password_env else { return Ok(None) };
    let place = format!("the environment variable `{variable}`");
    std::env::var(variable).map(Some).map_err(|error| refuse(place, error.to_string()))
}
