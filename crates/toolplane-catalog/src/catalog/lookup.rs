//! Where a name leads.

use toolplane_records::ids::ToolId;

use super::{Catalog, CatalogEntry};

/// Where a name leads.
#[derive(Clone, Debug)]
pub enum Lookup<'a> {
    /// To one tool.
    One(&'a CatalogEntry),
    /// To several tools of different namespaces; only their full names tell them apart.
    Ambiguous(Sharing<'a>),
    /// Nowhere.
    Unknown,
}

/// The tools that share a bare name.
#[derive(Clone, Copy, Debug)]
pub struct Sharing<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) ids: &'a [ToolId],
}

impl<'a> Sharing<'a> {
    /// The tools, by id.
    pub fn entries(self) -> impl Iterator<Item = &'a CatalogEntry> {
        self.ids.iter().filter_map(|id| self.catalog.entries.get(id))
    }

    /// The full names of some of them, for telling a caller which one to choose.
    pub fn some_names(self) -> String {
        const TOLD: usize = 5;
        let mut names: Vec<&str> = self.entries().take(TOLD).map(|entry| entry.tool.full_name()).collect();
        let more = format!("{} more", self.ids.len().saturating_sub(TOLD));
        if self.ids.len() > TOLD {
            names.push(&more);
        }
        names.join(", ")
    }
}
