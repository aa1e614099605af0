//! What the store keeps of a tool and of a repeatable creation. A surface is kept as `IndexedSurface` writes it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_catalog::{
    CatalogChange, CatalogLimits, ChangeKind, Findings, History, Registration, Since, validate_stored,
};
use toolplane_records::ids::SurfaceId;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

use crate::error::SurfaceError;
use crate::registry::first_of;

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
    /// What its checks found; nothing in records of older versions, which are checked whenever they are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) findings: Option<Findings>,
}

impl StoredTool {
    /// The tool after `change`.
    pub(crate) fn after(change: &CatalogChange, now: Timestamp) -> Self {
        let registration = Registration::clone(change.tool.registration());
        let history = History::clone(&change.history);
        let findings = Some(change.tool.findings());
        Self { registration, revision: change.revision, changed_at: now, history, since: change.since, findings }
    }

    /// A stored tool as the change that brings it into the catalog.
    pub(crate) fn change(key: &str, bytes: &[u8]) -> Result<CatalogChange, SurfaceError> {
        let unusable = |reason: String| SurfaceError::Tool { key: key.to_owned(), reason };
        let stored: Self = serde_json::from_slice(bytes).map_err(|error| unusable(error.to_string()))?;
        let Self { registration, revision, changed_at: _, history, since, findings } = stored;
        let checked = validate_stored(Arc::new(registration), findings.as_ref(), &CatalogLimits::default())
            .map_err(|faults| unusable(first_of(&faults)))?;
        let (kind, tool, history) = (ChangeKind::Updated, Arc::new(checked), Arc::new(history));
        Ok(CatalogChange { kind, tool, revision, history, since })
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
