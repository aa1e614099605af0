//! What a change makes of a tool, and why there is none.

use std::sync::Arc;

use toolplane_records::error::FieldViolation;
use toolplane_records::ids::ToolId;

use crate::history::{History, Since};
use crate::validate::Checked;

/// What a change does to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A tool that was not there before.
    Created,
    /// Another registration of a tool that was.
    Updated,
    /// The very registration that is there already; applying it changes nothing.
    Unchanged,
    /// The tool keeps its identity for historical references and can no longer be selected.
    Retired,
}

impl ChangeKind {
    /// The kind as one stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Retired => "retired",
        }
    }
}

/// A decided change of one tool, to be made durable and then applied.
#[derive(Clone, Debug)]
pub struct CatalogChange {
    /// What happens.
    pub kind: ChangeKind,
    /// The tool as it will be.
    pub tool: Arc<Checked>,
    /// Revision of the tool after the change: 1 when created, growing by one with every change.
    pub revision: u64,
    /// What the tool was before the change.
    pub history: Arc<History>,
    /// At which revisions of the catalog it was created, and is declared so.
    pub since: Since,
}

/// Why a tool cannot be retired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetireRefusal {
    /// No tool has that id.
    Unknown,
    /// It is retired already.
    AlreadyRetired,
}

/// A stored tool that cannot be brought back into a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRestored {
    /// Which tool.
    pub tool_id: ToolId,
    /// Why.
    pub faults: Vec<FieldViolation>,
}
