//! A surface within another one: what it shows and lets be called is what each of the line does.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolplane_records::ids::{SurfaceId, ToolId};

use super::{Form, IndexedSurface};
use crate::catalog::CatalogEntry;
use crate::surface::choosing::NotChosen;
use crate::surface::copied::CopiedSurface;
use crate::surface::lineage::{Leaves, Outside, Parent, said_above};
use crate::traits::Traits;

impl IndexedSurface {
    /// The surface it was made within, if it was made within one.
    pub fn parent(&self) -> Option<&Parent> {
        match &self.0 {
            Form::Copied(_) => None,
            Form::Live(live) => live.parent(),
        }
    }

    /// The same surface below that one; below none where it was made within another one, so that it shows nothing.
    #[must_use]
    pub fn within(self, above: Option<Arc<Self>>) -> Self {
        match self.0 {
            Form::Copied(_) => self,
            Form::Live(live) => Self(Form::Live(Box::new(live.within(above)))),
        }
    }

    /// The surface above it, where that is at hand.
    pub(in crate::surface) fn above_it(&self) -> Option<&Arc<Self>> {
        match &self.0 {
            Form::Copied(_) => None,
            Form::Live(live) => live.above_it(),
        }
    }

    /// Why no call of the tool is made here, although it is loaded: the first reason in its line, with the surface above that says so where it is
    /// one of these. `by_moment` says whether the call names the moment it goes by.
    pub fn not_chosen(&self, entry: &CatalogEntry, by_moment: bool) -> Option<(NotChosen, Option<&SurfaceId>)> {
        self.lineage().enumerate().find_map(|(at, surface)| {
            let (choosing, chosen) = surface.choosing();
            if choosing.is_silent() {
                return None;
            }
            let why = choosing.refuses(&entry.tool.registration().tool_facts(), chosen, by_moment)?;
            Some((why, (at > 0).then(|| surface.id())))
        })
    }

    /// Whether a batch runs its calls here one after the other alone.
    pub fn one_at_a_time(&self) -> bool {
        self.lineage().any(|surface| surface.choosing().0.rules.one_at_a_time)
    }

    /// The policies that it and those above it name, its own first, each once.
    pub fn policy_refs(&self) -> Vec<String> {
        let mut told = BTreeSet::new();
        let all = self.lineage().flat_map(Self::own_policy_refs);
        all.filter(|name| told.insert(*name)).cloned().collect()
    }

    /// What it leaves of a tool, when that has these traits, to surfaces within it; `named`, if also what surfaces say of it by name.
    pub(in crate::surface) fn leaves(&self, entry: &CatalogEntry, traits: &Traits, named: bool) -> Leaves<'_> {
        match &self.0 {
            Form::Copied(copied) if named => copied.leaves(entry.tool_id(), traits),
            Form::Copied(copied) => nothing_of(copied),
            Form::Live(live) => live.leaves(entry, traits, named),
        }
    }

    /// What it leaves of tools of these traits that no surface names.
    pub(in crate::surface) fn leaves_group(&self, traits: &Traits) -> Leaves<'_> {
        match &self.0 {
            Form::Copied(copied) => nothing_of(copied),
            Form::Live(live) => live.leaves_group(traits),
        }
    }

    /// The first revision of the catalog that one of its line is pinned to.
    pub(in crate::surface) fn pinned_to(&self) -> Option<u64> {
        match &self.0 {
            Form::Copied(_) => None,
            Form::Live(live) => live.pinned_to(),
        }
    }

    /// Whether one of its line has another say about the tool than about its group.
    pub(in crate::surface) fn is_named(&self, id: &ToolId) -> bool {
        match &self.0 {
            Form::Copied(copied) => copied.has(id),
            Form::Live(live) => live.is_named(id),
        }
    }

    /// Adds the tools that one of its line has another say about than about their groups.
    pub(in crate::surface) fn named_in_lineage<'s>(&'s self, all: &mut BTreeSet<&'s ToolId>) {
        match &self.0 {
            Form::Copied(copied) => all.extend(copied.has_all()),
            Form::Live(live) => live.named_in_lineage(all),
        }
    }
}

fn nothing_of(copied: &CopiedSurface) -> Leaves<'_> {
    Leaves::Outside(Outside::Of(&copied.surface().surface_id))
}

impl CopiedSurface {
    /// What it leaves of a tool, when that has these traits, to surfaces within it.
    fn leaves(&self, id: &ToolId, traits: &Traits) -> Leaves<'_> {
        let own = &self.surface().surface_id;
        match self.sees(id, traits) {
            None => nothing_of(self),
            Some(Err((hiding, reason, message))) => Leaves::Hidden((hiding, reason, said_above(&message, own))),
            Some(Ok(_)) => Leaves::Shown { later: false },
        }
    }
}
