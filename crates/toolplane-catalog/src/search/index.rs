//! An index over the texts of tools: which tools have a word, and how much it says of each.
//!
//! What a word of a tool weighs depends on that tool alone, and sums are of whole numbers: the same tools give the same answers,
//! whatever the order they came in. A [`Snapshot`] is a pointer. Whoever changes the index while one is held copies what
//! the change touches (some blocks of entries and buckets of words), and never the index.

mod bulk;
mod dictionary;
mod fields;
mod postings;
mod slots;

#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use bulk::BulkWords;
pub(super) use dictionary::Dictionary;
pub(crate) use fields::ToolWords;
pub(super) use fields::{Field, KeyKind, key};
use postings::Posting;
pub(super) use postings::Postings;
use slots::{Places, Slots};
use toolplane_records::ids::ToolId;

use super::typos::letters;
use crate::catalog::CatalogEntry;

/// The tools that have a word, with how much it says of each and its fields.
#[cfg(test)]
type Having = BTreeMap<ToolId, (u16, u8)>;

/// The searchable texts of every tool of a catalog. Tools can be replaced one at a time.
#[derive(Debug, Default)]
pub struct SearchIndex {
    shared: Arc<Contents>,
    places: Places,
}

/// What searching looks at.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    pub(super) tools: Slots,
    /// How many tools there are.
    pub(super) live: usize,
    /// Words without their endings, whole names, and filters.
    pub(super) terms: Dictionary<Postings>,
    /// Words as they are written, for finding what was meant by another one.
    pub(super) forms: Dictionary<Form>,
}

/// A word as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Which letters it has; see [`letters`].
    pub(super) letters: u64,
    /// How many tools have it.
    pub(super) tools: u32,
    /// How many have it in a name.
    pub(super) in_names: u32,
}

/// The index as it was at one time. Cheap to take and to keep; changes go on beside it.
#[derive(Clone, Debug)]
pub struct Snapshot(pub(super) Arc<Contents>);

impl SearchIndex {
    /// The index as it is now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(Arc::clone(&self.shared))
    }

    /// Adds a tool with its words, or replaces what was known of it.
    pub(crate) fn put(&mut self, entry: CatalogEntry, words: &ToolWords) {
        let contents = Arc::make_mut(&mut self.shared);
        let Some(place) = self.places.of(entry.tool_id()) else {
            let place = self.places.take(&mut contents.tools, entry);
            contents.add(place, words);
            contents.live = self.places.len();
            return;
        };
        let Some(before) = contents.tools.get(place) else { return };
        // Another lifecycle or schema of the same texts, as a retirement is.
        let known = ToolWords::of(&before.tool, &before.traits);
        contents.replace(place, &known, words);
        Places::renew(&mut contents.tools, place, entry);
    }

    /// Adds tools that are not here yet, with their words, which number them in the same order.
    pub(crate) fn put_new(&mut self, entries: Vec<CatalogEntry>, words: BulkWords) {
        let contents = Arc::make_mut(&mut self.shared);
        let places: Vec<u32> = entries.into_iter().map(|entry| self.places.take(&mut contents.tools, entry)).collect();
        contents.add_all(&places, words);
        contents.live = self.places.len();
    }

    /// Adds a tool, or replaces what was known of it.
    pub fn insert(&mut self, entry: CatalogEntry) {
        let words = ToolWords::of(&entry.tool, &entry.traits);
        self.put(entry, &words);
    }

    /// Forgets a tool.
    pub fn remove(&mut self, tool_id: &ToolId) {
        let Some(place) = self.places.of(tool_id) else { return };
        let contents = Arc::make_mut(&mut self.shared);
        if let Some(before) = contents.tools.get(place) {
            let known = ToolWords::of(&before.tool, &before.traits);
            contents.take_out(place, &known);
        }
        self.places.give_back(&mut contents.tools, tool_id);
        contents.live = self.places.len();
    }

    /// Each word with the tools that have it and how, whatever the order they came in.
    #[cfg(test)]
    pub(crate) fn content(&self) -> Vec<(String, Having)> {
        let contents = &self.shared;
        let tool = |posting: &Posting| {
            let entry = contents.tools.get(posting.place).unwrap();
            (entry.tool_id().clone(), (posting.weight, posting.fields))
        };
        let terms = contents
            .terms
            .with_prefix("")
            .map(|(term, postings)| (term.to_owned(), postings.runs().flatten().map(tool).collect()));
        let forms = contents.forms.with_prefix("").map(|(form, known)| (format!("{form} {known:?}"), BTreeMap::new()));
        terms.chain(forms).collect()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory the index takes, without the tools it shares with the catalog.
    pub fn heap_bytes(&self) -> usize {
        let contents = &self.shared;
        let terms = contents.terms.heap_bytes(Postings::heap_bytes);
        terms + contents.forms.heap_bytes(|_| 0) + contents.tools.heap_bytes() + self.places.heap_bytes()
    }

    /// How many words, names and filters there are.
    pub fn terms(&self) -> usize {
        self.shared.terms.len()
    }
}

impl Contents {
    fn add(&mut self, place: u32, words: &ToolWords) {
        for (term, found) in &words.terms {
            self.add_term(term, Posting { place, weight: found.weight, fields: found.fields });
        }
        for key in &words.keys {
            self.add_term(key, Posting { place, weight: 0, fields: 0 });
        }
        for (form, fields) in &words.forms {
            self.add_form(form, *fields);
        }
    }

    /// Adds the words of several tools, which have these places.
    fn add_all(&mut self, places: &[u32], words: BulkWords) {
        let postings = words.terms.into_iter().filter_map(|(term, posting)| {
            let place = *places.get(posting.place as usize)?;
            Some((term, Posting { place, ..posting }))
        });
        self.terms.merge(postings, Postings::One, |postings, posting| postings.insert(posting));
        self.forms.merge(
            words.forms.into_iter(),
            |form| form,
            |known, form| {
                known.tools += form.tools;
                known.in_names += form.in_names;
            },
        );
    }

    fn take_out(&mut self, place: u32, words: &ToolWords) {
        for term in words.terms.keys().chain(&words.keys) {
            self.terms.shrink(term, |postings| postings.remove(place));
        }
        for (form, fields) in &words.forms {
            self.remove_form(form, *fields);
        }
    }

    /// Changes only what is another one now.
    fn replace(&mut self, place: u32, before: &ToolWords, after: &ToolWords) {
        for (term, found) in &before.terms {
            if after.terms.get(term) != Some(found) {
                self.terms.shrink(term, |postings| postings.remove(place));
            }
        }
        for key in before.keys.iter().filter(|key| !after.keys.contains(key)) {
            self.terms.shrink(key, |postings| postings.remove(place));
        }
        for (form, fields) in &before.forms {
            if after.forms.get(form) != Some(fields) {
                self.remove_form(form, *fields);
            }
        }
        for (term, found) in &after.terms {
            if before.terms.get(term) != Some(found) {
                self.add_term(term, Posting { place, weight: found.weight, fields: found.fields });
            }
        }
        for key in after.keys.iter().filter(|key| !before.keys.contains(key)) {
            self.add_term(key, Posting { place, weight: 0, fields: 0 });
        }
        for (form, fields) in &after.forms {
            if before.forms.get(form) != Some(fields) {
                self.add_form(form, *fields);
            }
        }
    }

    fn add_term(&mut self, term: &str, posting: Posting) {
        self.terms.upsert(term, || Postings::One(posting), |postings| postings.insert(posting));
    }

    fn add_form(&mut self, form: &str, fields: u8) {
        let named = u32::from(is_named(fields));
        let change = |known: &mut Form| {
            known.tools += 1;
            known.in_names += named;
        };
        self.forms.upsert(form, || Form { letters: letters(form), tools: 1, in_names: named }, change);
    }

    fn remove_form(&mut self, form: &str, fields: u8) {
        let named = u32::from(is_named(fields));
        self.forms.shrink(form, |known| {
            known.tools = known.tools.saturating_sub(1);
            known.in_names = known.in_names.saturating_sub(named);
            known.tools == 0
        });
    }

    /// How much a word says that `having` tools have.
    pub(super) fn rarity(&self, having: usize) -> f64 {
        let (all, having) = (self.live as f64, having as f64);
        (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
    }
}

fn is_named(fields: u8) -> bool {
    fields & (Field::Name.bit() | Field::Alias.bit() | Field::Namespace.bit()) != 0
}
