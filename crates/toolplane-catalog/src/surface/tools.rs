//! One tool of a surface as it is told, and its place in the order of all.

use std::fmt;
use std::str::FromStr;

use toolplane_records::ids::ToolId;
use toolplane_records::surface::{DeferredToolRef, HiddenTool, LoadedTool, ToolSurface};

use super::visibility::Hiding;

/// The lists of a surface, in the order in which they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// Tools whose schemas are visible.
    Loaded,
    /// Tools to be discovered.
    Deferred,
    /// Tools that exist here and may not be used.
    Blocked,
    /// Tools a filter removed.
    Excluded,
}

impl List {
    pub(super) const ALL: [Self; 4] = [Self::Loaded, Self::Deferred, Self::Blocked, Self::Excluded];

    fn as_str(self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Deferred => "deferred",
            Self::Blocked => "blocked",
            Self::Excluded => "excluded",
        }
    }
}

impl From<Hiding> for List {
    fn from(hiding: Hiding) -> Self {
        match hiding {
            Hiding::Blocked => Self::Blocked,
            Hiding::Excluded => Self::Excluded,
        }
    }
}

/// A place in the order of a surface's tools: behind this one. Good for one revision of the surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The list it is in.
    pub list: List,
    /// The tool.
    pub tool_id: ToolId,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.list.as_str(), self.tool_id)
    }
}

/// A text that is no [`Position`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoPosition;

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let (list, tool_id) = text.split_once(' ').ok_or(NoPosition)?;
        let list = List::ALL.into_iter().find(|one| one.as_str() == list).ok_or(NoPosition)?;
        Ok(Self { list, tool_id: ToolId::parse(tool_id).map_err(|_| NoPosition)? })
    }
}

/// One tool of a surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurfaceTool {
    /// Its schema is visible.
    Loaded(LoadedTool),
    /// It can be discovered.
    Deferred(DeferredToolRef),
    /// It exists here and may not be used.
    Blocked(HiddenTool),
    /// A filter removed it.
    Excluded(HiddenTool),
}

impl SurfaceTool {
    pub(super) fn hidden(list: List, tool: HiddenTool) -> Self {
        if list == List::Blocked { Self::Blocked(tool) } else { Self::Excluded(tool) }
    }

    /// Its id.
    pub fn tool_id(&self) -> &ToolId {
        match self {
            Self::Loaded(tool) => &tool.tool_id,
            Self::Deferred(tool) => &tool.tool_id,
            Self::Blocked(tool) | Self::Excluded(tool) => &tool.tool_id,
        }
    }

    /// Its full name.
    pub fn name(&self) -> &str {
        match self {
            Self::Loaded(tool) => &tool.name,
            Self::Deferred(tool) => &tool.name,
            Self::Blocked(tool) | Self::Excluded(tool) => &tool.name,
        }
    }

    /// Its place.
    pub fn position(&self) -> Position {
        let list = match self {
            Self::Loaded(_) => List::Loaded,
            Self::Deferred(_) => List::Deferred,
            Self::Blocked(_) => List::Blocked,
            Self::Excluded(_) => List::Excluded,
        };
        Position { list, tool_id: self.tool_id().clone() }
    }
}

/// How many tools a surface has of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceCounts {
    /// Tools whose schemas are visible.
    pub loaded: usize,
    /// Tools to be discovered.
    pub deferred: usize,
    /// Tools that may not be used here.
    pub blocked: usize,
    /// Tools a filter removed.
    pub excluded: usize,
}

impl SurfaceCounts {
    /// All of them.
    pub fn all(&self) -> usize {
        self.loaded + self.deferred + self.blocked + self.excluded
    }

    pub(super) fn of(&mut self, list: List) -> &mut usize {
        match list {
            List::Loaded => &mut self.loaded,
            List::Deferred => &mut self.deferred,
            List::Blocked => &mut self.blocked,
            List::Excluded => &mut self.excluded,
        }
    }
}

/// The record of a surface with these tools in its lists, and their ids in the list of all.
pub fn filled(mut record: ToolSurface, tools: impl IntoIterator<Item = SurfaceTool>) -> ToolSurface {
    for tool in tools {
        record.tool_refs.push(tool.tool_id().to_string());
        match tool {
            SurfaceTool::Loaded(tool) => record.loaded_tools.push(tool),
            SurfaceTool::Deferred(tool) => record.deferred_tools.push(tool),
            SurfaceTool::Blocked(tool) => record.blocked_tools.push(tool),
            SurfaceTool::Excluded(tool) => record.excluded_tools.push(tool),
        }
    }
    record.tool_refs.sort_unstable();
    record
}
