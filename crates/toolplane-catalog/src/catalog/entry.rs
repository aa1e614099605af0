//! One tool of a catalog, as it is and as it was.

use std::sync::Arc;

use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;

use crate::history::{Drift, History, Past, Since};
use crate::traits::Traits;
use crate::validate::Checked;

/// One tool of the catalog.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// The checked registration.
    pub tool: Arc<Checked>,
    /// How often it has been registered with another content.
    pub revision: u64,
    /// What it was before.
    pub history: Arc<History>,
    /// At which revisions of the catalog it was created, and is declared so.
    pub since: Since,
    /// What surfaces look at.
    pub traits: Arc<Traits>,
}

impl CatalogEntry {
    /// What happened to its schema since the declaration with that digest.
    pub fn since(&self, known: &Digest) -> Drift {
        self.history.since(known, self.tool.registration(), &self.tool.digest())
    }

    /// Whether it has had the traits it has since that revision of the catalog, or for longer.
    pub(crate) fn has_same_traits_since(&self, revision: u64) -> bool {
        self.since.traits <= revision
    }

    /// The traits the tool had at a revision of the catalog: nothing when there was no such tool, or when it is too long ago.
    pub(crate) fn traits_at(&self, revision: u64) -> Option<&Traits> {
        if self.has_same_traits_since(revision) {
            return Some(&self.traits);
        }
        if self.since.created > revision {
            return None;
        }
        self.history.at(revision).map(|past| past.traits.unwrap_or(&self.traits))
    }

    /// The declaration that was in force at a revision of the catalog, the first one for a tool that came later; nothing
    /// when that is too long ago to be known.
    pub(crate) fn digest_at(&self, revision: u64) -> Option<Digest> {
        let revision = revision.max(self.since.created);
        if self.since.declared <= revision {
            return Some(self.tool.digest());
        }
        self.history.at(revision).map(|past| past.digest)
    }

    /// The tool at a revision of the catalog.
    pub(crate) fn at(&self, revision: u64) -> Then<'_> {
        let now = Past { digest: self.tool.digest(), name: self.tool.full_name(), traits: None };
        let past = match self.since {
            since if since.declared <= revision => Some(now),
            since if since.created > revision => return Then::Absent,
            _ => self.history.at(revision),
        };
        past.map_or(Then::Forgotten, |past| Then::There {
            digest: past.digest,
            name: if past.name.is_empty() { now.name } else { past.name },
            traits: past.traits.unwrap_or(&self.traits),
        })
    }

    /// The tool's id.
    pub fn tool_id(&self) -> &ToolId {
        &self.tool.registration().declaration.tool_id
    }
}

/// What a tool was at a revision of the catalog.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Then<'a> {
    /// There was no such tool.
    Absent,
    /// It is too long ago to be known.
    Forgotten,
    /// It was declared so.
    There { digest: Digest, name: &'a str, traits: &'a Traits },
}
