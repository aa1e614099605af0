//! Keeping an output that is there as a whole.

use bytes::Bytes;
use object_store::{PutMode, PutPayload};
use toolplane_records::payload::{Digest, PayloadRef};

use super::error::PayloadError;
use super::key::PayloadKey;
use super::origin::PayloadOrigin;
use super::store::PayloadStore;

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
}
