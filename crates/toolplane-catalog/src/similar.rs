//! Names a caller may have meant.
//!
//! Looking for them costs a bounded effort whatever the size of the catalog, and works on a copy of the names that is
//! cheap to take: the catalog need not be locked meanwhile.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use toolplane_matching::near;
use toolplane_records::ids::ToolId;

use crate::validate::Checked;

/// Most names that are suggested for one.
const MAX_SIMILAR: usize = 3;
/// Longest text that is compared; what is longer is no slip of the keyboard.
const MAX_NAME: usize = 128;
/// Most entries of the index that are counted for one name.
const MAX_COUNTED: usize = 20_000;
/// Most names one name is compared with.
const MAX_COMPARED: usize = 64;

/// How much may still be done to find similar names; shared by all names of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    counted: usize,
    compared: usize,
}

impl Effort {
    /// What one request may cost: ten names at their dearest. When it is used up, nothing more is suggested.
    pub const fn of_one_request() -> Self {
        Self { counted: 10 * MAX_COUNTED, compared: 10 * MAX_COMPARED }
    }
}

/// The names of a catalog's tools by the pairs of characters they hold.
#[derive(Clone, Debug, Default)]
pub struct NameIndex {
    /// `None` where a tool had another name once.
    named: Vec<Option<Named>>,
    places: HashMap<ToolId, u32>,
    pairs: HashMap<[char; 2], Vec<u32>>,
    gone: usize,
}

#[derive(Clone, Debug)]
struct Named {
    tool: Arc<Checked>,
    full: String,
    bare: String,
}

impl Named {
    fn of(tool: &Arc<Checked>) -> Self {
        let bare = plain(&tool.registration().declaration.name);
        Self { tool: Arc::clone(tool), full: plain(tool.full_name()), bare }
    }
}

/// The names of several tools, worked out before the index is changed.
#[derive(Debug)]
pub(crate) struct BulkNames {
    named: Vec<Named>,
    /// In order, with the tools that have them, which are numbered from 0.
    pairs: Vec<([char; 2], u32)>,
}

impl BulkNames {
    pub(crate) fn of_tools<'t>(tools: impl Iterator<Item = &'t Arc<Checked>>) -> Self {
        Self::of(tools.map(Named::of))
    }

    fn of(named: impl IntoIterator<Item = Named>) -> Self {
        let named: Vec<Named> = named.into_iter().collect();
        let of_one = |(number, named): (u32, &Named)| {
            let both = pairs(&named.full).into_iter().chain(pairs(&named.bare));
            both.map(|pair| (pair, number)).collect::<Vec<_>>()
        };
        let mut pairs: Vec<([char; 2], u32)> = (0..).zip(&named).flat_map(of_one).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self { named, pairs }
    }
}

impl NameIndex {
    /// Adds a tool, or replaces what was known of it.
    pub fn put(&mut self, tool: &Arc<Checked>) {
        let new = Named::of(tool);
        if let Some(&place) = self.places.get(&tool.registration().declaration.tool_id) {
            match self.named.get_mut(place as usize) {
                Some(Some(known)) if (&known.full, &known.bare) == (&new.full, &new.bare) => {
                    known.tool = new.tool;
                    return;
                }
                Some(known) => *known = None,
                None => {}
            }
            self.gone += 1;
        }
        if self.gone > 16 && self.gone > self.named.len() / 2 {
            let tools: Vec<Named> = std::mem::take(self).named.into_iter().flatten().collect();
            tools.into_iter().for_each(|tool| self.push(tool));
        }
        self.push(new);
    }

    /// Adds tools that are not here yet.
    pub(crate) fn put_new(&mut self, names: BulkNames) {
        let BulkNames { named, pairs } = names;
        let Ok(first) = u32::try_from(self.named.len()) else { return };
        for same in pairs.chunk_by(|(a, _), (b, _)| a == b) {
            if let Some((pair, _)) = same.first() {
                self.pairs.entry(*pair).or_default().extend(same.iter().map(|(_, number)| first + number));
            }
        }
        for (place, new) in (first..).zip(named) {
            self.places.insert(new.tool.registration().declaration.tool_id.clone(), place);
            self.named.push(Some(new));
        }
    }

    fn push(&mut self, new: Named) {
        self.put_new(BulkNames::of([new]));
    }

    /// Full names of up to three `usable` tools close to `name`, the closest first; fewer or none once `effort` is used up.
    ///
    /// Close means few edits away from the full or the bare name, or part of the full name.
    pub fn similar(&self, name: &str, effort: &mut Effort, usable: impl Fn(&Checked) -> bool) -> Vec<String> {
        let wanted = plain(name);
        if wanted.is_empty() || wanted.len() > MAX_NAME {
            return Vec::new();
        }
        let allowed = (wanted.chars().count() / 3).max(1);
        let mut found: Vec<(usize, &str)> = Vec::new();
        for named in self.candidates(&wanted, effort).filter(|named| usable(&named.tool)).take(MAX_COMPARED) {
            if effort.compared == 0 {
                break;
            }
            effort.compared -= 1;
            let nearest = near(&wanted, &named.full, allowed).min(near(&wanted, &named.bare, allowed));
            let contained = wanted.len() >= 4 && named.full.contains(&wanted);
            if nearest <= allowed || contained {
                found.push((nearest, named.tool.full_name()));
            }
        }
        found.sort();
        found.into_iter().take(MAX_SIMILAR).map(|(_, full)| full.to_owned()).collect()
    }

    /// Tools that share pairs of characters with `wanted`, those that share most first. The rarest pairs are counted first:
    /// what every name has says nothing.
    fn candidates<'s>(&'s self, wanted: &str, effort: &mut Effort) -> impl Iterator<Item = &'s Named> + use<'s> {
        let distinct: HashSet<[char; 2]> = pairs(wanted).into_iter().collect();
        let mut lists: Vec<&Vec<u32>> = distinct.iter().filter_map(|pair| self.pairs.get(pair)).collect();
        lists.sort_unstable_by_key(|list| list.len());
        let mut places: Vec<u32> = Vec::new();
        let mut left = MAX_COUNTED.min(effort.counted);
        for list in lists {
            let counted = list.len().min(left);
            places.extend_from_slice(&list[..counted]);
            left -= counted;
            effort.counted -= counted;
            if left == 0 {
                break;
            }
        }
        places.sort_unstable();
        let shared = places.chunk_by(u32::eq).filter_map(|same| Some((same.len(), Reverse(*same.first()?))));
        // Few of them are looked at.
        let mut ranked: BinaryHeap<(usize, Reverse<u32>)> = shared.collect();
        std::iter::from_fn(move || ranked.pop())
            .filter_map(|(_, Reverse(place))| self.named.get(place as usize)?.as_ref())
    }
}

/// Lower case with one separator, so that `files__readFile` and `files.readfile` are the same.
fn plain(name: &str) -> String {
    let lower = name.to_ascii_lowercase().replace("__", ".");
    lower.replace(['_', '-', '/', ':'], ".")
}

/// Neighbouring characters, with a mark before the first and after the last.
fn pairs(text: &str) -> Vec<[char; 2]> {
    let marked: Vec<char> = std::iter::once('^').chain(text.chars()).chain(std::iter::once('$')).collect();
    marked.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}
