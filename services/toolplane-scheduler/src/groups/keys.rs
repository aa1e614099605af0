//! Names in the store of what calls share.

use toolplane_records::batch::Batch;
use toolplane_records::ids::{BatchId, TenantId};
use toolplane_store::{Family, RecordKey};

use crate::storage::commit::score;
pub(super) use crate::storage::keys::IDLE_DOMAINS;

/// Ended batches, by their end; members are the names of [`member`].
pub(super) const ENDED_BATCHES: &str = "ended-batches";

/// What the names of the lists of batches begin with.
const BATCHES: &str = "batches/";

pub(super) fn batch(tenant: &TenantId, id: &BatchId) -> RecordKey {
    RecordKey::new(Family::Batch, member(tenant, id))
}

/// The name of a batch in every index, which is that of its record.
pub(super) fn member(tenant: &TenantId, id: &BatchId) -> String {
    tenant.scoped(id)
}

/// Every batch of a tenant by time of acceptance.
pub(super) fn batches(tenant: &TenantId) -> String {
    format!("{BATCHES}{tenant}")
}

/// Whether the members of an index are batches.
pub(crate) fn lists_batches(index: &str) -> bool {
    index.starts_with(BATCHES) || index == ENDED_BATCHES
}

/// `/` within a tenant is written as `%`, which no identifier contains: so no two domains share a record.
pub(super) fn domain(tenant: &TenantId, domain: &str) -> RecordKey {
    RecordKey::new(Family::LockDomain, format!("{}/{domain}", tenant.as_str().replace('/', "%")))
}

/// Where a batch is found.
#[derive(Debug)]
pub(crate) struct BatchNames {
    /// The name of its record, and in every index.
    pub(crate) member: String,
    /// The indexes it is in, and at which score.
    pub(crate) places: Vec<(String, u64)>,
}

/// Where `batch` is found.
pub(crate) fn batch_names(batch: &Batch) -> BatchNames {
    let ended = batch.ended_at.map(|ended_at| (ENDED_BATCHES.to_owned(), score(ended_at)));
    let listed = (batches(&batch.tenant), score(batch.created_at));
    BatchNames {
        member: member(&batch.tenant, &batch.batch_id),
        places: std::iter::once(listed).chain(ended).collect(),
    }
}
