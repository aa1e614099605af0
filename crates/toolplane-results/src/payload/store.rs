//! The object store that payloads are kept in, and the bounds on them.

use std::path::Path;
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{Attribute, Attributes, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::PayloadKey;
use super::link::Signs;
use super::location::{Location, Opened};
use super::proofs::Proofs;
use super::spool::{Spool, SpoolOptions};

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
    /// What makes links, where the object store has such a thing.
    pub(super) signer: Option<Arc<dyn Signs>>,
    /// Where payloads are while the object store is away.
    pub(super) spool: Option<Arc<Spool>>,
    keeps_attributes: bool,
}

impl PayloadStore {
    /// Payloads at `location`; a directory is made when it does not exist. Of a bucket nothing is asked yet: see [`Self::probe`].
    ///
    /// # Errors
    ///
    /// - [`PayloadError::Open`] when a directory cannot be made or opened.
    /// - [`PayloadError::Unusable`] when this build cannot use such a store, or the environment does not say enough of it.
    pub fn open(location: &Location, options: PayloadOptions) -> Result<Self, PayloadError> {
        let Opened { objects, signer, keeps_attributes } = location.open()?;
        Ok(Self { signer, keeps_attributes, ..Self::over(objects, options) })
    }

    /// Payloads in a local directory, which is made when it does not exist. Fails with [`PayloadError::Open`] when the
    /// directory cannot be made or opened.
    pub fn local(directory: &Path, options: PayloadOptions) -> Result<Self, PayloadError> {
        Self::open(&Location::Directory(directory.to_owned()), options)
    }

    /// The same with a spool on this machine, with what an earlier process left in it. Fails with [`PayloadError::Open`] when its
    /// directory cannot be made or read.
    pub fn with_spool(self, spool: &SpoolOptions) -> Result<Self, PayloadError> {
        Ok(Self { spool: Some(Arc::new(Spool::open(spool)?)), ..self })
    }

    /// Payloads in memory: the same behaviour without durability, for tests of callers.
    pub fn in_memory(options: PayloadOptions) -> Self {
        Self::over(Arc::new(InMemory::new()), options)
    }

    /// Payloads in any object store whose writes are durable when they return.
    pub fn over(objects: Arc<dyn ObjectStore>, options: PayloadOptions) -> Self {
        Self { objects, proofs: Arc::default(), options, signer: None, spool: None, keeps_attributes: false }
    }

    /// Finds out whether the object store can be used: that it answers, takes what it is given, and does not take another object
    /// of the same name, on which both payloads and start guards rest. Everything it writes is gone afterwards.
    ///
    /// # Errors
    ///
    /// - [`PayloadError::Unusable`] when it lets nobody in, has no such bucket, or takes the second object too.
    /// - [`PayloadError::Store`] when it does not answer now.
    pub async fn probe(&self, name: &str) -> Result<(), PayloadError> {
        use object_store::Error;
        let unusable = |reason: String| PayloadError::Unusable { store: self.objects.to_string(), reason };
        let path = ObjectPath::from_iter(["probe", name]);
        let create = || self.objects.put_opts(&path, PutPayload::from_static(b"probe"), PutMode::Create.into());
        match create().await {
            Ok(_) => {}
            Err(
                error @ (Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. }
                | Error::NotFound { .. }
                | Error::NotImplemented { .. }),
            ) => return Err(unusable(error.to_string())),
            Err(source) => return Err(PayloadError::store("probe", source)),
        }
        let again = create().await;
        self.objects.delete(&path).await.map_err(|source| PayloadError::store("delete", source))?;
        match again {
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(()),
            Err(source) => Err(PayloadError::store("probe", source)),
            Ok(_) => Err(unusable(
                "it overwrites an object that was only to be created; it needs conditional writes".to_owned(),
            )),
        }
    }

    /// What is kept with an object, where the store keeps such a thing.
    pub(super) fn attributes(&self, media_type: &str, digest: Option<Digest>) -> Attributes {
        let mut attributes = Attributes::new();
        if self.keeps_attributes {
            attributes.insert(Attribute::ContentType, media_type.to_owned().into());
            if let Some(digest) = digest {
                attributes.insert(Attribute::Metadata("sha256".into()), digest.hex().into());
            }
        }
        attributes
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
