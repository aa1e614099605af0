//! Which reports are in work: the same one is taken once at a time, and whoever says it again meanwhile hears the one answer.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use toolplane_lifecycle::LeaseKey;

use super::ReportReceipt;
use crate::hash::HashMap;

type Answer = Option<ReportReceipt>;

/// Leases whose reports are in work, and where the answer will be read. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Taking(Arc<Mutex<HashMap<LeaseKey, watch::Receiver<Answer>>>>);

/// Whose turn it is.
#[derive(Debug)]
pub(super) enum Turn {
    /// The caller takes the report.
    First(BeingTaken),
    /// Somebody does already.
    Again(TakenElsewhere),
}

/// A report that is in work, until this is dropped.
#[derive(Debug)]
pub(super) struct BeingTaken {
    all: Taking,
    lease: LeaseKey,
    answer: watch::Sender<Answer>,
}

/// A report that somebody else has in work.
#[derive(Debug)]
pub(super) struct TakenElsewhere(watch::Receiver<Answer>);

impl Taking {
    /// Begins to take the report of `lease`, unless it is in work.
    pub(super) fn begin(&self, lease: &LeaseKey) -> Turn {
        match self.0.lock().entry(lease.clone()) {
            Entry::Occupied(known) => Turn::Again(TakenElsewhere(known.get().clone())),
            Entry::Vacant(place) => {
                let (answer, heard) = watch::channel(None);
                place.insert(heard);
                Turn::First(BeingTaken { all: self.clone(), lease: lease.clone(), answer })
            }
        }
    }
}

impl BeingTaken {
    /// Tells everybody who said the report meanwhile what became of it.
    pub(super) fn answered(self, receipt: ReportReceipt) {
        self.answer.send_replace(Some(receipt));
    }
}

impl TakenElsewhere {
    /// What became of the report; nothing when whoever took it failed or gave up: then it is to be taken anew.
    pub(super) async fn answer(mut self) -> Option<ReportReceipt> {
        self.0.wait_for(Option::is_some).await.ok().and_then(|receipt| *receipt)
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

    fn lease(lease_no: u32) -> LeaseKey {
        LeaseKey {
            tenant: TenantId::unauthenticated(),
            invocation_id: InvocationId::from_trusted("inv_1"),
            lease_no,
            lease_id: LeaseId::from_trusted("lease_1"),
            holder: Holder { worker_id: WorkerId::from_trusted("w"), incarnation: None },
        }
    }

    fn first(taking: &Taking, lease_no: u32) -> BeingTaken {
        match taking.begin(&lease(lease_no)) {
            Turn::First(taken) => taken,
            Turn::Again(_) => panic!("it is in work"),
        }
    }

    fn again(taking: &Taking, lease_no: u32) -> TakenElsewhere {
        match taking.begin(&lease(lease_no)) {
            Turn::Again(elsewhere) => elsewhere,
            Turn::First(_) => panic!("it is not in work"),
        }
    }

    #[tokio::test]
    async fn one_report_is_in_work_once_and_everybody_hears_its_answer() {
        let taking = Taking::default();
        let (taken, _other) = (first(&taking, 1), first(&taking, 2));
        let (second, third) = (again(&taking, 1), again(&taking, 1));
        taken.answered(ReportReceipt::Fenced);
        assert_eq!(second.answer().await, Some(ReportReceipt::Fenced));
        assert_eq!(third.answer().await, Some(ReportReceipt::Fenced), "late, and told all the same");
        first(&taking, 1);
    }

    #[tokio::test]
    async fn a_report_that_was_given_up_is_taken_anew() {
        let taking = Taking::default();
        let taken = first(&taking, 1);
        let second = again(&taking, 1);
        drop(taken);
        assert_eq!(second.answer().await, None);
        first(&taking, 1);
    }
}
