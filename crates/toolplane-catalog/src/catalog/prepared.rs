//! What of a change can be worked out before the catalog is changed: by several threads, and while others read.

use toolplane_records::ids::ToolId;

use super::names::{OwnNames, own_names};
use crate::catalog::CatalogChange;
use crate::registration::Registration;
use crate::search::index::{BulkWords, ToolWords};
use crate::similar::BulkNames;
use crate::traits::Traits;

/// A change with what it brings into the catalog.
#[derive(Debug)]
pub struct Prepared {
    pub(super) change: CatalogChange,
    pub(super) traits: Traits,
    pub(super) words: ToolWords,
}

impl Prepared {
    /// The registration as it will be.
    pub fn tool(&self) -> &Registration {
        self.change.tool.registration()
    }

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

/// Tools of one tenant that were registered before, with what they bring into the catalog together.
#[derive(Debug)]
pub struct PreparedTools {
    pub(super) tools: Vec<(CatalogChange, Traits, OwnNames)>,
    pub(super) words: BulkWords,
    pub(super) names: BulkNames,
}

impl PreparedTools {
    /// Works out what is the same whatever the catalog holds.
    pub fn of(changes: Vec<CatalogChange>) -> Self {
        let prepared = |change: CatalogChange| {
            let registration = change.tool.registration();
            let (traits, names) = (Traits::of(registration), own_names(registration));
            (change, traits, names)
        };
        let tools: Vec<_> = changes.into_iter().map(prepared).collect();
        let words = BulkWords::of(tools.iter().map(|(change, traits, _)| (&*change.tool, traits)));
        let names = BulkNames::of_tools(tools.iter().map(|(change, ..)| &change.tool));
        Self { tools, words, names }
    }
}
