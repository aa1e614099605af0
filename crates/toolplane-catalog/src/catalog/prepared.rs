//! What of a change can be worked out before the catalog is changed: by several threads, and while others read.

use toolplane_records::ids::ToolId;

use crate::catalog::CatalogChange;
use crate::search::index::ToolWords;
use crate::traits::Traits;

/// A change with what it brings into the catalog.
#[derive(Debug)]
pub struct Prepared {
    pub(super) change: CatalogChange,
    pub(super) traits: Traits,
    pub(super) words: ToolWords,
}

impl Prepared {
    /// The tool that changes.
    pub fn tool_id(&self) -> &ToolId {
        &self.change.tool.registration().declaration.tool_id
    }
}

impl From<CatalogChange> for Prepared {
    fn from(change: CatalogChange) -> Self {
        let traits = Traits::of(change.tool.registration());
        let words = ToolWords::of(&change.tool, &traits);
        Self { change, traits, words }
    }
}
