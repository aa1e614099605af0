//! A surface at other moments than now: what it was, and which of its tools are another thing since.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolplane_records::ids::ToolId;
use toolplane_records::time::Timestamp;

use super::{Form, IndexedSurface};
use crate::catalog::{Catalog, CatalogEntry};
use crate::surface::difference::Sight;
use crate::surface::moment::Moment;

impl IndexedSurface {
    /// The moment it is at.
    pub fn moment(&self, catalog: &Catalog) -> Moment {
        self.moment_in(catalog.revision())
    }

    /// The moment it is at where its catalog is at this revision.
    pub(in crate::surface) fn moment_in(&self, catalog: u64) -> Moment {
        Moment { changes: self.changes(), above: self.above(), catalog, shut: 0 }
    }

    /// Whether it was there at a moment, and so were those above it, as far as numbers tell.
    pub(in crate::surface) fn has_begun_at(&self, moment: &Moment) -> bool {
        let begins_above = match &self.0 {
            Form::Copied(_) => 0,
            Form::Live(live) => live.begins_above(),
        };
        // The default surface alone has no change of its own.
        let of_this = moment.is_like(&self.moment_in(0)) && (moment.changes == 0) == (self.changes() == 0);
        of_this && self.begins_at() <= moment.catalog && begins_above <= moment.above.sum()
    }

    /// Up to which revision of the catalog, and which changes of those above it, its log tells what that changed about it; nothing where it was
    /// never told.
    pub(in crate::surface) fn noted(&self) -> Option<Moment> {
        match &self.0 {
            Form::Copied(_) => None,
            Form::Live(live) => {
                Some(Moment { changes: self.changes(), above: live.noted_above(), catalog: live.noted()?, shut: 0 })
            }
        }
    }

    /// The same surface, whose log tells what the catalog and those above it changed about it up to now.
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
            Form::Live(live) if now.changes <= 1 && now.above.sum() == live.begins_above() => {
                let since = revision.checked_sub(now.changes)?;
                Some(Moment { catalog: live.begins_at() + since, ..now })
            }
            Form::Live(_) => None,
        }
    }

    /// When it was made.
    pub fn created_at(&self) -> Timestamp {
        match &self.0 {
            Form::Copied(copied) => copied.surface().created_at,
            Form::Live(live) => live.created_at(),
        }
    }

    /// Whether it was made when `other` was: two surfaces of one name are not the same one.
    pub fn is_as_old_as(&self, other: &Self) -> bool {
        self.created_at() == other.created_at()
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

    /// The surface as it was at a moment, with those above it as they were; nothing where that is not known any more.
    pub(in crate::surface) fn at(&self, moment: &Moment) -> Option<Self> {
        self.after(moment.changes, moment.above.as_slice())
    }

    /// The surface after so many own changes, and so many of each one above it.
    fn after(&self, changes: u64, above: &[u64]) -> Option<Self> {
        let live = match &self.0 {
            Form::Copied(copied) => {
                let is_now = above.is_empty() && copied.surface().revision == changes;
                return is_now.then(|| self.clone());
            }
            Form::Live(live) => live,
        };
        let above = match (self.above_it(), above.split_first()) {
            (None, None) => None,
            (Some(now), Some((_, _))) if now.moment_in(0).has_changes(above) => Some(Arc::clone(now)),
            (Some(now), Some((changes, further))) => Some(Arc::new(now.after(*changes, further)?)),
            (None, Some(_)) | (Some(_), None) => return None,
        };
        Some(Self::from(live.at(changes)?.within(above)))
    }

    /// What it makes of a tool at a revision of the catalog.
    pub(in crate::surface) fn seen(&self, entry: &CatalogEntry, at: u64) -> Sight {
        match &self.0 {
            Form::Copied(copied) => copied.seen(entry, at),
            Form::Live(live) => live.seen(entry, at),
        }
    }

    /// The tools that it, or one above it, has in another way than `before`, which it was, by changes of surfaces: each once, by id. Nothing where these
    /// are more than `most`, or not known.
    pub(in crate::surface) fn named_otherwise(
        &self,
        before: &Self,
        catalog: &Catalog,
        most: usize,
    ) -> Option<BTreeSet<ToolId>> {
        let mut tools = BTreeSet::new();
        let all = self.collect_named_otherwise(before, catalog, most, &mut tools);
        all.then_some(tools)
    }

    /// Adds these tools; false where they are too many, or not known. One that a surface names may also be in what another one of the line, or the
    /// same one, was extended by.
    fn collect_named_otherwise(
        &self,
        before: &Self,
        catalog: &Catalog,
        most: usize,
        tools: &mut BTreeSet<ToolId>,
    ) -> bool {
        let (Form::Live(now), Form::Live(before)) = (&self.0, &before.0) else {
            return self.changes() == before.changes();
        };
        if let (Some(now), Some(before)) = (now.above_it(), before.above_it())
            && !Arc::ptr_eq(now, before)
            && !now.collect_named_otherwise(before, catalog, most, tools)
        {
            return false;
        }
        let Some(own) = now.named_otherwise(before) else { return false };
        tools.extend(own);
        let brought = now.brought_since(before);
        for group in catalog.groups().filter(|group| brought.fits(group.traits())) {
            if tools.len() > most || group.tools().len() > most {
                return false;
            }
            tools.extend(group.tools().iter().cloned());
        }
        tools.len() <= most
    }

    /// The same surface if it followed its catalog, where it is pinned; and the revision it is pinned to.
    pub(in crate::surface) fn unpinned(&self) -> Option<(Self, u64)> {
        match &self.0 {
            Form::Live(live) if live.is_pinned() => Some((live.unpinned().into(), live.begins_at())),
            Form::Live(_) | Form::Copied(_) => None,
        }
    }
}
