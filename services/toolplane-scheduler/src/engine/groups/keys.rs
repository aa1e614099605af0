//! Names in the store of what calls share.

use toolplane_records::ids::{BatchId, TenantId};
use toolplane_store::{Family, RecordKey};

/// Lock domains without tickets, since when; members are their records' ids.
pub(super) const IDLE_DOMAINS: &str = "idle/locks";

/// Ended batches, by their end.
pub(super) const ENDED_BATCHES: &str = "ended-batches";

pub(super) fn batch(id: &BatchId) -> RecordKey {
    RecordKey::new(Family::Batch, id.as_str())
}

/// Every batch of a tenant by time of acceptance.
pub(super) fn batches(tenant: &TenantId) -> String {
    format!("batches/{tenant}")
}

/// `/` within a tenant is written as `%`, which no identifier contains: so no two domains share a record.
pub(super) fn domain(tenant: &TenantId, domain: &str) -> RecordKey {
    RecordKey::new(Family::LockDomain, format!("{}/{domain}", tenant.as_str().replace('/', "%")))
}
