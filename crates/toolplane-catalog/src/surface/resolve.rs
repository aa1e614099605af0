//! From the name in a call to a tool that may be called, or to the reason why not.

use toolplane_records::payload::Digest;
use toolplane_records::surface::{DeferredToolRef, HiddenTool};
use toolplane_records::vocabulary::HiddenReason;

use super::indexed::{IndexedSurface, Membership};
use super::visibility::{Hiding, hidden_now, hidden_tool};
use crate::catalog::{Catalog, CatalogEntry, Lookup};
use crate::history::Drift;
use crate::similar::{Effort, NameIndex};
use crate::validate::Checked;

/// What a name means in a surface.
#[derive(Clone, Debug)]
pub enum Resolution<'a> {
    /// The tool is loaded: it may be called.
    Callable(&'a CatalogEntry),
    /// The tool is loaded, but its schema is not the one the caller knows: it must be loaded again.
    Changed(&'a CatalogEntry, Drift),
    /// The tool is there but its schema has not been loaded: it must be discovered first.
    NotLoaded(Box<DeferredToolRef>),
    /// The tool may not be used here.
    Blocked(HiddenTool),
    /// The tool is not part of what this surface shows.
    Excluded(HiddenTool),
    /// No tool has that name; [`similar_in`] finds what may have been meant.
    Unknown,
}

/// Resolves `name` (id, full name, provider name, alias, or a bare name that is unique among the surface's tools).
///
/// The catalog decides: a tool that was retired or disabled since it was loaded is not callable, and neither is one
/// whose schema changed since the declaration the caller goes by: `known`, or without it the one that was loaded.
pub fn resolve<'a>(
    surface: &IndexedSurface,
    catalog: &'a Catalog,
    name: &str,
    known: Option<&Digest>,
) -> Resolution<'a> {
    let Some(entry) = lookup(surface, catalog, name) else { return Resolution::Unknown };
    match (standing(surface, entry), known) {
        (Availability::Loaded, None) => Resolution::Callable(entry),
        (Availability::Stale(drift), None) => Resolution::Changed(entry, drift),
        (Availability::Loaded | Availability::Stale(_), Some(known)) => match entry.since(known) {
            Drift::None => Resolution::Callable(entry),
            drift => Resolution::Changed(entry, drift),
        },
        (Availability::Deferred(deferred), _) => Resolution::NotLoaded(Box::new(deferred.clone())),
        (Availability::Hidden(Hiding::Blocked, tool), _) => Resolution::Blocked(tool),
        (Availability::Hidden(Hiding::Excluded, tool), _) => Resolution::Excluded(tool),
    }
}

/// The state of a tool in a surface, by what the catalog says now.
#[derive(Debug)]
pub(crate) enum Availability<'s> {
    Loaded,
    /// Loaded, and its schema changed since.
    Stale(Drift),
    Deferred(&'s DeferredToolRef),
    Hidden(Hiding, HiddenTool),
}

pub(crate) fn standing<'s>(surface: &'s IndexedSurface, entry: &CatalogEntry) -> Availability<'s> {
    let place = surface.place(entry.tool_id());
    if let Membership::Hidden(hiding, tool) = place {
        return Availability::Hidden(hiding, tool.clone());
    }
    if let Some((hiding, tool)) = hidden_now(&entry.tool) {
        return Availability::Hidden(hiding, tool);
    }
    match place {
        Membership::Loaded(loaded) => match loaded.digest.as_ref().map_or(Drift::None, |digest| entry.since(digest)) {
            Drift::None => Availability::Loaded,
            drift => Availability::Stale(drift),
        },
        Membership::Deferred(deferred) => Availability::Deferred(deferred),
        Membership::Hidden(..) | Membership::Outside => {
            let message = "is not part of this surface; it was registered later, or the surface was made for other \
                           tools: make a surface with it (CreateSurface)";
            let tool = hidden_tool(&entry.tool, HiddenReason::NotSelected, message.to_owned());
            Availability::Hidden(Hiding::Excluded, tool)
        }
    }
}

/// The tool a name means in the surface: a bare name shared by several tools means the one the surface shows.
pub(crate) fn lookup<'a>(surface: &IndexedSurface, catalog: &'a Catalog, name: &str) -> Option<&'a CatalogEntry> {
    match catalog.find(name) {
        Lookup::One(entry) => Some(entry),
        Lookup::Unknown => None,
        Lookup::Ambiguous(sharing) => {
            let mut shown = sharing.entries().filter(|entry| surface.shows(entry.tool_id()));
            shown.next().filter(|_| shown.next().is_none())
        }
    }
}

/// Full names of up to three tools of the surface that may have been meant by `name`, which leads nowhere.
pub fn similar_in(surface: &IndexedSurface, names: &NameIndex, name: &str, effort: &mut Effort) -> Vec<String> {
    let usable = |tool: &Checked| surface.shows(&tool.registration().declaration.tool_id) && hidden_now(tool).is_none();
    names.similar(name, effort, usable)
}
