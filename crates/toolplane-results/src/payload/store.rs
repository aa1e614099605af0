//! The object store that payloads are kept in, and the bounds on them.

use std::path::Path;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::PayloadKey;
use super::proofs::Proofs;

/// Bounds on what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadOptions {
    /// Most bytes of one payload.
    pub max_bytes: u64,
    /// Days a payload is kept; `None` keeps it without a limit.
    pub retention_days: Option<u32>,
}

impl Default for PayloadOptions {
    /// 64 MiB each, kept without a limit.
    fn default() -> Self {
        Self { max_bytes: 64 * 1024 * 1024, retention_days: None }
    }
}

/// The payloads of a cluster. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PayloadStore {
    pub(super) objects: Arc<dyn ObjectStore>,
    pub(super) proofs: Arc<Proofs>,
    pub(super) options: PayloadOptions,
}

impl PayloadStore {
    /// Payloads in a local directory, which is made when it does not exist. Fails with [`PayloadError::Open`] when the
    /// directory cannot be made or opened.
    pub fn local(directory: &Path, options: PayloadOptions) -> Result<Self, PayloadError> {
        std::fs::create_dir_all(directory)
            .map_err(|source| PayloadError::Open { path: directory.to_owned(), reason: source.to_string() })?;
        let objects = LocalFileSystem::new_with_prefix(directory)
            .map_err(|source| PayloadError::Open { path: directory.to_owned(), reason: source.to_string() })?
            .with_fsync(true);
        Ok(Self::over(Arc::new(objects), options))
    }

    /// Payloads in memory: the same behaviour without durability, for tests of callers.
    pub fn in_memory(options: PayloadOptions) -> Self {
        Self::over(Arc::new(InMemory::new()), options)
    }

    /// Payloads in any object store whose writes are durable when they return.
    pub fn over(objects: Arc<dyn ObjectStore>, options: PayloadOptions) -> Self {
        Self { objects, proofs: Arc::default(), options }
    }

    /// Most bytes of one payload.
    pub fn max_bytes(&self) -> u64 {
        self.options.max_bytes
    }

    /// Why a payload could not be read: one that has expired by `now` is told from one that never was.
    pub(super) fn reading(&self, key: &PayloadKey, now: Timestamp, source: object_store::Error) -> PayloadError {
        match (source, self.options.retention_days) {
            (object_store::Error::NotFound { .. }, Some(days)) if key.is_older_than(days, now) => {
                PayloadError::Expired { uri: key.uri(), days }
            }
            (object_store::Error::NotFound { .. }, _) => PayloadError::NotFound { uri: key.uri() },
            (source, _) => PayloadError::store("read", source),
        }
    }
}
