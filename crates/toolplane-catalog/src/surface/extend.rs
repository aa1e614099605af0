//! Adding tools and namespaces to a surface that is there.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::ToolId;

use super::budget::{Budget, NoOtherBudget};
use super::request::within;
use super::selection::Selection;
use crate::filter::Criteria;
use crate::traits::Traits;

/// What a surface was extended by since it was made. It comes deferred: no prompt grows by more than what was asked to be loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Added {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) tools: BTreeSet<ToolId>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) namespaces: BTreeSet<String>,
    /// Tools by what they are.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) selections: BTreeSet<Selection>,
}

impl Added {
    /// How much it is.
    pub(super) fn len(&self) -> usize {
        self.tools.len() + self.namespaces.len() + self.selections.iter().map(Selection::len).sum::<usize>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has tools of these traits, whatever they are called.
    pub(super) fn fits(&self, traits: &Traits) -> bool {
        within(&traits.namespace, &self.namespaces) || self.selections.iter().any(|chosen| chosen.fits(traits))
    }

    /// What it has that `before` has not, without tools by name.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            tools: BTreeSet::new(),
            namespaces: self.namespaces.difference(&before.namespaces).cloned().collect(),
            selections: self.selections.difference(&before.selections).cloned().collect(),
        }
    }
}

impl Extension {
    /// Whether it adds anything: not where it is another budget alone.
    pub(super) fn is_empty(&self) -> bool {
        self.tool_refs.is_empty() && self.load.is_empty() && self.selection().is_empty()
    }

    /// What it chooses tools by, beside their names.
    pub fn selection(&self) -> Selection {
        Selection { namespaces: self.namespaces.iter().cloned().collect(), criteria: self.criteria.clone() }
    }
}

/// What is to be added to a surface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// Tools, by id or name.
    pub tool_refs: Vec<String>,
    /// Every tool of these namespaces, and of those below them, that is what `criteria` say.
    pub namespaces: Vec<String>,
    /// What the tools to add are.
    pub criteria: Criteria,
    /// Tools to add and to load at once.
    pub load: Vec<String>,
    /// Another budget.
    pub budget: Option<Budget>,
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
    /// It cannot have another budget.
    Budget(NoOtherBudget),
    /// More was added to it than can be.
    Full {
        /// Most that can be added.
        most: usize,
    },
}

/// Most tools, namespaces and other words that are added to one surface.
pub(super) const MAX_ADDED: usize = 2_000;
