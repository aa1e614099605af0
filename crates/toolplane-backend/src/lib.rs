//! Opens the store a role keeps its state in, as configured: embedded and its own, or Redis and shared.
//!
//! This crate knows which backends there are and how a configuration names them. It must not know what a role stores.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

mod contention;
mod error;
mod follow;
pub mod forget;
mod made;
mod measured;
mod redis;
mod shards;
pub mod status;
#[cfg(feature = "stored")]
pub mod stored;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;
use toolplane_store::{Placement, Store, StoreError};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};
use toolplane_store_redis::RedisStore;

pub use contention::{EAGER, let_others_through};
pub use error::BackendError;
pub use shards::RedisShards;
pub use status::api_error;

/// Which role's state a store holds. No two roles share a directory or a key space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// Tools and surfaces.
    Surface,
    /// Calls: records, queues, leases.
    Scheduler,
    /// Questions, their answers, and rules made by people.
    Permission,
}

impl Keeper {
    /// Every role that keeps something.
    pub const ALL: [Self; 3] = [Self::Surface, Self::Permission, Self::Scheduler];

    /// The name of the role, and of its directory below `server.data_dir`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Scheduler => "scheduler",
            Self::Permission => "permission",
        }
    }

    /// The key space of the role in a Redis whose configured namespace is `configured`.
    pub fn namespace(self, configured: &str) -> String {
        match self {
            Self::Scheduler => configured.to_owned(),
            Self::Surface | Self::Permission => format!("{configured}-{}", self.as_str()),
        }
    }

    /// Its directory, where its state is in one.
    pub fn directory(self, config: &Config) -> PathBuf {
        config.server.data_dir.join(self.as_str())
    }
}

/// Checks the configuration of the store of `keeper` without connecting: files that are named can be read.
///
/// An embedded store has nothing to check here.
///
/// # Errors
///
/// - [`BackendError::Password`] when the password file cannot be read, or the environment variable named for the
///   password is not set or not Unicode.
/// - [`BackendError::Redis`] when an address or the namespace is not valid, or a certificate or key file cannot be
///   read.
pub fn check(config: &Config, keeper: Keeper) -> Result<(), BackendError> {
    match config.store.backend {
        StoreBackend::Embedded => Ok(()),
        StoreBackend::Redis => {
            let shards = redis::shards(&config.store.redis, keeper)?;
            Ok(shards.into_iter().try_for_each(RedisStore::check)?)
        }
    }
}

/// An opened store. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Backend {
    /// A directory of this process.
    Embedded(Arc<EmbeddedStore>),
    /// Redis, in one shard or several.
    Redis(RedisShards),
}

impl Backend {
    /// Opens the store that is configured for `keeper`.
    ///
    /// # Errors
    ///
    /// - [`BackendError::Embedded`] when the embedded store does not open; see [`Backend::in_directory`].
    /// - [`BackendError::Password`] when the password of Redis cannot be read.
    /// - [`BackendError::Redis`] when an option is not valid, or Redis cannot be reached, refuses the user, is older
    ///   than 7.0, is a replica, or evicts records when its memory is full; and when the store was made with other shards.
    /// - [`BackendError::Buffered`] when Redis may lose answered calls in a crash and `store.redis.accept_buffered` is
    ///   false.
    pub async fn open(config: &Config, keeper: Keeper) -> Result<Self, BackendError> {
        match config.store.backend {
            StoreBackend::Embedded => Self::in_directory(&keeper.directory(config), config.store.cache_bytes),
            StoreBackend::Redis => {
                let redis = &config.store.redis;
                let shards = RedisShards::open(redis::shards(redis, keeper)?).await?;
                if shards.is_buffered() && !redis.accept_buffered {
                    return Err(BackendError::Buffered);
                }
                let (durability, count) = (shards.first().durability(), shards.all().count());
                tracing::info!(role = keeper.as_str(), %durability, shards = count, "the role keeps its state in Redis");
                Ok(Self::Redis(shards))
            }
        }
    }

    /// Opens the embedded store in this directory, or makes it. It keeps up to `cache_bytes` bytes of what it reads and
    /// writes in memory.
    ///
    /// Fails with [`BackendError::Embedded`] when a file or the directory cannot be made, read or written, another
    /// process or handle has the store open, its data has another format, or too much of it is damaged, and with
    /// [`BackendError::Missing`] when a store was made there and is gone.
    pub fn in_directory(path: &Path, cache_bytes: usize) -> Result<Self, BackendError> {
        made::refuse_lost(path)?;
        let store = EmbeddedStore::open(path, EmbeddedOptions { cache_bytes, ..EmbeddedOptions::default() })
            .map_err(|error| BackendError::Embedded { path: path.to_owned(), reason: error.to_string() })?;
        made::note(path)?;
        Ok(Self::Embedded(Arc::new(store)))
    }

    /// The store of a role whose records are not spread.
    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Embedded(store) => store.clone(),
            Self::Redis(shards) => shards.first().clone(),
        }
    }

    /// The store of a role whose records are spread over its shards, as one. Where there are several, `placement` makes what
    /// says what lies in which of so many.
    pub fn spread(&self, placement: impl FnOnce(usize) -> Arc<dyn Placement>) -> Arc<dyn Store> {
        match self {
            Self::Embedded(store) => store.clone(),
            Self::Redis(shards) => shards.spread(placement),
        }
    }

    /// Ends with the reason when the store can never answer again in this process.
    pub fn failed(&self) -> impl Future<Output = String> + Send + 'static {
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
    ///
    /// Fails with [`StoreError::Poisoned`] when the files of an embedded store could not be read, written or flushed, now
    /// or earlier. For Redis it does nothing and always succeeds.
    pub async fn close(&self) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.close().await,
            Self::Redis(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
