//! Whole outputs in an object store: written before any record names them, read back by range, proved by digest.
//!
//! Objects are immutable and named by tenant, day, call, lease and SHA-256, so a repeated upload of the same bytes lands
//! on the same object and a different one can never overwrite it. On the local directory every write is flushed (file
//! and directory entries) before it is acknowledged, as a remote object store would have it.

use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_records::time::Timestamp;

pub mod error;
mod expiry;
pub mod key;
mod proof;
mod start;
#[cfg(test)]
mod tests;
mod writer;

use error::PayloadError;
use key::PayloadKey;
use proof::Proofs;
pub use start::StartClaim;
pub use writer::PayloadWriter;

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

/// Where a payload comes from; together with its digest this names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadOrigin {
    /// Who it belongs to.
    pub tenant: TenantId,
    /// The call that made it.
    pub invocation_id: InvocationId,
    /// The lease under which it was made.
    pub lease_no: u32,
    /// Media type, e.g. `text/plain; charset=utf-8`.
    pub media_type: String,
    /// When it was made; only the day matters.
    pub made_at: Timestamp,
}

/// Part of a payload, streamed.
pub struct PayloadRange {
    /// Size of the whole payload.
    pub size_bytes: u64,
    /// First byte of the part.
    pub offset: u64,
    /// Bytes of the part; shorter than asked for only at the end of the payload.
    pub length: u64,
    /// The bytes, in order.
    pub stream: futures_util::stream::BoxStream<'static, Result<Bytes, PayloadError>>,
}

impl std::fmt::Debug for PayloadRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PayloadRange({}..+{} of {})", self.offset, self.length, self.size_bytes)
    }
}

/// The payloads of a cluster. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PayloadStore {
    objects: Arc<dyn ObjectStore>,
    proofs: Arc<Proofs>,
    options: PayloadOptions,
}

impl PayloadStore {
    /// Payloads in a local directory, which is made when it does not exist. Fails with [`PayloadError::Open`] when the
    /// directory cannot be made or opened.
    pub fn local(directory: &FilePath, options: PayloadOptions) -> Result<Self, PayloadError> {
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

    /// Keeps `bytes`. When this returns the object is durable and may be named by a record.
    ///
    /// Keeping the same bytes of the same origin again succeeds with the same reference.
    ///
    /// # Errors
    ///
    /// - [`PayloadError::TooLarge`] when there are more than [`PayloadOptions::max_bytes`] bytes; nothing is kept then.
    /// - [`PayloadError::Damaged`] when the object of this name is there already and holds other bytes.
    /// - [`PayloadError::Store`] when the object store does not do what it is asked; trying again may help.
    pub async fn put(&self, origin: &PayloadOrigin, bytes: Bytes) -> Result<PayloadRef, PayloadError> {
        let size_bytes = bytes.len() as u64;
        if size_bytes > self.options.max_bytes {
            return Err(PayloadError::TooLarge { limit: self.options.max_bytes });
        }
        let digest = Digest::of(&bytes);
        let key = PayloadKey::new(origin, digest);
        match self.objects.put_opts(key.path(), PutPayload::from_bytes(bytes), PutMode::Create.into()).await {
            Ok(_) => {}
            Err(object_store::Error::AlreadyExists { .. }) => {
                self.prove(&key, origin.made_at).await?;
            }
            Err(source) => return Err(PayloadError::store("put", source)),
        }
        Ok(key.describe(origin, digest, size_bytes))
    }

    /// Keeps a stream of bytes, holding at most one part of it in memory.
    ///
    /// Fails with [`PayloadError::Interrupted`] when `stream` ends with an error, with [`PayloadError::TooLarge`] as
    /// soon as it holds too many bytes (nothing is kept in both cases), and otherwise as [`put`](Self::put) does.
    pub async fn put_stream<S, E>(&self, origin: PayloadOrigin, stream: S) -> Result<PayloadRef, PayloadError>
    where
        S: Stream<Item = Result<Bytes, E>>,
        E: std::fmt::Display,
    {
        let mut stream = std::pin::pin!(stream);
        let mut writer = self.writer(origin);
        while let Some(chunk) = stream.next().await {
            match chunk {
                Ok(chunk) => writer.write(chunk).await?,
                Err(error) => {
                    writer.abort().await;
                    return Err(PayloadError::Interrupted { reason: error.to_string() });
                }
            }
        }
        writer.finish().await
    }

    /// A writer for an output that is still being made.
    pub fn writer(&self, origin: PayloadOrigin) -> PayloadWriter {
        PayloadWriter::new(self.clone(), origin)
    }

    /// Bytes `offset..offset + limit` of a payload, fewer at its end. An offset beyond the end is an error; at the end
    /// the part is empty. Nothing is given of a payload whose bytes are not all those it is named after. `now` tells a payload
    /// that has expired from one that never was.
    pub async fn read_range(
        &self,
        key: &PayloadKey,
        offset: u64,
        limit: u64,
        now: Timestamp,
    ) -> Result<PayloadRange, PayloadError> {
        let proved = self.proved(key, now).await?;
        let size_bytes = proved.size;
        if offset > size_bytes {
            return Err(PayloadError::OutOfRange { offset, size: size_bytes });
        }
        let end = offset.saturating_add(limit).min(size_bytes);
        let length = end - offset;
        let stream = if length == 0 {
            futures_util::stream::empty().boxed()
        } else {
            // Of exactly the object that was proved, not of one that took its place meanwhile.
            let (range, if_match) = (Some(GetRange::Bounded(offset..end)), proved.e_tag);
            let options = GetOptions { range, if_match, ..GetOptions::default() };
            let found = self.objects.get_opts(key.path(), options).await;
            let found = found.map_err(|source| self.reading(key, now, source))?;
            found.into_stream().map(|chunk| chunk.map_err(|source| PayloadError::store("read", source))).boxed()
        };
        Ok(PayloadRange { size_bytes, offset, length, stream })
    }

    /// The size of a payload in bytes. Fails with [`PayloadError::NotFound`] when there is no such payload, with
    /// [`PayloadError::Expired`] instead when it was made longer before `now` than payloads are kept, and with
    /// [`PayloadError::Store`] when the object store does not answer.
    pub async fn size(&self, key: &PayloadKey, now: Timestamp) -> Result<u64, PayloadError> {
        let found = self.objects.head(key.path()).await;
        found.map(|meta| meta.size).map_err(|source| self.reading(key, now, source))
    }

    /// The whole payload, proved against its reference; refused when it is larger than `most` bytes.
    pub async fn read_verified(&self, payload: &PayloadRef, most: u64, now: Timestamp) -> Result<Bytes, PayloadError> {
        let key: PayloadKey = payload.uri.parse()?;
        let size = self.size(&key, now).await?;
        if size > most {
            return Err(PayloadError::TooLarge { limit: most });
        }
        let found = self.objects.get(key.path()).await.map_err(|source| self.reading(&key, now, source))?;
        let bytes = found.bytes().await.map_err(|source| PayloadError::store("read", source))?;
        let actual = Digest::of(&bytes);
        self.hold(&key, actual)?;
        // The name and the reference must mean the same bytes.
        if actual == payload.digest { Ok(bytes) } else { Err(PayloadError::Damaged { uri: key.uri(), actual }) }
    }

    fn reading(&self, key: &PayloadKey, now: Timestamp, source: object_store::Error) -> PayloadError {
        match (source, self.options.retention_days) {
            (object_store::Error::NotFound { .. }, Some(days)) if key.is_older_than(days, now) => {
                PayloadError::Expired { uri: key.uri(), days }
            }
            (object_store::Error::NotFound { .. }, _) => PayloadError::NotFound { uri: key.uri() },
            (source, _) => PayloadError::store("read", source),
        }
    }
}
