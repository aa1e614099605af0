//! Which tools a surface is of, beside those it names; and the words of that which lead to none.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolplane_matching::near;
use toolplane_records::ids::{SurfaceId, ToolId};
use toolplane_records::surface::HiddenTool;
use toolplane_records::vocabulary::ToolLifecycle;

use super::indexed::IndexedSurface;
use super::lineage::Leaves;
use super::request::within;
use super::resolve::Availability;
use super::shut::Shut;
use crate::catalog::{Catalog, Group, Lookup};
use crate::filter::{Criteria, FilterKind, plain};
use crate::traits::Traits;
use crate::violations::shown;

/// Most words that are suggested for one.
const MAX_SIMILAR: usize = 3;
/// Most words of tools that one is compared with.
const MAX_COMPARED: usize = 20_000;

/// Tools of these namespaces, with those below them, that are all of that. Without namespaces: of any.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Selection {
    /// Where they are.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub namespaces: BTreeSet<String>,
    /// What they are.
    #[serde(flatten)]
    pub criteria: Criteria,
}

impl Selection {
    /// Whether it chooses nothing in particular.
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty() && self.criteria.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.namespaces.len() + self.criteria.len()
    }

    pub(super) fn fits(&self, traits: &Traits) -> bool {
        let is_there = self.namespaces.is_empty() || within(&traits.namespace, &self.namespaces);
        is_there && self.criteria.fits(traits)
    }
}

/// A word of a selection that no tool has, or all of it together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The field, with the index; empty for all of it together.
    pub field: String,
    /// What is said of it.
    pub message: String,
    /// Words tools have that may have been meant.
    pub similar: Vec<String>,
}

/// A list of a request: the words that are asked for, and in which field.
pub type AskedFor<'a> = (FilterKind, &'static str, &'a [String]);

/// What of a selection no tool fits now; nor one that `above`, the surface it is within, shows. Retired tools do not count.
pub fn unmatched(
    catalog: &Catalog,
    asked: &[AskedFor<'_>],
    selection: &Selection,
    above: Option<&IndexedSurface>,
) -> Vec<Unmatched> {
    let groups = catalog.groups().filter(|group| group.traits().lifecycle != ToolLifecycle::Retired);
    let all: Vec<&Group> = groups.collect();
    let mut told = unmatched_of(&all, asked, selection, None);
    let Some(above) = above else { return told };
    let shown: Vec<&Group> = all.into_iter().filter(|group| above.shows_some_of(catalog, group)).collect();
    // Of a word that no tool has at all that is told, and nothing more.
    let is_told = |field: &String| told.iter().any(|one| one.field == *field);
    let further = unmatched_of(&shown, asked, selection, Some(above.id()));
    let further: Vec<Unmatched> = further.into_iter().filter(|one| !is_told(&one.field)).collect();
    told.extend(further);
    told
}

/// What of a selection no tool of these groups fits, which are those that the surface `above` shows, or all there are.
fn unmatched_of(
    groups: &[&Group],
    asked: &[AskedFor<'_>],
    selection: &Selection,
    above: Option<&SurfaceId>,
) -> Vec<Unmatched> {
    let none = match above {
        None => "no tool".to_owned(),
        Some(id) => format!("the surface `{id}`, which this one is within, shows no tool that"),
    };
    let mut told = Vec::new();
    for (by, field, values) in asked.iter().filter(|(_, _, values)| !values.is_empty()) {
        // What tools say, in the form that is compared, and as it is written.
        let mut words: BTreeMap<String, &str> = BTreeMap::new();
        for word in groups.iter().flat_map(|group| by.words_of(group.traits())) {
            words.entry(compared(*by, word)).or_insert(word);
        }
        for (index, value) in values.iter().enumerate() {
            let value = compared(*by, value.trim());
            if !words.contains_key(&value) {
                let similar = similar(&value, &words);
                let message = format!("{none} has the {} `{}` now", by.as_str(), shown(&value, 80));
                told.push(Unmatched { field: format!("{field}[{index}]"), message, similar });
            }
        }
    }
    if told.is_empty() && !selection.is_empty() && !groups.iter().any(|group| selection.fits(group.traits())) {
        let message = format!("{none} is all of that now");
        told.push(Unmatched { field: String::new(), message, similar: Vec::new() });
    }
    told
}

/// Names in this field of a request that lead to tools that the surface does not show now, with why: what those above it say, what it was made for, or
/// what is shut.
pub fn not_shown(
    catalog: &Catalog,
    shut: Shut<'_>,
    field: &str,
    names: &[String],
    surface: &IndexedSurface,
) -> Vec<Unmatched> {
    let told = names.iter().enumerate().filter_map(|(index, name)| {
        let Lookup::One(entry) = catalog.find(name) else { return None };
        let (name, why) = match surface.standing(entry) {
            Availability::Hidden(_, HiddenTool { name, message, .. }) => (name, message),
            _ => (entry.tool.full_name().to_owned(), shut.why(entry)?.1),
        };
        Some(Unmatched { field: format!("{field}[{index}]"), message: format!("`{name}` {why}"), similar: Vec::new() })
    });
    told.collect()
}

impl IndexedSurface {
    /// Whether it shows a tool of this group now.
    fn shows_some_of(&self, catalog: &Catalog, group: &Group) -> bool {
        let is_shown = |id: &ToolId| catalog.get(id).is_some_and(|entry| self.shows(entry));
        let by_traits = matches!(self.leaves_group(group.traits()), Leaves::Shown { .. });
        if by_traits || self.pinned_to().is_some() {
            // As a rule the first one is.
            return group.tools().iter().any(is_shown);
        }
        let mut named = BTreeSet::new();
        self.named_in_lineage(&mut named);
        named.into_iter().any(|id| group.tools().contains(id) && is_shown(id))
    }
}

/// Namespaces are names, and exact.
fn compared(by: FilterKind, word: &str) -> String {
    if by == FilterKind::Namespace { word.to_owned() } else { plain(word) }
}

pub(super) fn similar(value: &str, words: &BTreeMap<String, &str>) -> Vec<String> {
    let allowed = if value.chars().count() <= 4 { 1 } else { 2 };
    let near = words.iter().take(MAX_COMPARED).map(|(word, written)| (near(value, word, allowed), *written));
    let mut near: Vec<(usize, &str)> = near.filter(|(distance, _)| *distance <= allowed).collect();
    near.sort_unstable();
    near.into_iter().take(MAX_SIMILAR).map(|(_, written)| written.to_owned()).collect()
}
