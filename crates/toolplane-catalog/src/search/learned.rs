//! What use teaches: which words of questions led to which tool.
//!
//! ```text
//! a question, then the use of a tool it found ──► Lesson ──► Notebook (kept, by tools) ──► Learned (by words) ──► order, and why
//! ```
//!
//! A word taught so says at most three quarters of what it would say as a word of the tool itself, and less the more it led elsewhere.
//! Everything here is about one tenant.

mod notebook;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;

use smol_str::SmolStr;
use toolplane_records::ids::ToolId;

pub use notebook::{Lesson, NOTEBOOKS, Notebook};
use notebook::{ONE, weight_at};
pub use words::words_of;
pub(super) use words::{Word, words_asked};

use super::index::{Contents, KeyKind, key};
use super::rank::SCORE_ONE;

/// Most tools that are remembered of a word, those it led to most.
const MAX_TOOLS_OF_WORD: usize = 64;
/// The most a word can say that use alone has taught, as a part of what the word says where it is rare.
const MOST: f64 = 0.75;
/// A word that led to a tool so often says half of the most.
const HALF_SURE: f64 = 1.0;

/// What use has taught, by words. Searches are handed the one of their tenant.
#[derive(Debug, Default)]
pub struct Learned {
    words: HashMap<SmolStr, Vec<Known>>,
    half_life_days: u32,
}

/// How often a word led to a tool.
#[derive(Clone, Debug)]
struct Known {
    tool: ToolId,
    weight: u32,
    day: u32,
}

/// What use has taught, as it counts on a day.
#[derive(Clone, Copy, Debug)]
pub struct Recall<'a> {
    learned: &'a Learned,
    day: u32,
}

/// A tool that use says something for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taught {
    pub(super) place: u32,
    pub(super) by: Vec<TaughtWord>,
}

/// What use says of a tool and a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TaughtWord {
    /// The word as it was asked.
    pub(super) asked: String,
    pub(super) worth: u32,
    /// How often it led to the tool, what is long ago counting less.
    pub(super) times: u32,
}

impl Learned {
    /// What some notebooks say together. What they say counts half after `half_life_days`.
    pub fn of<'n>(notebooks: impl IntoIterator<Item = &'n Notebook>, half_life_days: u32) -> Self {
        let mut words: HashMap<SmolStr, Vec<Known>> = HashMap::new();
        for (tool, word, evidence) in notebooks.into_iter().flat_map(Notebook::entries) {
            let known = Known { tool: tool.clone(), weight: evidence.weight, day: evidence.day };
            words.entry(word.clone()).or_default().push(known);
        }
        let newest = words.values().flatten().map(|known| known.day).max().unwrap_or_default();
        for known in words.values_mut().filter(|known| known.len() > MAX_TOOLS_OF_WORD) {
            let weight = |one: &Known| weight_at(one.weight, one.day, newest, half_life_days);
            known.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.tool.cmp(&b.tool)));
            known.truncate(MAX_TOOLS_OF_WORD);
        }
        Self { words, half_life_days }
    }

    /// What this says on a day, counted since 1970.
    pub fn on(&self, day: u32) -> Recall<'_> {
        Recall { learned: self, day }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl<'a> Recall<'a> {
    /// The tools that use says something for, each once, in order of places.
    pub(super) fn taught(self, index: &Contents, asked: &[Word]) -> Vec<Taught> {
        let mut by_tool: HashMap<&ToolId, Vec<TaughtWord>> = HashMap::new();
        for word in asked {
            for (tool, worth, times) in self.tools(index, word) {
                by_tool.entry(tool).or_default().push(TaughtWord { asked: word.asked.clone(), worth, times });
            }
        }
        let found = by_tool.into_iter().filter_map(|(tool, by)| Some(Taught { place: place_of(index, tool)?, by }));
        let mut taught: Vec<Taught> = found.collect();
        taught.sort_unstable_by_key(|one| one.place);
        taught
    }

    /// The tools a word led to, with what that is worth and how often it was.
    fn tools(self, index: &Contents, word: &Word) -> Vec<(&'a ToolId, u32, u32)> {
        let Some(known) = self.learned.words.get(word.term.as_str()) else { return Vec::new() };
        let weight = |one: &Known| f64::from(weight_at(one.weight, one.day, self.day, self.learned.half_life_days));
        let all: f64 = known.iter().map(weight).sum();
        let having = index.terms.get(&word.term).map_or(0, |postings| postings.len());
        let full = index.rarity(having.max(1)) * MOST * SCORE_ONE;
        let told = known.iter().filter_map(|one| {
            let times = weight(one);
            let sure = times / (times + HALF_SURE * f64::from(ONE));
            let worth = (full * sure * times / all.max(1.0)) as u32;
            (worth > 0).then(|| (&one.tool, worth, (times / f64::from(ONE)).ceil() as u32))
        });
        told.collect()
    }
}

impl Taught {
    pub(super) fn worth(&self) -> u32 {
        self.by.iter().map(|word| word.worth).sum()
    }
}

/// Where a tool is; nowhere when it is not there any more. Another tool may have its id as a name.
pub(super) fn place_of(index: &Contents, tool: &ToolId) -> Option<u32> {
    let mut places = index.terms.get(&key(KeyKind::Name, tool.as_str()))?.places();
    places.find(|place| index.tools.get(*place).is_some_and(|entry| entry.tool_id() == tool))
}
