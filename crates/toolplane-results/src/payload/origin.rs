//! Where a payload comes from.

use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::time::Timestamp;

/// Where a payload comes from; together with its digest this names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadOrigin {
    /// Who it belongs to.
    pub tenant: TenantId,
    /// The call that made it.
    pub invocation_id: InvocationId,
    /// The lease under which it was made.
    pub lease_no: u32,
    /// Media type, e.g. `text/plain; charset=utf-8`.
    pub media_type: String,
    /// When it was made; only the day matters.
    pub made_at: Timestamp,
}
