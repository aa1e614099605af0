//! Reading payloads back, in parts and as a whole. Each is proved to be what it is named after, once, before any byte of it is given.

use bytes::Bytes;
use futures_util::StreamExt as _;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta};
use sha2::{Digest as _, Sha256};
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::PayloadKey;
use super::pieces::pieces;
use super::proofs::ObjectState;
use super::store::PayloadStore;

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

impl PayloadStore {
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
            let found = self.get(key, options).await.map_err(|source| self.reading(key, now, source))?;
            pieces(found).map(|chunk| chunk.map_err(|source| PayloadError::store("read", source))).boxed()
        };
        Ok(PayloadRange { size_bytes, offset, length, stream })
    }

    /// The size of a payload in bytes. Fails with [`PayloadError::NotFound`] when there is no such payload, with
    /// [`PayloadError::Expired`] instead when it was made longer before `now` than payloads are kept, and with
    /// [`PayloadError::Store`] when the object store does not answer.
    pub async fn size(&self, key: &PayloadKey, now: Timestamp) -> Result<u64, PayloadError> {
        let found = self.get(key, GetOptions { head: true, ..GetOptions::default() }).await;
        found.map(|found| found.meta.size).map_err(|source| self.reading(key, now, source))
    }

    /// The whole payload, proved against its reference; refused when it is larger than `most` bytes.
    pub async fn read_verified(&self, payload: &PayloadRef, most: u64, now: Timestamp) -> Result<Bytes, PayloadError> {
        let key: PayloadKey = payload.uri.parse()?;
        let size = self.size(&key, now).await?;
        if size > most {
            return Err(PayloadError::TooLarge { limit: most });
        }
        let found = self.get(&key, GetOptions::default()).await.map_err(|source| self.reading(&key, now, source))?;
        let bytes = found.bytes().await.map_err(|source| PayloadError::store("read", source))?;
        let actual = Digest::of(&bytes);
        self.hold(&key, actual)?;
        // The name and the reference must mean the same bytes.
        if actual == payload.digest { Ok(bytes) } else { Err(PayloadError::Damaged { uri: key.uri(), actual }) }
    }

    /// What the object store says of a payload that is known to be what its name says. The first time, all of it is read for
    /// that; after that only when the object is not the same any more.
    pub(super) async fn proved(&self, key: &PayloadKey, now: Timestamp) -> Result<ObjectMeta, PayloadError> {
        let head = GetOptions { head: true, ..GetOptions::default() };
        let found = self.get(key, head).await.map_err(|source| self.reading(key, now, source))?.meta;
        if self.proofs.has(&found) { Ok(found) } else { self.prove(key, now).await }
    }

    /// Reads a whole payload and checks it against the digest in its name. Anything else there is damage, never
    /// overwritten silently.
    async fn prove(&self, key: &PayloadKey, now: Timestamp) -> Result<ObjectMeta, PayloadError> {
        let found = self.get(key, GetOptions::default()).await.map_err(|source| self.reading(key, now, source))?;
        self.prove_found(key, found).await
    }

    /// A payload from where it is: on this machine while it waits for the object store, else there.
    async fn get(&self, key: &PayloadKey, options: GetOptions) -> Result<GetResult, object_store::Error> {
        if let Some(spool) = self.spool.as_ref().filter(|spool| spool.bytes() > 0) {
            match spool.objects.get_opts(key.path(), options.clone()).await {
                // It never waited, or it does not any more.
                Err(object_store::Error::NotFound { .. }) => {}
                found => return found,
            }
        }
        self.objects.get_opts(key.path(), options).await
    }

    /// The same for what was found under its name.
    pub(super) async fn prove_found(&self, key: &PayloadKey, found: GetResult) -> Result<ObjectMeta, PayloadError> {
        let (meta, mut stream, mut hash) = (found.meta.clone(), pieces(found), Sha256::new());
        while let Some(chunk) = stream.next().await {
            hash.update(&chunk.map_err(|source| PayloadError::store("read", source))?);
        }
        let actual = Digest::from_bytes(hash.finalize().into());
        self.hold(key, actual)?;
        self.proofs.note(key.path(), ObjectState::Proved(Box::new(meta.clone())));
        Ok(meta)
    }

    /// Holds the digest of a payload's bytes to its name. The log is told of damage once.
    pub(super) fn hold(&self, key: &PayloadKey, actual: Digest) -> Result<(), PayloadError> {
        if key.digest() == Some(actual) {
            return Ok(());
        }
        let uri = key.uri();
        if !self.proofs.note(key.path(), ObjectState::Damaged) {
            tracing::error!(
                kind = "payload",
                name = uri,
                reason = %format_args!("its bytes have the digest {actual}"),
                "stored data is damaged and set aside; `toolplane store check` lists it"
            );
        }
        Err(PayloadError::Damaged { uri, actual })
    }
}
