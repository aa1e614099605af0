//! A surface at other moments than now: what it was, and which of its tools are another thing since.

use std::collections::VecDeque;

use toolplane_records::ids::ToolId;

use super::{Form, IndexedSurface};
use crate::catalog::{Catalog, CatalogEntry};
use crate::surface::difference::Sight;
use crate::surface::moment::Moment;

impl IndexedSurface {
    /// The moment it is at.
    pub fn moment(&self, catalog: &Catalog) -> Moment {
        Moment { changes: self.changes(), catalog: catalog.revision() }
    }

    /// Up to which revision of the catalog its log tells what that changed about it; nothing where it was never told.
    pub(in crate::surface) fn noted(&self) -> Option<u64> {
        match &self.0 {
            Form::Copied(_) => None,
            Form::Live(live) => live.noted(),
        }
    }

    /// The same surface, whose log tells what the catalog changed about it up to now.
    #[must_use]
    pub fn noting(&self, catalog: &Catalog) -> Self {
        match &self.0 {
            Form::Copied(_) => self.clone(),
            Form::Live(live) => live.noting(catalog).into(),
        }
    }

    /// The moment at which it had a revision, where its own changes and those of its catalog can be told apart.
    pub(in crate::surface) fn moment_at(&self, revision: u64, catalog: &Catalog) -> Option<Moment> {
        let now = self.moment(catalog);
        match &self.0 {
            // Its revision says nothing of the catalog.
            Form::Copied(_) => None,
            Form::Live(live) if revision == live.revision(catalog) => Some(now),
            Form::Live(live) if now.changes <= 1 => {
                let since = revision.checked_sub(now.changes)?;
                Some(Moment { catalog: live.begins_at() + since, ..now })
            }
            Form::Live(_) => None,
        }
    }

    /// Whether it was made when `other` was: two surfaces of one name are not the same one.
    pub(in crate::surface) fn is_as_old_as(&self, other: &Self) -> bool {
        let made = |surface: &Self| match &surface.0 {
            Form::Copied(copied) => copied.surface().created_at,
            Form::Live(live) => live.created_at(),
        };
        made(self) == made(other)
    }

    /// The revision it has at one of its catalog.
    pub(in crate::surface) fn revision_at(&self, catalog: u64) -> u64 {
        match &self.0 {
            Form::Copied(copied) => copied.surface().revision,
            Form::Live(live) => live.revision_at(catalog),
        }
    }

    /// The revision of the catalog before which there was no such surface, as far as that is known.
    pub(in crate::surface) fn begins_at(&self) -> u64 {
        match &self.0 {
            Form::Copied(_) => 0,
            Form::Live(live) => live.begins_at(),
        }
    }

    /// The surface as it was after so many own changes; nothing where that is not known any more.
    pub(in crate::surface) fn at(&self, changes: u64) -> Option<Self> {
        match &self.0 {
            Form::Copied(copied) => (copied.surface().revision == changes).then(|| self.clone()),
            Form::Live(live) => live.at(changes).map(Self::from),
        }
    }

    /// What it makes of a tool at a revision of the catalog.
    pub(in crate::surface) fn seen(&self, entry: &CatalogEntry, at: u64) -> Sight {
        match &self.0 {
            Form::Copied(copied) => copied.seen(entry, at),
            Form::Live(live) => live.seen(entry, at),
        }
    }

    /// The tools that it has in another way than `before`, which it was, by its own changes; nothing where these are more than `most`, or
    /// not known.
    pub(in crate::surface) fn named_otherwise(
        &self,
        before: &Self,
        catalog: &Catalog,
        most: usize,
    ) -> Option<VecDeque<ToolId>> {
        let (Form::Live(now), Form::Live(before)) = (&self.0, &before.0) else {
            return (self.changes() == before.changes()).then(VecDeque::new);
        };
        let mut tools: VecDeque<ToolId> = now.named_otherwise(before).into();
        let brought = now.brought_since(before);
        let groups = catalog.groups().filter(|group| brought.fits(group.traits()));
        for group in groups {
            if tools.len() + group.tools().len() > most {
                return None;
            }
            tools.extend(group.tools().iter().cloned());
        }
        (tools.len() <= most).then_some(tools)
    }

    /// The same surface if it followed its catalog, where it is pinned; and the revision it is pinned to.
    pub(in crate::surface) fn unpinned(&self) -> Option<(Self, u64)> {
        match &self.0 {
            Form::Live(live) if live.is_pinned() => Some((live.unpinned().into(), live.begins_at())),
            Form::Live(_) | Form::Copied(_) => None,
        }
    }
}
