//! The tools of a live surface: counted by groups, and told in order from any place on without looking at the others.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Bound::{Excluded, Unbounded};

use toolplane_records::ids::ToolId;
use toolplane_records::surface::LoadedTool;

use super::LiveSurface;
use super::judge::{Judged, Place};
use crate::catalog::{Catalog, CatalogEntry, Group};
use crate::surface::record::deferred_ref;
use crate::surface::shut::Shut;
use crate::surface::tools::{List, Position, SurfaceCounts, SurfaceTool};
use crate::surface::visibility::hidden_tool;
use crate::traits::Traits;

impl LiveSurface {
    /// How many tools there are of each kind.
    pub fn counts(&self, catalog: &Catalog, shut: Shut<'_>) -> SurfaceCounts {
        let mut counts = SurfaceCounts::default();
        let of_groups = shut.of_groups();
        for group in catalog.groups() {
            let Some((whole, each)) = self.share(catalog, group, shut) else { continue };
            whole.inspect(|list| *counts.of(*list) += group.tools().len());
            for entry in each {
                whole.inspect(|list| *counts.of(*list) -= 1);
                self.list(self.place_with_group(entry), entry, of_groups).inspect(|list| *counts.of(*list) += 1);
            }
        }
        for entry in self.single(shut).into_iter().filter_map(|id| catalog.get(id)) {
            self.list(self.place_with_group(entry), entry, of_groups).inspect(|list| *counts.of(*list) -= 1);
            self.list(self.place(entry), entry, shut).inspect(|list| *counts.of(*list) += 1);
        }
        counts
    }

    /// The tools behind `after`, or from the first one on: loaded ones, those loaded on demand last, then deferred, blocked
    /// and excluded ones, each by id.
    pub fn tools<'c>(
        &'c self,
        catalog: &'c Catalog,
        shut: Shut<'c>,
        after: Option<&Position>,
    ) -> Box<dyn Iterator<Item = SurfaceTool> + 'c> {
        let first = after.map_or(List::Loaded, |after| after.list);
        let behind = after.map(|after| after.tool_id.clone());
        let lists = List::ALL.into_iter().filter(move |list| *list >= first);
        Box::new(lists.flat_map(move |list| {
            let behind = behind.clone().filter(|_| list == first);
            self.list_from(catalog, list, shut, behind)
        }))
    }

    fn list_from<'c>(
        &'c self,
        catalog: &'c Catalog,
        list: List,
        shut: Shut<'c>,
        behind: Option<ToolId>,
    ) -> Box<dyn Iterator<Item = SurfaceTool> + 'c> {
        if list != List::Loaded {
            let entries = self.merged(catalog, list, shut, behind.as_ref());
            return Box::new(entries.filter_map(move |entry| self.told(entry, list, shut)));
        }
        // Whoever puts tools before a model wants those that come later behind those that were there.
        let is_on_demand = |id: &ToolId| catalog.get(id).is_some_and(|entry| !self.loads_by_rule(entry));
        let at = behind.as_ref().and_then(|id| self.places.get(id)).copied();
        let on_demand = at.filter(|at| self.loads.get(*at).is_some_and(|tool| is_on_demand(&tool.tool_id)));
        let rest = self.loads.iter().skip(on_demand.map_or(0, |at| at + 1));
        let rest = rest.filter_map(|LoadedTool { tool_id, .. }| catalog.get(tool_id));
        let rest = rest.filter(|entry| !self.loads_by_rule(entry));
        let ruled = on_demand.is_none().then(|| self.merged(catalog, list, shut, behind.as_ref()));
        let ruled = ruled.into_iter().flatten().filter(|entry| self.loads_by_rule(entry));
        Box::new(ruled.chain(rest).filter_map(move |entry| self.told(entry, list, shut)))
    }

    /// The tools that may be in a list, by id; those that are not have to be left out.
    fn merged<'c>(
        &'c self,
        catalog: &'c Catalog,
        list: List,
        shut: Shut<'c>,
        behind: Option<&ToolId>,
    ) -> Box<dyn Iterator<Item = &'c CatalogEntry> + 'c> {
        self.merged_of(catalog, list, shut, behind, |_| true)
    }

    /// The same of tools with such traits alone.
    pub(super) fn merged_of<'c>(
        &'c self,
        catalog: &'c Catalog,
        list: List,
        shut: Shut<'c>,
        behind: Option<&ToolId>,
        only: impl Fn(&Traits) -> bool,
    ) -> Box<dyn Iterator<Item = &'c CatalogEntry> + 'c> {
        let from = (behind.map_or(Unbounded, Excluded), Unbounded);
        let is_single = move |id: &ToolId| self.is_special(id) || shut.is_single(id);
        let mut sources: Vec<Box<dyn Iterator<Item = &'c ToolId> + 'c>> = Vec::new();
        for group in catalog.groups().filter(|group| only(group.traits())) {
            let Some((whole, each)) = self.share(catalog, group, shut) else { continue };
            if whole == Some(list) {
                sources.push(Box::new(group.tools().range::<ToolId, _>(from).filter(move |id| !is_single(id))));
                continue;
            }
            let mut each: Vec<&ToolId> = each.map(CatalogEntry::tool_id).collect();
            each.retain(|id| behind.is_none_or(|behind| *id > behind) && !is_single(id));
            each.sort_unstable();
            if !each.is_empty() {
                sources.push(Box::new(each.into_iter()));
            }
        }
        let single = self.single(shut).into_iter().filter(|id| behind.is_none_or(|behind| *id > behind));
        let single = single.filter_map(|id| catalog.get(id)).filter(|entry| only(&entry.traits));
        let single: Vec<&ToolId> = single.map(CatalogEntry::tool_id).collect();
        sources.push(Box::new(single.into_iter()));
        Box::new(Merged::of(sources).filter_map(|id| catalog.get(id)))
    }

    /// The providers that tools still wait for.
    pub(in crate::surface) fn pending_providers<'c>(
        &'c self,
        catalog: &'c Catalog,
    ) -> impl Iterator<Item = &'c str> + 'c {
        let waits = !self.made.request.pending_providers.is_empty();
        let groups = waits.then(|| catalog.groups()).into_iter().flatten();
        groups.filter_map(|group| match self.verdict_of_group(group.traits()) {
            Judged::Waiting(provider) => Some(provider),
            _ => None,
        })
    }

    /// Every tool that is looked at by itself, and not with its group.
    fn single<'s>(&'s self, shut: Shut<'s>) -> BTreeSet<&'s ToolId> {
        let mut single = self.special();
        single.extend(shut.single());
        single
    }

    /// In which list a group is, if in any, and those of its tools that may be in another one; nothing for a group of other tools.
    fn share<'c>(
        &self,
        catalog: &'c Catalog,
        group: &'c Group,
        shut: Shut<'_>,
    ) -> Option<(Option<List>, impl Iterator<Item = &'c CatalogEntry> + 'c)> {
        let pinned_to = self.pinned_to();
        let (list, later) = match self.verdict_of_group(group.traits()) {
            Judged::Outside(_) if pinned_to.is_none() => return None,
            Judged::Outside(_) => (None, u64::MAX),
            Judged::Hidden((hiding, ..)) => (Some(hiding.into()), u64::MAX),
            _ if (shut.by_traits)(group.traits()).is_some() => (Some(List::Blocked), u64::MAX),
            Judged::Waiting(_) | Judged::Deferred => (Some(List::Deferred), u64::MAX),
            Judged::Loaded { .. } if self.is_within_budget() => (Some(List::Deferred), u64::MAX),
            Judged::Loaded { regardless: true } => (Some(List::Loaded), u64::MAX),
            Judged::Loaded { regardless: false } => (Some(List::Loaded), self.made.remembered_up_to()),
        };
        // What came into the group after a surface was pinned, that knows by what it was then.
        let later = pinned_to.map_or(later, |pinned_to| later.min(pinned_to));
        Some((list, group.joined_after(later).filter_map(|id| catalog.get(id))))
    }

    /// The list of a tool that is at this place.
    fn list(&self, place: Place<'_>, entry: &CatalogEntry, shut: Shut<'_>) -> Option<List> {
        match place {
            Place::Outside(_) => None,
            Place::Hidden((hiding, ..)) => Some(hiding.into()),
            Place::Deferred(_) | Place::Loaded if shut.is_shut(entry) => Some(List::Blocked),
            Place::Deferred(_) => Some(List::Deferred),
            Place::Loaded => Some(List::Loaded),
        }
    }

    /// The tool as it is told in a list; nothing when it is in another one.
    fn told(&self, entry: &CatalogEntry, list: List, shut: Shut<'_>) -> Option<SurfaceTool> {
        let place = self.place(entry);
        if let Place::Hidden((hiding, reason, message)) = place {
            let hidden = || SurfaceTool::hidden(list, hidden_tool(&entry.tool, reason, message));
            return (List::from(hiding) == list).then(hidden);
        }
        if matches!(place, Place::Outside(_)) {
            return None;
        }
        if let Some((reason, message)) = shut.why(entry) {
            let tool = hidden_tool(&entry.tool, reason, message);
            return (list == List::Blocked).then_some(SurfaceTool::Blocked(tool));
        }
        match (place, list) {
            (Place::Deferred(why), List::Deferred) => {
                Some(SurfaceTool::Deferred(shut.deferred(deferred_ref(entry, why), entry)))
            }
            (Place::Loaded, List::Loaded) => {
                let (tool, drift) = self.loaded(entry);
                let tool = LoadedTool { changed: drift.words(), ..tool };
                Some(SurfaceTool::Loaded(shut.loaded(tool, entry)))
            }
            _ => None,
        }
    }
}

/// Sorted sources as one.
struct Merged<'c> {
    sources: Vec<Box<dyn Iterator<Item = &'c ToolId> + 'c>>,
    /// The next id of each source that has one.
    next: BinaryHeap<Reverse<(&'c ToolId, usize)>>,
}

impl<'c> Merged<'c> {
    fn of(mut sources: Vec<Box<dyn Iterator<Item = &'c ToolId> + 'c>>) -> Self {
        let firsts = sources.iter_mut().enumerate();
        let next = firsts.filter_map(|(at, source)| Some(Reverse((source.next()?, at)))).collect();
        Self { sources, next }
    }
}

impl<'c> Iterator for Merged<'c> {
    type Item = &'c ToolId;

    fn next(&mut self) -> Option<&'c ToolId> {
        let Reverse((id, at)) = self.next.pop()?;
        if let Some(following) = self.sources.get_mut(at).and_then(Iterator::next) {
            self.next.push(Reverse((following, at)));
        }
        Some(id)
    }
}
