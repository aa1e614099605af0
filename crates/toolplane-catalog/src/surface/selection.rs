//! Which tools a surface is of, beside those it names; and the words of that which lead to none.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolplane_matching::near;
use toolplane_records::vocabulary::ToolLifecycle;

use super::request::within;
use crate::catalog::Catalog;
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

/// What of a selection no tool fits now. Retired tools do not count.
pub fn unmatched(catalog: &Catalog, asked: &[AskedFor<'_>], selection: &Selection) -> Vec<Unmatched> {
    let is_there = |traits: &Traits| traits.lifecycle != ToolLifecycle::Retired;
    let groups = || catalog.groups().map(|group| group.traits()).filter(|traits| is_there(traits));
    let mut told = Vec::new();
    for (by, field, values) in asked.iter().filter(|(_, _, values)| !values.is_empty()) {
        // What tools say, in the form that is compared, and as it is written.
        let mut words: BTreeMap<String, &str> = BTreeMap::new();
        for word in groups().flat_map(|traits| by.words_of(traits)) {
            words.entry(compared(*by, word)).or_insert(word);
        }
        for (index, value) in values.iter().enumerate() {
            let value = compared(*by, value.trim());
            if !words.contains_key(&value) {
                let similar = similar(&value, &words);
                let message = format!("no tool has the {} `{}` now", by.as_str(), shown(&value, 80));
                told.push(Unmatched { field: format!("{field}[{index}]"), message, similar });
            }
        }
    }
    if told.is_empty() && !selection.is_empty() && !groups().any(|traits| selection.fits(traits)) {
        let message = "no tool is all of that now".to_owned();
        told.push(Unmatched { field: String::new(), message, similar: Vec::new() });
    }
    told
}

/// Namespaces are names, and exact.
fn compared(by: FilterKind, word: &str) -> String {
    if by == FilterKind::Namespace { word.to_owned() } else { plain(word) }
}

fn similar(value: &str, words: &BTreeMap<String, &str>) -> Vec<String> {
    let allowed = if value.chars().count() <= 4 { 1 } else { 2 };
    let near = words.iter().take(MAX_COMPARED).map(|(word, written)| (near(value, word, allowed), *written));
    let mut near: Vec<(usize, &str)> = near.filter(|(distance, _)| *distance <= allowed).collect();
    near.sort_unstable();
    near.into_iter().take(MAX_SIMILAR).map(|(_, written)| written.to_owned()).collect()
}
