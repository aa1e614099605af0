//! A spool: payloads on the disk of this machine while the object store is away, moved there when it is back.
//!
//! A payload has the same name in both places, so what reads one looks here first. Everything is durable before it is acknowledged.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode, PutPayload};
use sha2::{Digest as _, Sha256};
use toolplane_records::payload::Digest;

use super::error::PayloadError;
use super::key::{PayloadKey, ROOT};
use super::location::directory;
use super::store::PayloadStore;
use super::upload::{PART_BYTES, STAGING, Upload};

/// First part of the names of notes beside payloads: what kind of bytes they are.
const KINDS: &str = "kinds";

/// Where and how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolOptions {
    /// The directory; no other process may use it.
    pub directory: PathBuf,
    /// Most bytes in it.
    pub max_bytes: u64,
}

/// Payloads that the object store has not got yet.
#[derive(Debug)]
pub(super) struct Spool {
    pub(super) objects: Arc<dyn ObjectStore>,
    max_bytes: u64,
    used: AtomicU64,
    /// The object store did not do what it was asked to do last.
    away: AtomicBool,
}

impl Spool {
    /// Opens the spool with what an earlier process left there. Uploads that were never finished are removed.
    pub(super) fn open(options: &SpoolOptions) -> Result<Self, PayloadError> {
        let path = &options.directory;
        let refuse = |source: std::io::Error| PayloadError::Open { path: path.clone(), reason: source.to_string() };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(refuse)?;
        match std::fs::remove_dir_all(path.join(STAGING)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(refuse(error)),
            _ => {}
        }
        let used = bytes_below(&path.join(ROOT)).map_err(refuse)?;
        if used > 0 {
            tracing::info!(bytes = used, "outputs of an earlier start wait for the object store");
        }
        let objects = directory(path)?;
        Ok(Self { objects, max_bytes: options.max_bytes, used: AtomicU64::new(used), away: AtomicBool::new(used > 0) })
    }

    /// Whether the object store is taken to be away.
    pub(super) fn is_away(&self) -> bool {
        self.away.load(Ordering::Relaxed)
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The object store did not take something.
    pub(super) fn note_away(&self, error: &PayloadError) {
        if !self.away.swap(true, Ordering::Relaxed) {
            tracing::warn!(kind = "object_store_away", %error, "the object store is away; outputs are kept on this machine until it is back");
        }
    }

    fn note_back(&self) {
        if self.away.swap(false, Ordering::Relaxed) {
            tracing::info!(
                kind = "object_store_back",
                "the object store is back, and has all outputs that waited for it"
            );
        }
    }

    /// Takes room for so many bytes more.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), PayloadError> {
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|used| *used <= self.max_bytes)
        });
        taken.map(drop).map_err(|_| PayloadError::SpoolFull { limit: self.max_bytes })
    }

    pub(super) fn release(&self, bytes: u64) {
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| Some(used.saturating_sub(bytes)));
    }

    /// Notes what kind of bytes a payload has. Before the payload, so that none is there without.
    pub(super) async fn note_kind(&self, key: &PayloadKey, media_type: &str) -> Result<(), PayloadError> {
        let put = self.objects.put(&kind_of(key.path()), PutPayload::from(media_type.as_bytes().to_vec())).await;
        put.map(drop).map_err(|source| PayloadError::store("put", source))
    }

    /// Keeps a payload that is there as a whole.
    pub(super) async fn put(&self, key: &PayloadKey, media_type: &str, bytes: Bytes) -> Result<(), PayloadError> {
        let size = bytes.len() as u64;
        self.reserve(size)?;
        self.note_kind(key, media_type).await?;
        match self.objects.put_opts(key.path(), PutPayload::from_bytes(bytes), PutMode::Create.into()).await {
            Ok(_) => {
                tracing::info!(
                    kind = "payload_spooled",
                    bytes = size,
                    waiting = self.bytes(),
                    "an output waits for the object store"
                );
                Ok(())
            }
            Err(error) => {
                self.release(size);
                match error {
                    object_store::Error::AlreadyExists { .. } => Ok(()),
                    source => Err(PayloadError::store("put", source)),
                }
            }
        }
    }

    /// Removes a payload that waits, if there is one of this name.
    pub(super) async fn remove(&self, path: &Path) -> Result<(), PayloadError> {
        match self.objects.head(path).await {
            Ok(found) => self.forget(path, found.size).await,
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(PayloadError::store("read", source)),
        }
    }

    async fn forget(&self, path: &Path, size: u64) -> Result<(), PayloadError> {
        for gone in [path.clone(), kind_of(path)] {
            match self.objects.delete(&gone).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(source) => return Err(PayloadError::store("delete", source)),
            }
        }
        self.release(size);
        Ok(())
    }
}

/// Room that an upload takes in the spool, given back unless it is kept.
#[derive(Debug)]
pub(super) struct Room {
    spool: Arc<Spool>,
    bytes: u64,
}

impl Room {
    pub(super) fn new(spool: Arc<Spool>) -> Self {
        Self { spool, bytes: 0 }
    }

    pub(super) fn spool(&self) -> &Spool {
        &self.spool
    }

    pub(super) fn grow(&mut self, bytes: u64) -> Result<(), PayloadError> {
        self.spool.reserve(bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// The upload is in the spool.
    pub(super) fn keep(mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        tracing::info!(
            kind = "payload_spooled",
            bytes,
            waiting = self.spool.bytes(),
            "an output waits for the object store"
        );
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.spool.release(self.bytes);
    }
}

impl PayloadStore {
    /// The object store did not do what it was asked to do: what comes next is spooled.
    pub fn note_away(&self, error: &PayloadError) {
        if let (Some(spool), PayloadError::Store { .. }) = (&self.spool, error) {
            spool.note_away(error);
        }
    }

    /// Whether a payload waits for the object store.
    pub(super) async fn spooled(&self, key: &PayloadKey) -> bool {
        match &self.spool {
            Some(spool) if spool.bytes() > 0 => spool.objects.head(key.path()).await.is_ok(),
            _ => false,
        }
    }

    /// Bytes that wait for the object store on this machine.
    pub fn waiting_bytes(&self) -> u64 {
        self.spool.as_ref().map_or(0, |spool| spool.bytes())
    }

    /// Moves what waits to the object store, and finds out whether that is back. Returns how many payloads were moved.
    ///
    /// Fails with [`PayloadError::Store`] while the object store is away; what was moved before stays so.
    pub async fn move_spooled(&self) -> Result<u64, PayloadError> {
        let Some(spool) = self.spool.as_ref().filter(|spool| spool.is_away() || spool.bytes() > 0) else {
            return Ok(0);
        };
        let mut moved = 0;
        let mut waiting = spool.objects.list(Some(&Path::from(ROOT)));
        while let Some(found) = waiting.try_next().await.map_err(|source| PayloadError::store("list", source))? {
            self.move_one(spool, &found.location, found.size).await?;
            moved += 1;
        }
        if moved == 0 {
            self.ask().await?;
        }
        spool.note_back();
        Ok(moved)
    }

    /// Whether the object store answers at all.
    async fn ask(&self) -> Result<(), PayloadError> {
        match self.objects.head(&Path::from_iter([ROOT, "nothing"])).await {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(PayloadError::store("ask", source)),
        }
    }

    async fn move_one(&self, spool: &Spool, path: &Path, size: u64) -> Result<(), PayloadError> {
        let Ok(key) = PayloadKey::at(path) else {
            tracing::error!(%path, "what is in the spool is no payload; it stays there");
            return Ok(());
        };
        let kind = spool.objects.get(&kind_of(path)).await.map_err(|source| PayloadError::store("read", source))?;
        let kind = kind.bytes().await.map_err(|source| PayloadError::store("read", source))?;
        let media_type = String::from_utf8_lossy(&kind).into_owned();
        let found = spool.objects.get(path).await.map_err(|source| PayloadError::store("read", source))?;
        let mut stream = found.into_stream();
        if size <= PART_BYTES as u64 {
            let mut whole = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
            while let Some(chunk) = stream.next().await {
                whole.extend_from_slice(&chunk.map_err(|source| PayloadError::store("read", source))?);
            }
            self.hold(&key, Digest::of(&whole))?;
            self.create(&key, &media_type, whole.into()).await?;
        } else {
            let (mut upload, mut hash) =
                (Upload::new(self.objects.clone(), self.attributes(&media_type, None)), Sha256::new());
            let day = path.parts().nth(2).map(|day| day.as_ref().to_owned()).unwrap_or_default();
            while let Some(chunk) = stream.next().await {
                let chunk = chunk.map_err(|source| PayloadError::store("read", source))?;
                hash.update(&chunk);
                upload.push(&day, &chunk).await?;
            }
            self.hold(&key, Digest::from_bytes(hash.finalize().into()))?;
            upload.publish(&day, &key).await?;
        }
        spool.forget(path, size).await
    }
}

fn kind_of(path: &Path) -> Path {
    Path::from_iter(std::iter::once(KINDS.to_owned()).chain(path.parts().map(|part| part.as_ref().to_owned())))
}

fn bytes_below(path: &FilePath) -> std::io::Result<u64> {
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        let found = entry.metadata()?;
        bytes += if found.is_dir() { bytes_below(&entry.path())? } else { found.len() };
    }
    Ok(bytes)
}
