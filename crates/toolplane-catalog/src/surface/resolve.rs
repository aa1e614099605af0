//! From the name in a call to a tool that may be called, or to the reason why not.

use toolplane_records::payload::Digest;
use toolplane_records::surface::{DeferredToolRef, HiddenTool};

use super::indexed::IndexedSurface;
use super::live::Deferral;
use super::record::deferred_ref;
use super::visibility::Hiding;
use crate::catalog::{Catalog, CatalogEntry, Lookup};
use crate::history::Drift;
use crate::similar::{Effort, NameIndex};

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
    match (surface.standing(entry), known) {
        (Availability::Loaded, None) => Resolution::Callable(entry),
        (Availability::Stale(drift), None) => Resolution::Changed(entry, drift),
        (Availability::Loaded | Availability::Stale(_), Some(known)) => match entry.since(known) {
            Drift::None => Resolution::Callable(entry),
            drift => Resolution::Changed(entry, drift),
        },
        (Availability::Deferred(why), _) => Resolution::NotLoaded(Box::new(deferred_ref(entry, why))),
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
    Deferred(Deferral<'s>),
    Hidden(Hiding, HiddenTool),
}

/// The tool a name means in the surface: a bare name shared by several tools means the one the surface shows.
pub(crate) fn lookup<'a>(surface: &IndexedSurface, catalog: &'a Catalog, name: &str) -> Option<&'a CatalogEntry> {
    match catalog.find(name) {
        Lookup::One(entry) => Some(entry),
        Lookup::Unknown => None,
        Lookup::Ambiguous(sharing) => {
            let mut shown = sharing.entries().filter(|entry| surface.shows(entry));
            shown.next().filter(|_| shown.next().is_none())
        }
    }
}

/// Full names of up to three tools of the surface that may have been meant by `name`, which leads nowhere.
pub fn similar_in(surface: &IndexedSurface, names: &NameIndex, name: &str, effort: &mut Effort) -> Vec<String> {
    names.similar(name, effort, |tool| surface.may_show(tool))
}
