//! What the catalog changed about a surface, for the surface's log: how much, and of which tools first.

use std::sync::Arc;

use serde::Serialize;
use toolplane_records::ids::ToolId;
use toolplane_records::surface::{OutdatedTool, SurfaceOutdated};

use super::difference::{DifferenceKind, Sight, ToolDifference};
use super::indexed::IndexedSurface;
use super::moment::Moment;
use super::watching::{Progress, SurfaceWatcher};
use crate::catalog::Catalog;

/// Most tools that are counted.
const MAX_COUNTED: usize = 1_000;
/// Most tools that are named.
const MAX_NAMED: usize = 20;
/// How often a bounded number of tools is looked at; what is behind that is not counted.
const MAX_LOOKS: usize = 5;

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
    /// What the catalog, and surfaces above it, changed about `surface` since that was noted last; nothing where it changed nothing about it. Of surfaces that
    /// earlier versions stored nothing was ever noted.
    pub fn since_noted(surface: &Arc<IndexedSurface>, catalog: &Catalog) -> Option<Self> {
        Self::since(surface, catalog, surface.noted()?)
    }

    fn since(surface: &Arc<IndexedSurface>, catalog: &Catalog, moment: Moment) -> Option<Self> {
        let mut watcher = SurfaceWatcher::from_moment(Arc::clone(surface), catalog, moment);
        let mut found = Self { from: moment.catalog, until: catalog.revision(), more: true, ..Self::default() };
        for _ in 0..MAX_LOOKS {
            match watcher.next(surface, catalog, MAX_COUNTED) {
                // What cannot be compared is no difference that could be told.
                Progress::Part(part) if part.anew => return None,
                Progress::Part(part) => {
                    part.tools.iter().for_each(|tool| found.take(tool));
                    found.more = part.leads_to.is_none();
                }
                Progress::Looking => {}
                Progress::Current => found.more = false,
            }
            if !found.more || found.counted() >= MAX_COUNTED {
                break;
            }
        }
        (found.more || found.counted() > 0).then_some(found)
    }

    fn take(&mut self, tool: &ToolDifference) {
        // It is not shown, and whether it was is too long ago to be known: nothing that could be counted.
        if tool.before == Sight::Unknown && !matches!(tool.now, Sight::Shown(_)) {
            return;
        }
        *match tool.kind() {
            DifferenceKind::Added => &mut self.added,
            DifferenceKind::Removed => &mut self.removed,
            DifferenceKind::Changed => &mut self.changed,
        } += 1;
        if self.tools.len() < MAX_NAMED {
            let (tool_id, name) = (tool.tool_id.clone(), tool.name.clone());
            self.tools.push(NotedTool { tool_id, name, change: tool.kind() });
        }
    }

    fn counted(&self) -> usize {
        self.added + self.removed + self.changed
    }
}

/// What a pinned surface would show otherwise if it followed its catalog; nothing where it misses nothing, and of other surfaces.
pub fn outdated(surface: &IndexedSurface, catalog: &Catalog) -> Option<SurfaceOutdated> {
    let (following, pinned_to) = surface.unpinned()?;
    let then = following.moment_in(pinned_to);
    let missed = CatalogDifference::since(&Arc::new(following), catalog, then)?;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let tools = missed.tools.into_iter().map(|tool| {
        let NotedTool { tool_id, name, change } = tool;
        OutdatedTool { tool_id, name, change: change.as_str().to_owned() }
    });
    Some(SurfaceOutdated {
        added: number(missed.added),
        removed: number(missed.removed),
        changed: number(missed.changed),
        more: missed.more,
        tools: tools.collect(),
    })
}
