//! Words that mean the same: what people add, and a starter set for words of tools.

mod starter;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::text::{Side, stem, tokens};

/// Most groups one tenant may have.
pub const MAX_GROUPS: usize = 2_000;
/// Most words of a group.
pub const MAX_GROUP_WORDS: usize = 32;
/// Longest word or phrase of a group, in words.
const MAX_PHRASE_WORDS: usize = 4;
/// Longest word or phrase of a group, in characters.
const MAX_WORD_CHARS: usize = 100;

/// How much a word counts that stands for another one, in hundredths, by who says so.
const OWN_SHARE: u32 = 75;
const STARTER_SHARE: u32 = 50;

/// Words that mean the same. A value: searches are handed the one of their tenant.
#[derive(Clone, Debug, Default)]
pub struct Thesaurus {
    /// What is said beside another one, which many may share.
    beside: Option<Arc<Thesaurus>>,
    /// From words without endings, with spaces between them. What is here is all that is known of them, also by the other one.
    entries: HashMap<String, Vec<Arc<Synonym>>>,
    longest: usize,
}

/// What else stands for a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Synonym {
    /// As people write it.
    pub(super) written: String,
    /// Its words without endings.
    pub(super) terms: Vec<String>,
    /// How much it counts, in hundredths.
    pub(super) share: u32,
}

/// A group of words that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadGroup {
    /// Which group.
    pub index: usize,
    /// What is wrong with it, as a phrase that follows its place.
    pub rule: String,
}

impl Thesaurus {
    /// The starter set alone.
    pub fn starter() -> Arc<Self> {
        static STARTER: LazyLock<Arc<Thesaurus>> = LazyLock::new(|| {
            let mut thesaurus = Thesaurus::default();
            for group in starter::GROUPS {
                thesaurus.join(&group.split(' ').map(|word| word.replace('_', " ")).collect::<Vec<_>>(), STARTER_SHARE);
            }
            Arc::new(thesaurus)
        });
        Arc::clone(&STARTER)
    }

    /// No words at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// This one, and groups of words that people say mean the same. What they say counts more than the starter set.
    ///
    /// # Errors
    ///
    /// The first group that is too large, too small, or has a word nothing is left of.
    pub fn with(self: &Arc<Self>, groups: &[Vec<String>]) -> Result<Self, BadGroup> {
        if groups.len() > MAX_GROUPS {
            let rule = format!("is one too many; at most {MAX_GROUPS} groups are allowed");
            return Err(BadGroup { index: MAX_GROUPS, rule });
        }
        let mut thesaurus = Self { beside: Some(Arc::clone(self)), entries: HashMap::default(), longest: self.longest };
        for (index, group) in groups.iter().enumerate() {
            check_group(group).map_err(|rule| BadGroup { index, rule })?;
            thesaurus.join(group, OWN_SHARE);
        }
        Ok(thesaurus)
    }

    fn join(&mut self, group: &[String], share: u32) {
        let synonym = |word: &String| Arc::new(Synonym { written: word.clone(), terms: terms(word), share });
        let all: Vec<Arc<Synonym>> = group.iter().map(synonym).collect();
        for word in &all {
            let key = word.terms.join(" ");
            let beside = self.beside.as_ref().and_then(|other| other.known(&key)).unwrap_or_default();
            let known = self.entries.entry(key).or_insert_with(|| beside.to_vec());
            self.longest = self.longest.max(word.terms.len());
            for other in all.iter().filter(|other| other.terms != word.terms) {
                match known.iter_mut().find(|synonym| synonym.terms == other.terms) {
                    Some(synonym) if synonym.share >= share => {}
                    Some(synonym) => *synonym = Arc::clone(other),
                    None => known.push(Arc::clone(other)),
                }
            }
        }
    }

    fn known(&self, key: &str) -> Option<&[Arc<Synonym>]> {
        let beside = || self.beside.as_ref().and_then(|other| other.known(key));
        self.entries.get(key).map(Vec::as_slice).or_else(beside)
    }

    /// What else stands for the longest run of words at the beginning of `terms`, and how many words that run has.
    pub(super) fn of(&self, terms: &[String]) -> Option<(usize, &[Arc<Synonym>])> {
        let most = self.longest.min(terms.len());
        (1..=most).rev().find_map(|words| Some((words, self.known(&terms[..words].join(" "))?)))
    }
}

/// Whether words can be a group.
///
/// # Errors
///
/// What is wrong with them, as a phrase that follows their place.
pub fn check_group(group: &[String]) -> Result<(), String> {
    if !(2..=MAX_GROUP_WORDS).contains(&group.len()) {
        return Err(format!("has {} words; 2 to {MAX_GROUP_WORDS} are allowed", group.len()));
    }
    for word in group {
        let (terms, told) = (terms(word), crate::violations::shown(word, 40));
        if terms.is_empty() || terms.len() > MAX_PHRASE_WORDS || word.chars().any(char::is_control) {
            return Err(format!("has `{told}`, which is not 1 to {MAX_PHRASE_WORDS} words of letters and digits"));
        }
        if word.chars().count() > MAX_WORD_CHARS {
            return Err(format!("has `{told}`, which is longer than {MAX_WORD_CHARS} characters"));
        }
    }
    Ok(())
}

/// What a word or phrase of a group is known by: how it is written does not matter, nor do endings.
pub fn group_key(word: &str) -> String {
    terms(word).join(" ")
}

fn terms(text: &str) -> Vec<String> {
    let words = tokens(text, Side::Query).into_iter().filter(|token| !token.whole);
    words.map(|token| stem(&token.word)).collect()
}
