//! Keeping an output: one that is there as a whole, or one that is being made, with bounded memory, a running digest and nothing
//! visible before it is whole. While the object store is away, outputs go to the spool.

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use object_store::{GetOptions, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use sha2::{Digest as _, Sha256};
use toolplane_records::payload::{Digest, PayloadRef};

use super::error::PayloadError;
use super::key::{PayloadKey, day};
use super::origin::PayloadOrigin;
use super::spool::Room;
use super::store::PayloadStore;
use super::upload::Upload;

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
    upload: Upload,
    /// The room it has in the spool, when it goes there.
    room: Option<Room>,
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
    /// - [`PayloadError::Store`] when the object store does not do what it is asked and there is no spool; trying again may help.
    /// - [`PayloadError::SpoolFull`] when it does not, and the spool is full.
    pub async fn put(&self, origin: &PayloadOrigin, bytes: Bytes) -> Result<PayloadRef, PayloadError> {
        let size_bytes = bytes.len() as u64;
        if size_bytes > self.options.max_bytes {
            return Err(PayloadError::TooLarge { limit: self.options.max_bytes });
        }
        let digest = Digest::of(&bytes);
        let key = PayloadKey::new(origin, digest);
        match &self.spool {
            None => self.create(&key, &origin.media_type, bytes).await?,
            Some(spool) if spool.is_away() => spool.put(&key, &origin.media_type, bytes).await?,
            Some(spool) => match self.create(&key, &origin.media_type, bytes.clone()).await {
                Err(error @ PayloadError::Store { .. }) => {
                    spool.note_away(&error);
                    spool.put(&key, &origin.media_type, bytes).await?;
                }
                kept => kept?,
            },
        }
        Ok(key.describe(origin, digest, size_bytes))
    }

    /// Creates the object in the object store. One that is there already must have the bytes its name says.
    pub(super) async fn create(&self, key: &PayloadKey, media_type: &str, bytes: Bytes) -> Result<(), PayloadError> {
        use object_store::Error;
        let attributes = self.attributes(media_type, key.digest());
        let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
        match self.objects.put_opts(key.path(), PutPayload::from_bytes(bytes), options).await {
            Ok(_) => return Ok(()),
            // Some stores answer so while another upload of this name is going on, and then have nothing of it yet.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(source) => return Err(PayloadError::store("put", source)),
        }
        let found = self.objects.get_opts(key.path(), GetOptions::default()).await;
        let found = found.map_err(|source| PayloadError::store("read", source))?;
        self.prove_found(key, found).await.map(drop)
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
            let taken = match chunk {
                Ok(chunk) => writer.write(chunk).await,
                Err(error) => Err(PayloadError::Interrupted { reason: error.to_string() }),
            };
            if let Err(error) = taken {
                writer.abort().await;
                return Err(error);
            }
        }
        writer.finish().await
    }

    /// A writer for an output that is still being made.
    pub fn writer(&self, origin: PayloadOrigin) -> PayloadWriter {
        let room = self.spool.as_ref().filter(|spool| spool.is_away()).map(|spool| Room::new(spool.clone()));
        let upload = match &room {
            Some(room) => Upload::new(room.spool().objects.clone(), object_store::Attributes::new()),
            None => Upload::new(self.objects.clone(), self.attributes(&origin.media_type, None)),
        };
        PayloadWriter { store: self.clone(), origin, hash: Sha256::new(), size: 0, upload, room }
    }
}

impl PayloadWriter {
    /// Bytes taken so far.
    pub fn size_bytes(&self) -> u64 {
        self.size
    }

    /// Takes the next bytes. After an error the writer is of no further use. Fails with [`PayloadError::TooLarge`] when
    /// the output would have more than [`PayloadStore::max_bytes`] bytes, with [`PayloadError::Store`] when a part
    /// cannot be uploaded, and with [`PayloadError::SpoolFull`] when it cannot be spooled.
    pub async fn write(&mut self, chunk: Bytes) -> Result<(), PayloadError> {
        let size = self.size + chunk.len() as u64;
        if size > self.store.max_bytes() {
            return Err(PayloadError::TooLarge { limit: self.store.max_bytes() });
        }
        if let Some(room) = &mut self.room {
            room.grow(chunk.len() as u64)?;
        }
        self.size = size;
        self.hash.update(&chunk);
        let taken = self.upload.push(&day(self.origin.made_at), &chunk).await;
        taken.inspect_err(|error| self.note_away(error))
    }

    /// Ends the output. When this returns the object is durable and may be named by a record.
    ///
    /// Fails with [`PayloadError::Store`] when the upload cannot be ended. An output that was put as a single part can
    /// fail with [`PayloadError::Damaged`] too, as in [`PayloadStore::put`].
    pub async fn finish(mut self) -> Result<PayloadRef, PayloadError> {
        if let Some(whole) = self.upload.whole() {
            // It takes its own room.
            drop(self.room.take());
            return self.store.put(&self.origin, whole).await;
        }
        let digest = Digest::from_bytes(self.hash.clone().finalize().into());
        let key = PayloadKey::new(&self.origin, digest);
        let Self { store, origin, size, upload, room, .. } = self;
        let day = day(origin.made_at);
        match room {
            Some(room) => {
                // Once more of the same would count twice.
                if room.spool().objects.head(key.path()).await.is_ok() {
                    upload.abort().await;
                } else {
                    room.spool().note_kind(&key, &origin.media_type).await?;
                    upload.publish(&day, &key).await?;
                    room.keep();
                }
            }
            None => {
                let published = upload.publish(&day, &key).await;
                published.inspect_err(|error| store.note_away(error))?;
            }
        }
        Ok(key.describe(&origin, digest, size))
    }

    /// Gives up and removes what was uploaded, as far as the object store lets it.
    pub async fn abort(self) {
        self.upload.abort().await;
    }

    /// Whoever tries again is served by the spool.
    fn note_away(&self, error: &PayloadError) {
        if self.room.is_none() {
            self.store.note_away(error);
        }
    }
}
