//! Keeping an output: one that is there as a whole, or one that is being made, with bounded memory, a running digest and nothing
//! visible before it is whole.

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutMode, PutPayload};
use sha2::{Digest as _, Sha256};
use toolplane_records::payload::{Digest, PayloadRef};

use super::error::PayloadError;
use super::key::{PayloadKey, day};
use super::origin::PayloadOrigin;
use super::store::PayloadStore;

pub(super) const STAGING: &str = "staging";
/// Parts of one upload. S3 wants at least 5 MiB; outputs up to one part are put in a single request.
pub(super) const PART_BYTES: usize = 8 * 1024 * 1024;

/// Keeps an output as it is made.
///
/// Bytes go to a staging object under a unique name; [`finish`](Self::finish) moves it to the name its digest gives it.
/// Dropping the writer keeps nothing; what a crash leaves in staging is removed by
/// [`PayloadStore::remove_expired`].
#[derive(Debug)]
pub struct PayloadWriter {
    store: PayloadStore,
    origin: PayloadOrigin,
    hash: Sha256,
    size: u64,
    part: BytesMut,
    upload: Option<(Path, Box<dyn MultipartUpload>)>,
}

impl PayloadStore {
    /// Keeps `bytes`. When this returns the object is durable and may be named by a record.
    ///
    /// Keeping the same bytes of the same origin again succeeds with the same reference.
    ///
    /// # Errors
    ///
    /// - [`PayloadError::TooLarge`] when there are more than [`max_bytes`](Self::max_bytes) bytes; nothing is kept then.
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
}

impl PayloadWriter {
    fn new(store: PayloadStore, origin: PayloadOrigin) -> Self {
        Self { store, origin, hash: Sha256::new(), size: 0, part: BytesMut::new(), upload: None }
    }

    /// Bytes taken so far.
    pub fn size_bytes(&self) -> u64 {
        self.size
    }

    /// Takes the next bytes. After an error the writer is of no further use. Fails with [`PayloadError::TooLarge`] when
    /// the output would have more than [`PayloadStore::max_bytes`] bytes, and with [`PayloadError::Store`] when a part
    /// cannot be uploaded.
    pub async fn write(&mut self, chunk: Bytes) -> Result<(), PayloadError> {
        let size = self.size + chunk.len() as u64;
        if size > self.store.max_bytes() {
            return Err(PayloadError::TooLarge { limit: self.store.max_bytes() });
        }
        self.size = size;
        self.hash.update(&chunk);
        self.part.extend_from_slice(&chunk);
        while self.part.len() > PART_BYTES {
            let part = self.part.split_to(PART_BYTES).freeze();
            self.send(part).await?;
        }
        Ok(())
    }

    /// Ends the output. When this returns the object is durable and may be named by a record.
    ///
    /// Fails with [`PayloadError::Store`] when the upload cannot be ended. An output that was put as a single part can
    /// fail with [`PayloadError::Damaged`] too, as in [`PayloadStore::put`].
    pub async fn finish(mut self) -> Result<PayloadRef, PayloadError> {
        let rest = self.part.split().freeze();
        if self.upload.is_none() {
            return self.store.put(&self.origin, rest).await;
        }
        self.send(rest).await?;
        let digest = Digest::from_bytes(self.hash.clone().finalize().into());
        let key = PayloadKey::new(&self.origin, digest);
        let Some((staged, mut upload)) = self.upload.take() else {
            return Err(PayloadError::Interrupted { reason: "upload has already ended".to_owned() });
        };
        upload.complete().await.map_err(|source| PayloadError::store("complete an upload", source))?;
        // The target's name carries the digest of these very bytes: replacing what is there changes nothing.
        let moved = self.store.objects.rename(&staged, key.path()).await;
        moved.map_err(|source| PayloadError::store("publish an upload", source))?;
        Ok(key.describe(&self.origin, digest, self.size))
    }

    /// Gives up and removes what was uploaded, as far as the object store lets it.
    pub async fn abort(self) {
        if let Some((staged, mut upload)) = self.upload
            && let Err(error) = upload.abort().await
        {
            tracing::debug!(%staged, %error, "staged upload was not removed");
        }
    }

    async fn send(&mut self, part: Bytes) -> Result<(), PayloadError> {
        let (_, upload) = match &mut self.upload {
            Some(upload) => upload,
            None => {
                let name = uuid::Uuid::new_v4().simple().to_string();
                let staged = Path::from_iter([STAGING.to_owned(), day(self.origin.made_at), name]);
                let upload = self.store.objects.put_multipart(&staged).await;
                let upload = upload.map_err(|source| PayloadError::store("start an upload", source))?;
                self.upload.insert((staged, upload))
            }
        };
        let sent = upload.put_part(PutPayload::from_bytes(part)).await;
        sent.map_err(|source| PayloadError::store("upload a part", source))
    }
}
