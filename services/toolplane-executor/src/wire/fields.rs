//! Parts of messages: leases, durations, and how values are read.

use toolplane_proto::convert::{ConvertError, field};
use toolplane_proto::v1;

use crate::messages::Lease;

/// How offers and answers are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadBounds {
    /// Most bytes of one input or answer.
    pub(crate) max_input_bytes: usize,
    /// Inputs are shown to a person, so the copy for that is read too.
    pub(crate) shown: bool,
}

/// A lease as it travels.
pub(super) fn lease_ref(lease: &Lease) -> v1::LeaseRef {
    v1::LeaseRef {
        invocation_id: lease.invocation_id.to_string(),
        lease_no: lease.number,
        lease_id: lease.id.to_string(),
    }
}

pub(super) fn lease_refs(leases: &[Lease]) -> Vec<v1::LeaseRef> {
    leases.iter().map(lease_ref).collect()
}

/// Reads a lease; an error names the field and the rule.
pub(super) fn lease(message: Option<&v1::LeaseRef>) -> Result<Lease, ConvertError> {
    let message = message.ok_or_else(|| ConvertError::missing("lease"))?;
    Ok(Lease {
        invocation_id: field::id("lease.invocation_id", &message.invocation_id)?,
        number: message.lease_no,
        id: field::id("lease.lease_id", &message.lease_id)?,
    })
}

/// Milliseconds as they travel.
pub(super) fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
