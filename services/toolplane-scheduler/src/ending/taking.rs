//! Which reports are being taken: the same one is not taken twice at a time.

use crate::hash::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use toolplane_lifecycle::LeaseKey;

/// Leases whose reports are being taken. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Taking(Arc<Mutex<HashSet<LeaseKey>>>);

/// A report that is being taken, until this is dropped.
#[derive(Debug)]
pub(super) struct BeingTaken {
    all: Taking,
    lease: LeaseKey,
}

impl Taking {
    /// Begins to take the report of `lease`; nothing where that is done already.
    pub(super) fn begin(&self, lease: &LeaseKey) -> Option<BeingTaken> {
        let new = self.0.lock().insert(lease.clone());
        new.then(|| BeingTaken { all: self.clone(), lease: lease.clone() })
    }
}

impl Drop for BeingTaken {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.lease);
    }
}

#[cfg(test)]
mod tests {
    use toolplane_lifecycle::Holder;
    use toolplane_records::ids::{InvocationId, LeaseId, TenantId, WorkerId};

    use super::*;

    #[test]
    fn one_report_is_taken_once_at_a_time() {
        let lease = |lease_no| LeaseKey {
            tenant: TenantId::unauthenticated(),
            invocation_id: InvocationId::from_trusted("inv_1"),
            lease_no,
            lease_id: LeaseId::from_trusted("lease_1"),
            holder: Holder { worker_id: WorkerId::from_trusted("w"), incarnation: None },
        };
        let taking = Taking::default();
        let first = taking.begin(&lease(1));
        assert!(first.is_some() && taking.begin(&lease(1)).is_none() && taking.begin(&lease(2)).is_some());
        drop(first);
        assert!(taking.begin(&lease(1)).is_some());
    }
}
