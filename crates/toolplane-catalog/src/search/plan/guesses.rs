//! What stands for a word that no tool has, or hardly any: words it begins, two words it is made of, words that are spelled
//! nearly like it.

use super::{Concept, How};
use crate::search::index::Contents;
use crate::search::text::stem;
use crate::search::typos::meant;

/// Most words that begin with one.
pub(super) const MAX_PREFIXED: usize = 32;
/// Of a word that is not said to be a beginning, these.
const MAX_ABBREVIATED: usize = 8;
/// Most words of one question that are guessed at.
const MAX_GUESSED: usize = 8;
/// Shortest beginning that is guessed from.
const MIN_BEGINNING: usize = 3;
/// Shortest part of a word that is two.
const MIN_PART: usize = 3;
/// A word that fewer than one tool of so many has may be a slip that somebody made before.
const SELDOM: usize = 2_000;

/// How much guesses count, in hundredths.
const BEGUN_SHARE: u32 = 60;
const PART_SHARE: u32 = 80;
const ONE_EDIT_SHARE: u32 = 75;
const TWO_EDITS_SHARE: u32 = 50;

/// The guesses of one question: so many, and no more.
pub(super) struct Guesses<'i> {
    index: &'i Contents,
    left: usize,
}

impl<'i> Guesses<'i> {
    pub(super) fn new(index: &'i Contents) -> Self {
        Self { index, left: MAX_GUESSED }
    }

    /// Guesses at a word no tool has. What more than one thing is asked for is given back beside `concept`.
    pub(super) fn guess(&mut self, concept: &mut Concept<'i>, word: &str) -> Option<Concept<'i>> {
        if self.left == 0 || word.chars().all(|c| c.is_numeric()) {
            return None;
        }
        self.left -= 1;
        if word.chars().count() >= MIN_BEGINNING && word.is_ascii() {
            prefixed(self.index, concept, word, BEGUN_SHARE);
        }
        let rest = self.parts(concept, word);
        if rest.is_none() {
            self.misspelt(concept, word);
        }
        rest
    }

    /// Doubts a word that hardly any tool has, where a word of more tools is one letter away.
    pub(super) fn doubt(&mut self, concept: &mut Concept<'i>, word: &str) {
        let known = self.index.forms.get(word);
        let seldom = known.is_some_and(|form| (form.tools as usize) * SELDOM < self.index.live && form.in_names == 0);
        if seldom && self.left > 0 {
            self.left -= 1;
            self.misspelt(concept, word);
        }
    }

    fn misspelt(&self, concept: &mut Concept<'i>, word: &str) {
        let mut found = meant(&self.index.forms, word);
        let root = stem(word);
        if found.is_empty() && root != word {
            // The word with another ending may be there.
            found = meant(&self.index.forms, &root);
        }
        for meant in found {
            let share = if meant.edits == 1 { ONE_EDIT_SHARE } else { TWO_EDITS_SHARE };
            concept.add(self.index, &stem(&meant.word), &meant.word, How::Typo, share);
        }
    }

    /// The word as two words that tools have, those that most have.
    fn parts(&self, concept: &mut Concept<'i>, word: &str) -> Option<Concept<'i>> {
        if !word.is_ascii() || word.len() < 2 * MIN_PART {
            return None;
        }
        let tools = |part: &str| self.index.forms.get(part).map(|form| form.tools);
        let cut = (MIN_PART..=word.len() - MIN_PART).filter_map(|at| {
            let (first, second) = word.split_at(at);
            Some((tools(first)?.min(tools(second)?), first, second))
        });
        let (_, first, second) = cut.max_by_key(|(tools, first, _)| (*tools, first.len()))?;
        concept.add(self.index, &stem(first), first, How::Joined, PART_SHARE);
        let mut rest = Concept { asked: concept.asked.clone(), alternatives: Vec::new() };
        rest.add(self.index, &stem(second), second, How::Joined, PART_SHARE);
        Some(rest)
    }
}

/// Adds the words that begin with `beginning`: those in names first, then those of most tools.
pub(super) fn prefixed<'i>(index: &'i Contents, concept: &mut Concept<'i>, beginning: &str, share: u32) {
    let most = if share == 100 { MAX_PREFIXED } else { MAX_ABBREVIATED };
    // The walk is bounded too: a beginning of one letter is that of many words.
    let mut found: Vec<_> = index.forms.with_prefix(beginning).take(64 * MAX_PREFIXED).collect();
    found.sort_by_key(|(word, form)| (form.in_names == 0, std::cmp::Reverse(form.tools), *word));
    for (word, _) in found.into_iter().take(most) {
        concept.add(index, &stem(word), word, How::Prefix, share);
    }
}
