//! What is kept, object by object: for those who look for what nobody names.

use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::ObjectStore as _;
use object_store::path::Path;
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::{PayloadKey, ROOT, is_past};
use super::store::PayloadStore;

/// A payload as the object store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPayload {
    /// Its name.
    pub key: PayloadKey,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// When it was written, by the clock of the object store.
    pub kept_at: Timestamp,
}

/// The payloads of one tenant and day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDay(Path);

impl PayloadStore {
    /// The days of every tenant that are at most `days` before that of `now`. Fails with [`PayloadError::Store`] when the object store
    /// does not answer.
    pub async fn days(&self, days: u32, now: Timestamp) -> Result<Vec<KeptDay>, PayloadError> {
        let mut found = Vec::new();
        for tenant in self.children(&Path::from(ROOT)).await? {
            let of_tenant = self.children(&tenant).await?.into_iter();
            found.extend(
                of_tenant.filter(|day| day.filename().is_some_and(|name| !is_past(name, days, now))).map(KeptDay),
            );
        }
        Ok(found)
    }

    /// The payloads of a day, as they are found; what is no payload is left out.
    pub fn kept_on<'a>(&'a self, day: &'a KeptDay) -> BoxStream<'a, Result<KeptPayload, PayloadError>> {
        let found = self.objects.list(Some(&day.0)).map_err(|source| PayloadError::store("list", source));
        let payload = |object: object_store::ObjectMeta| {
            let key = PayloadKey::at(&object.location).ok()?;
            let kept_at = Timestamp::from_millis(object.last_modified.timestamp_millis());
            Some(KeptPayload { key, size_bytes: object.size, kept_at })
        };
        found.try_filter_map(move |object| std::future::ready(Ok(payload(object)))).boxed()
    }
}
