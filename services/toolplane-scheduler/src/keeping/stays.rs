//! Until when what is kept of a call stays, as a reader is told.

use std::sync::Arc;

use toolplane_records::ids::TenantId;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::RecordClass;

use super::holds::Holds;
use super::times::{KeepSource, KeepTimes};
use crate::storage::RecordError;

/// Says how long calls stay. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Stays {
    pub(super) times: Arc<KeepTimes>,
    pub(super) holds: Holds,
}

/// Until when records of one class stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stay {
    pub(crate) class: RecordClass,
    /// From then on they are removed.
    pub(crate) until: Timestamp,
    /// What says so.
    pub(crate) source: KeepSource,
    /// Since when they are gone.
    pub(crate) removed_at: Option<Timestamp>,
    /// Why a hold keeps them for longer.
    pub(crate) held: Option<String>,
}

impl Stays {
    pub(crate) fn new(times: KeepTimes, holds: Holds) -> Self {
        Self { times: Arc::new(times), holds }
    }

    /// How long what was left of calls of `tenant` that were never accepted is kept, milliseconds; for as long as there is a hold of that
    /// tenant where nothing is said, because nobody knows what it would be on.
    pub(crate) async fn without_a_call(&self, tenant: &TenantId) -> Result<Option<i64>, RecordError> {
        let is_held = !self.holds.of(tenant).await?.is_empty();
        Ok((!is_held).then(|| self.times.of_tenant(tenant)))
    }

    /// Of an ended call: of each class that goes before it, and of the call itself, which is last. Nothing of one that goes on.
    pub(crate) async fn of(&self, record: &Invocation) -> Result<Vec<Stay>, RecordError> {
        let ends = self.times.ends(record);
        if ends.is_empty() {
            return Ok(Vec::new());
        }
        let held = self.holds.on(record).await?.map(|hold| hold.reason);
        let stay = |(class, until, source)| {
            let removed_at = record.keeping.removed_at(class);
            Stay { class, until, source, removed_at, held: held.clone().filter(|_| removed_at.is_none()) }
        };
        let gone = record.keeping.removed.iter().filter(|gone| ends.iter().all(|(class, ..)| *class != gone.class));
        let former: Vec<_> = gone.map(|gone| (gone.class, gone.at, KeepSource::Former)).collect();
        Ok(former.into_iter().chain(ends).map(stay).collect())
    }
}
