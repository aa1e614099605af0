//! Links: addresses under which anybody may read one payload, for a while.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use object_store::path::Path;

use super::error::PayloadError;
use super::key::PayloadKey;
use super::store::PayloadStore;

/// Longest time a link may be good for: what every cloud allows.
pub const MAX_LINK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Makes links to objects.
pub(super) trait Signs: fmt::Debug + Send + Sync {
    /// An address under which the object at `path` can be read until it `expires`.
    fn sign<'a>(&'a self, path: &'a Path, expires: Duration) -> BoxFuture<'a, Result<String, object_store::Error>>;
}

impl PayloadStore {
    /// A link to a payload that is there. Whoever has it can read the payload from the object store until it `expires`, so it is given to those
    /// alone who may read it anyway.
    ///
    /// # Errors
    ///
    /// - [`PayloadError::NoLink`] when the object store makes no links, or has not got the payload yet.
    /// - [`PayloadError::Store`] when the object store does not answer.
    pub async fn link(&self, key: &PayloadKey, expires: Duration) -> Result<String, PayloadError> {
        let Some(signer) = &self.signer else {
            return Err(PayloadError::NoLink {
                reason: "payloads are in a directory, which nobody reads over a network",
            });
        };
        if self.spooled(key).await {
            return Err(PayloadError::NoLink { reason: "the object store is away and has not got it yet" });
        }
        signer.sign(key.path(), expires).await.map_err(|source| PayloadError::store("sign a link", source))
    }
}
