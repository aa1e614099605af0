//! Proving that a payload is what it is named after: once for each, before any byte of it is given.

use futures_util::StreamExt as _;
use object_store::{ObjectMeta, ObjectStoreExt as _};
use sha2::{Digest as _, Sha256};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::PayloadKey;
use super::proofs::ObjectState;
use super::store::PayloadStore;

impl PayloadStore {
    /// What the object store says of a payload that is known to be what its name says. The first time, all of it is read for
    /// that; after that only when the object is not the same any more.
    pub(super) async fn proved(&self, key: &PayloadKey, now: Timestamp) -> Result<ObjectMeta, PayloadError> {
        let found = self.objects.head(key.path()).await.map_err(|source| self.reading(key, now, source))?;
        if self.proofs.has(&found) { Ok(found) } else { self.prove(key, now).await }
    }

    /// Reads a whole payload and checks it against the digest in its name. Anything else there is damage, never
    /// overwritten silently.
    pub(super) async fn prove(&self, key: &PayloadKey, now: Timestamp) -> Result<ObjectMeta, PayloadError> {
        let found = self.objects.get(key.path()).await.map_err(|source| self.reading(key, now, source))?;
        let (meta, mut stream, mut hash) = (found.meta.clone(), found.into_stream(), Sha256::new());
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
