//! Adding tools and namespaces to a surface that is there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::ToolId;

/// What a surface was extended by since it was made. It comes deferred: no prompt grows by more than what was asked to be loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Added {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) tools: BTreeSet<ToolId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) namespaces: BTreeSet<String>,
}

impl Added {
    /// How much it is.
    pub(super) fn len(&self) -> usize {
        self.tools.len() + self.namespaces.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is to be added to a surface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// Tools, by id or name.
    pub tool_refs: Vec<String>,
    /// Every tool of these namespaces, and of those below them.
    pub namespaces: Vec<String>,
    /// Tools to add and to load at once.
    pub load: Vec<String>,
}

/// Why a surface cannot be extended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExtended {
    /// Names that lead to no tool, or to several.
    Misnamed(super::Misnamed),
    /// It is a copy that an earlier version made.
    Copied,
    /// It stays with the tools there were when it was made.
    Pinned,
    /// More was added to it than can be.
    Full {
        /// Most that can be added.
        most: usize,
    },
}

/// Most tools and namespaces that are added to one surface.
pub(super) const MAX_ADDED: usize = 2_000;
