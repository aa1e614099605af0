//! A live surface within another one: what that leaves of its tools.

use std::sync::Arc;

use toolplane_records::vocabulary::HiddenReason;

use super::LiveSurface;
use super::judge::{ByName, Judged};
use crate::catalog::CatalogEntry;
use crate::surface::indexed::IndexedSurface;
use crate::surface::lineage::{Above, Leaves, Outside, Parent, said_above};
use crate::surface::visibility::{Hidden, Hiding};
use crate::traits::Traits;

/// What surfaces count as that are not there any more, in changes. Each change of a surface is a commit of its own: a thousand of them a second would
/// take thirty years to come to so many.
const GONE: u64 = 1_000_000_000_000;

impl LiveSurface {
    /// The surface it was made within.
    pub(in crate::surface) fn parent(&self) -> Option<&Parent> {
        self.made.parent.as_ref()
    }

    /// That surface, where it is at hand.
    pub(in crate::surface) fn above_it(&self) -> Option<&Arc<IndexedSurface>> {
        self.above.as_ref()
    }

    /// The same surface below this one; below none where it was made within another one.
    pub(in crate::surface) fn within(self, above: Option<Arc<IndexedSurface>>) -> Self {
        let above = above.filter(|above| self.made.parent.as_ref().is_some_and(|parent| parent.is(above)));
        Self { above, ..self }
    }

    /// How often the surfaces above it have been changed since it was made. Where they are not there any more, nobody knows: it counts as more than
    /// that can have been, so that its revision does not go back behind one that was told.
    pub(super) fn changes_above(&self) -> u64 {
        let Some(parent) = &self.made.parent else { return 0 };
        match self.above.as_ref().filter(|above| above.is_whole()) {
            Some(above) => above.lineage().map(IndexedSurface::changes).sum::<u64>().saturating_sub(parent.changes),
            None => GONE,
        }
    }

    /// How often they had been changed together when it was made.
    pub(in crate::surface) fn begins_above(&self) -> u64 {
        self.made.parent.as_ref().map_or(0, |parent| parent.changes)
    }

    /// Up to which of their changes its log tells what changed about it.
    pub(in crate::surface) fn noted_above(&self) -> Above {
        self.noted_above
    }

    /// The revision of the catalog since which a tool may be another thing to it, or to one above it, than its traits say: the first one that any of
    /// them is pinned to.
    pub(in crate::surface) fn pinned_to(&self) -> Option<u64> {
        let own = self.is_pinned().then(|| self.begins_at());
        own.into_iter().chain(self.above.as_ref().and_then(|above| above.pinned_to())).min()
    }

    /// What it makes of a tool, of which it says `own` itself, when those above it have had their say.
    pub(super) fn below<'s>(
        &'s self,
        own: Judged<'s>,
        leaves: impl FnOnce(&'s IndexedSurface) -> Leaves<'s>,
    ) -> Judged<'s> {
        if matches!(own, Judged::Outside(_)) {
            return own;
        }
        match (self.left_above(leaves), own) {
            // Also what it hides itself: of what those above it have not, it has nothing that could be hidden.
            (Leaves::Outside(who), _) => Judged::Outside(who),
            (_, own @ Judged::Hidden(_)) => own,
            (Leaves::Hidden(why), _) => Judged::Hidden(why),
            (Leaves::Shown { later: true }, Judged::Loaded { regardless: false }) => Judged::Deferred,
            (Leaves::Shown { .. }, own) => own,
        }
    }

    /// What the surfaces above it leave of a tool.
    fn left_above<'s>(&'s self, leaves: impl FnOnce(&'s IndexedSurface) -> Leaves<'s>) -> Leaves<'s> {
        match (&self.made.parent, &self.above) {
            (None, _) => Leaves::Shown { later: false },
            (Some(parent), None) => Leaves::Outside(Outside::Gone(&parent.surface_id)),
            (Some(_), Some(above)) => leaves(above),
        }
    }

    /// What it leaves of a tool to those within it.
    pub(in crate::surface) fn leaves(&self, entry: &CatalogEntry, traits: &Traits, named: bool) -> Leaves<'_> {
        let by_name = if named { self.by_name(entry.tool_id()) } else { ByName::default() };
        let own = self.own_verdict(entry, traits, by_name);
        self.leaving(own, self.only_extended(traits, by_name), |above| above.leaves(entry, traits, named))
    }

    /// What it leaves of tools of these traits that no surface names.
    pub(in crate::surface) fn leaves_group(&self, traits: &Traits) -> Leaves<'_> {
        let by_name = ByName::default();
        let own = self.judge(traits, by_name);
        self.leaving(own, self.only_extended(traits, by_name), |above| above.leaves_group(traits))
    }

    fn leaving<'s>(
        &'s self,
        own: Judged<'s>,
        only_extended: bool,
        above: impl FnOnce(&'s IndexedSurface) -> Leaves<'s>,
    ) -> Leaves<'s> {
        let hidden = match own {
            Judged::Outside(Outside::Own) => return Leaves::Outside(Outside::Of(self.id())),
            Judged::Outside(who) => return Leaves::Outside(who),
            Judged::Hidden((hiding, reason, message)) => Some((hiding, reason, said_above(&message, self.id()))),
            Judged::Waiting(_) | Judged::Deferred | Judged::Loaded { .. } => None,
        };
        match (self.left_above(above), hidden) {
            (outside @ Leaves::Outside(_), _) => outside,
            (_, Some(why)) => Leaves::Hidden(why),
            (Leaves::Shown { later }, None) => Leaves::Shown { later: later || only_extended },
            (hides, None) => hides,
        }
    }

    /// Why a tool is no part of it.
    pub(in crate::surface) fn outside(&self, who: Outside<'_>) -> Hidden {
        let message = who.words().unwrap_or_else(|| self.own_outside().to_owned());
        (Hiding::Excluded, HiddenReason::NotSelected, message)
    }
}
