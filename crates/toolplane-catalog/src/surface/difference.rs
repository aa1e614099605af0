//! What is different between two moments of a surface, tool by tool.

use serde::Serialize;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::HiddenReason;

use super::indexed::IndexedSurface;
use super::resolve::Availability;
use super::shut::{Shut, ShutChange, Uncallable};
use super::visibility::Hidden;
use crate::catalog::{CatalogEntry, Then};
use crate::traits::Traits;

/// A tool as a surface shows it: loaded or deferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownTool {
    /// Its full name.
    pub name: String,
    /// Of its declaration.
    pub digest: Digest,
    /// It is loaded, by this declaration where that is known; else it is deferred.
    pub loaded: Option<Option<Digest>>,
    /// Why no call of it is let through for the time being.
    pub uncallable: Option<Uncallable>,
}

/// What a surface makes of a tool at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It shows it.
    Shown(ShownTool),
    /// It does not.
    NotShown {
        /// Why, in the standard's word.
        reason: HiddenReason,
        /// Why, for people.
        message: String,
    },
    /// There is no such tool.
    Absent,
    /// It is too long ago to be known.
    Unknown,
}

/// What happened to a tool in a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// It is shown now, and was not.
    Added,
    /// It was shown, and is not any more.
    Removed,
    /// It is shown in another way; also where it is not known any more how it was.
    Changed,
}

impl DifferenceKind {
    /// The kind as one stable word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// A tool that a surface shows in another way than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDifference {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name; where it is not shown any more, the one it had.
    pub name: String,
    /// What it was.
    pub before: Sight,
    /// What it is.
    pub now: Sight,
    /// What of its schema changed since it was loaded, in words.
    pub stale: Option<String>,
    /// It is deferred because it does not fit into the budget beside the others.
    pub for_budget: bool,
}

impl ToolDifference {
    /// What happened to it.
    pub fn kind(&self) -> DifferenceKind {
        match (&self.before, &self.now) {
            (Sight::Shown(_) | Sight::Unknown, Sight::Shown(_)) => DifferenceKind::Changed,
            (_, Sight::Shown(_)) => DifferenceKind::Added,
            _ => DifferenceKind::Removed,
        }
    }
}

/// What is different about a tool in the surface `now`, at the revision `at` of its catalog, to who knows the surface as `known`.
/// Nothing where it is not shown, and was not.
pub(super) fn of_tool(
    entry: &CatalogEntry,
    known: (&IndexedSurface, u64),
    now: (&IndexedSurface, u64),
    shut: ShutChange<'_>,
) -> Option<ToolDifference> {
    let before = shut.told(entry, known.1, known.0.seen(entry, known.1));
    let mut after = now.0.seen(entry, now.1);
    if after == Sight::Unknown {
        // Changed very often while it was told of others. Who goes on from here does not know it either, and is told again.
        after = now.0.seen(entry, u64::MAX);
    }
    let after = shut.now.over(entry, now.1, after);
    let is_told = match (&before, &after) {
        (Sight::Shown(before), Sight::Shown(after)) => before != after,
        (Sight::Shown(_) | Sight::Unknown, _) | (_, Sight::Shown(_)) => true,
        _ => false,
    };
    is_told.then(|| told(entry, before, after, now.0))
}

/// A tool that a surface shows, to who knows nothing of it.
pub(super) fn of_tool_anew(
    entry: &CatalogEntry,
    now: (&IndexedSurface, u64),
    shut: Shut<'_>,
) -> Option<ToolDifference> {
    let seen = shut.over(entry, now.1, now.0.seen(entry, now.1));
    matches!(seen, Sight::Shown(_)).then(|| told(entry, Sight::Absent, seen, now.0))
}

fn told(entry: &CatalogEntry, before: Sight, now: Sight, surface: &IndexedSurface) -> ToolDifference {
    let is_loaded = matches!(&now, Sight::Shown(ShownTool { loaded: Some(_), .. }));
    let stale = match surface.standing(entry) {
        Availability::Stale(drift) if is_loaded => drift.words(),
        _ => None,
    };
    let name = match (&now, &before) {
        (Sight::Shown(tool), _) | (_, Sight::Shown(tool)) => tool.name.clone(),
        _ => entry.tool.full_name().to_owned(),
    };
    let is_deferred = matches!(&now, Sight::Shown(ShownTool { loaded: None, .. }));
    let for_budget = is_deferred && surface.is_deferred_for_budget(entry);
    ToolDifference { tool_id: entry.tool_id().clone(), name, before, now, stale, for_budget }
}

impl Sight {
    /// What `shown` says of a tool as it was declared at a moment, where there was such a tool.
    pub(super) fn of(then: Then<'_>, shown: impl FnOnce(&Traits) -> Result<Option<Option<Digest>>, Hidden>) -> Self {
        match then {
            Then::Absent => Self::Absent,
            Then::Forgotten => Self::Unknown,
            Then::There { digest, name, traits } => match shown(traits) {
                Ok(loaded) => Self::Shown(ShownTool { name: name.to_owned(), digest, loaded, uncallable: None }),
                Err((_, reason, message)) => Self::NotShown { reason, message },
            },
        }
    }
}
