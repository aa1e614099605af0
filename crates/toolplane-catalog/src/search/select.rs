//! Tools by their names, in whatever case.

use std::collections::HashSet;

use toolplane_records::search::AmbiguousName;
use toolplane_records::surface::DeferredToolRef;
use toolplane_records::vocabulary::LoadingState;

use super::index::{Contents, KeyKind, key};
use super::shown::Shown;
use crate::catalog::{CatalogEntry, own_names};
use crate::surface::{Deferral, deferred_ref};
use crate::violations::shown;

/// Most tools that are told of a name that several have.
const MAX_CANDIDATES: usize = 10;
/// Most tools with one name that are looked at.
const MAX_SHARING: usize = 1_000;

/// What names lead to.
#[derive(Default)]
pub(super) struct Selected<'i> {
    pub(super) tools: Vec<(&'i CatalogEntry, DeferredToolRef)>,
    pub(super) hidden: Vec<DeferredToolRef>,
    pub(super) missing: Vec<String>,
    pub(super) ambiguous: Vec<AmbiguousName>,
}

enum Meaning<'i> {
    Tool(&'i CatalogEntry),
    Several(Vec<&'i CatalogEntry>),
    Nothing,
}

/// Selects by name: an id, a full name, a provider name, an alias, or a bare name that one tool of the surface has.
pub(super) fn select<'i>(index: &'i Contents, surface: &impl Shown, names: &[String]) -> Selected<'i> {
    let mut selected = Selected::default();
    let mut seen = HashSet::new();
    for name in names {
        match meaning(index, surface, name) {
            Meaning::Tool(entry) => {
                if !seen.insert(entry.tool_id()) {
                    continue;
                }
                match surface.reference(entry) {
                    Ok(tool) => selected.tools.push((entry, tool)),
                    Err(hidden) => selected.hidden.push(DeferredToolRef {
                        loading_state: LoadingState::Unavailable,
                        reason: format!("{}: {}", hidden.reason, hidden.message),
                        ..deferred_ref(entry, Deferral::Discover)
                    }),
                }
            }
            Meaning::Several(entries) => {
                let mut candidates: Vec<String> =
                    entries.iter().map(|entry| entry.tool.full_name().to_owned()).collect();
                candidates.sort_unstable();
                candidates.truncate(MAX_CANDIDATES);
                selected.ambiguous.push(AmbiguousName { name: shown(name, 128), candidates });
            }
            Meaning::Nothing => selected.missing.push(shown(name, 128)),
        }
    }
    selected
}

fn meaning<'i>(index: &'i Contents, surface: &impl Shown, name: &str) -> Meaning<'i> {
    let postings = index.terms.get(&key(KeyKind::Name, name));
    let places = postings.into_iter().flat_map(|postings| postings.places());
    let all: Vec<&CatalogEntry> = places.filter_map(|place| index.tools.get(place)).take(MAX_SHARING).collect();
    if let [one] = all.as_slice() {
        return Meaning::Tool(one);
    }
    // A name only one tool may have is stronger than the same in another case, or than a bare name.
    if let Some(own) = all.iter().find(|entry| is_own_name(entry, name)) {
        return Meaning::Tool(own);
    }
    let mut shown: Vec<&CatalogEntry> = all.into_iter().filter(|entry| surface.shows(entry)).collect();
    if let [one] = shown.as_slice() {
        return Meaning::Tool(one);
    }
    let in_this_case = |entry: &&CatalogEntry| entry.tool.registration().declaration.name == name;
    if shown.iter().filter(|entry| in_this_case(entry)).count() == 1 {
        shown.retain(in_this_case);
    }
    match shown.as_slice() {
        [] => Meaning::Nothing,
        [one] => Meaning::Tool(one),
        _ => Meaning::Several(shown),
    }
}

fn is_own_name(entry: &CatalogEntry, name: &str) -> bool {
    own_names(entry.tool.registration()).iter().any(|(own, _)| own == name)
}
