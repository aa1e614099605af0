//! What the catalog changed about a surface, for the surface's log: how much, and of which tools first.

use std::sync::Arc;

use serde::Serialize;
use toolplane_records::ids::ToolId;

use super::difference::DifferenceKind;
use super::indexed::IndexedSurface;
use super::moment::Moment;
use super::watching::{Progress, SurfaceWatcher};
use crate::catalog::Catalog;

/// Most tools that are counted.
const MAX_COUNTED: usize = 1_000;
/// Most tools that are named.
const MAX_NAMED: usize = 20;

/// What changes of the catalog made of a surface between two of the catalog's revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CatalogDifference {
    /// From this revision of the catalog.
    pub from: u64,
    /// To this one.
    pub until: u64,
    /// How many tools it shows that it did not.
    pub added: usize,
    /// How many it does not show any more.
    pub removed: usize,
    /// How many it shows in another way.
    pub changed: usize,
    /// There are more than were counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The first of them.
    pub tools: Vec<NotedTool>,
}

/// A tool that is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotedTool {
    /// Its id.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// What happened to it.
    pub change: DifferenceKind,
}

impl CatalogDifference {
    /// What the catalog changed about `surface` since that was noted last; nothing where it changed nothing about it. Of surfaces that
    /// earlier versions stored nothing was ever noted.
    pub fn since_noted(surface: &Arc<IndexedSurface>, catalog: &Catalog) -> Option<Self> {
        let from = surface.noted()?;
        let moment = Moment { changes: surface.changes(), catalog: from };
        let mut watcher = SurfaceWatcher::from_moment(Arc::clone(surface), catalog, moment);
        let Progress::Part(part) = watcher.next(surface, catalog, MAX_COUNTED) else { return None };
        // What cannot be compared is no difference that could be told.
        if part.anew || part.tools.is_empty() {
            return None;
        }
        let count = |kind| part.tools.iter().filter(|tool| tool.kind() == kind).count();
        let named = part.tools.iter().take(MAX_NAMED);
        let named =
            named.map(|tool| NotedTool { tool_id: tool.tool_id.clone(), name: tool.name.clone(), change: tool.kind() });
        Some(Self {
            from,
            until: catalog.revision(),
            added: count(DifferenceKind::Added),
            removed: count(DifferenceKind::Removed),
            changed: count(DifferenceKind::Changed),
            more: part.leads_to.is_none(),
            tools: named.collect(),
        })
    }
}
