//! Reading batches: one, or a list.

use toolplane_records::batch::Batch;
use toolplane_records::ids::{BatchId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_runtime::page;
use toolplane_store::{Family, IndexEntry, RecordKey, ScoreRange};

use super::handle::Groups;
use super::keys;
use crate::storage::RecordError;
use crate::storage::commit::score;

/// Batches read at once.
const PAGE: usize = 128;
/// Most batches looked at for one page; a page that ends here may have fewer rows than asked for.
const MOST_LOOKED_AT: usize = 4_096;

/// Which batches to list.
#[derive(Clone, Debug, Default)]
pub(crate) struct BatchFilter {
    /// Only this session.
    pub(crate) session_ref: Option<String>,
    /// Only the one accepted under this key.
    pub(crate) idempotency_key: Option<String>,
    /// Only batches accepted at or after this instant.
    pub(crate) created_after: Option<Timestamp>,
    /// Only batches accepted before this instant.
    pub(crate) created_before: Option<Timestamp>,
}

impl BatchFilter {
    fn admits(&self, batch: &Batch) -> bool {
        let fits = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        fits(&self.session_ref, &batch.session_ref) && fits(&self.idempotency_key, &batch.idempotency_key)
    }
}

/// One page of a list, newest first.
#[derive(Debug)]
pub(crate) struct BatchPage {
    /// The batches.
    pub(crate) batches: Vec<Batch>,
    /// Batches of this page whose records are damaged, by id.
    pub(crate) damaged: Vec<String>,
    /// Where the next page begins; absent at the end.
    pub(crate) next: Option<(u64, String)>,
}

impl Groups {
    /// The batch as it is now, when there is one.
    pub(crate) async fn batch(&self, tenant: &TenantId, id: &BatchId) -> Result<Option<Batch>, RecordError> {
        match self.calls.storage().get(&keys::batch(tenant, id)).await? {
            Some(stored) => Ok(Some(serde_json::from_slice(&stored.bytes)?)),
            None => Ok(None),
        }
    }

    /// At most `limit` batches of `tenant` that pass `filter`, newest first, after the place `after`.
    pub(crate) async fn list_batches(
        &self,
        tenant: &TenantId,
        filter: &BatchFilter,
        after: Option<(u64, String)>,
        limit: usize,
    ) -> Result<BatchPage, RecordError> {
        let min = filter.created_after.map_or(0, score);
        let max = filter.created_before.map_or(u64::MAX, |before| score(before).saturating_sub(1));
        let (mut place, mut looked_at, mut batches) = (after, 0, Vec::new());
        let (mut damaged, mut bytes) = (Vec::new(), 0);
        loop {
            let mut range = ScoreRange::between(min, max).reversed();
            if let Some((score, member)) = &place {
                range = range.after(&IndexEntry { score: *score, member: member.clone() });
            }
            let page = self.calls.storage().scan(&keys::batches(tenant), range, PAGE).await?;
            let wanted: Vec<_> = page.iter().map(|entry| RecordKey::new(Family::Batch, &*entry.member)).collect();
            let found = self.calls.storage().get_each(&wanted).await?;
            for (entry, found) in page.iter().zip(found) {
                place = Some((entry.score, entry.member.clone()));
                looked_at += 1;
                let (size, batch) = match found {
                    Ok(Some(stored)) => (stored.bytes.len(), serde_json::from_slice::<Batch>(&stored.bytes).ok()),
                    Ok(None) => continue,
                    Err(_) => (0, None),
                };
                match batch {
                    Some(batch) if filter.admits(&batch) => {
                        bytes += size;
                        batches.push(batch);
                    }
                    Some(_) => {}
                    None => damaged.push(tenant.unscoped(&entry.member).to_owned()),
                }
                if batches.len() + damaged.len() >= limit || bytes >= page::FULL_BYTES {
                    return Ok(BatchPage { batches, damaged, next: place });
                }
            }
            if page.len() < PAGE {
                return Ok(BatchPage { batches, damaged, next: None });
            }
            if looked_at >= MOST_LOOKED_AT {
                return Ok(BatchPage { batches, damaged, next: place });
            }
        }
    }
}
