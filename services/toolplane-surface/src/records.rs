//! What the store keeps of a tool and of a repeatable creation. A surface is kept as `IndexedSurface` writes it.

use serde::{Deserialize, Serialize};
use toolplane_catalog::{CatalogChange, History, Registration, Since};
use toolplane_records::ids::SurfaceId;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

/// A registered tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredTool {
    /// Everything that was registered for it.
    pub(crate) registration: Registration,
    /// Grows with every change, from 1; also the record's version in the store.
    pub(crate) revision: u64,
    /// When this revision was made.
    pub(crate) changed_at: Timestamp,
    /// What it was declared as before; nothing in records of older versions.
    #[serde(default)]
    pub(crate) history: History,
    /// At which revisions of its tenant's catalog it changed; 0 in records of older versions.
    #[serde(default)]
    pub(crate) since: Since,
}

impl StoredTool {
    /// The tool after `change`.
    pub(crate) fn after(change: &CatalogChange, now: Timestamp) -> Self {
        let registration = Registration::clone(change.tool.registration());
        let history = History::clone(&change.history);
        Self { registration, revision: change.revision, changed_at: now, history, since: change.since }
    }
}

/// What is remembered of a creation with a request id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Creation {
    /// Digest of the request without its id.
    pub(crate) body: Digest,
    /// The surface it made.
    pub(crate) surface_id: SurfaceId,
}
