//! Removing payloads whose time is over, day by day.

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::{DAY_MILLIS, PayloadKey, ROOT, is_past};
use super::store::PayloadStore;
use super::upload::STAGING;

/// Days after which a staged upload cannot belong to a call any more.
const STAGING_DAYS: u32 = 1;

impl PayloadStore {
    /// Removes payloads older than the retention and uploads that were never finished; returns how many objects went.
    ///
    /// Safe to run from several replicas at once and to stop at any point. Fails with [`PayloadError::Store`] when the
    /// object store cannot list or delete; what was removed before that stays removed.
    pub async fn remove_expired(&self, now: Timestamp) -> Result<u64, PayloadError> {
        let mut removed = self.remove_days(&Path::from(STAGING), STAGING_DAYS, now).await?;
        if let Some(days) = self.options.retention_days {
            for tenant in self.children(&Path::from(ROOT)).await? {
                removed += self.remove_days(&tenant, days, now).await?;
            }
        }
        Ok(removed)
    }

    /// Until when a payload is kept that is made `now`; without a limit when nothing.
    pub fn kept_until(&self, now: Timestamp) -> Option<Timestamp> {
        // The day it is made on counts in whole.
        let of_day = |days: u32| now.as_millis().div_euclid(DAY_MILLIS).saturating_add(i64::from(days) + 1);
        self.options.retention_days.map(|days| Timestamp::from_millis(of_day(days).saturating_mul(DAY_MILLIS)))
    }

    /// Removes one payload; this cannot be undone. That it is not there, or not any more, is no error. Fails with
    /// [`PayloadError::Store`] when the object store cannot delete.
    pub async fn remove(&self, key: &PayloadKey) -> Result<(), PayloadError> {
        if let Some(spool) = &self.spool {
            spool.remove(key.path()).await?;
        }
        match self.objects.delete(key.path()).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(PayloadError::store("delete", source)),
        }
    }

    async fn remove_days(&self, parent: &Path, days: u32, now: Timestamp) -> Result<u64, PayloadError> {
        let mut removed = 0;
        for day in self.children(parent).await? {
            if !day.filename().is_some_and(|name| is_past(name, days, now)) {
                continue;
            }
            let mut objects = self.objects.list(Some(&day));
            while let Some(object) = objects.try_next().await.map_err(|source| PayloadError::store("list", source))? {
                match self.objects.delete(&object.location).await {
                    Ok(()) => removed += 1,
                    // Another replica was faster.
                    Err(object_store::Error::NotFound { .. }) => {}
                    Err(source) => return Err(PayloadError::store("delete", source)),
                }
            }
        }
        Ok(removed)
    }

    pub(super) async fn children(&self, parent: &Path) -> Result<Vec<Path>, PayloadError> {
        match self.objects.list_with_delimiter(Some(parent)).await {
            Ok(listed) => Ok(listed.common_prefixes),
            Err(object_store::Error::NotFound { .. }) => Ok(Vec::new()),
            Err(source) => Err(PayloadError::store("list", source)),
        }
    }
}
