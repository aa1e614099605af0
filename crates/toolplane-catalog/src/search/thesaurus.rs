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
    /// From words without endings, with spaces between them.
    entries: HashMap<String, Vec<Synonym>>,
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
    pub fn with(&self, groups: &[Vec<String>]) -> Result<Self, BadGroup> {
        let bad = |index, rule: &str| BadGroup { index, rule: rule.to_owned() };
        if groups.len() > MAX_GROUPS {
            return Err(bad(MAX_GROUPS, &format!("is one too many; at most {MAX_GROUPS} groups are allowed")));
        }
        let mut thesaurus = self.clone();
        for (index, group) in groups.iter().enumerate() {
            if !(2..=MAX_GROUP_WORDS).contains(&group.len()) {
                return Err(bad(index, &format!("has {} words; 2 to {MAX_GROUP_WORDS} are allowed", group.len())));
            }
            for word in group {
                let terms = terms(word);
                if terms.is_empty() || terms.len() > MAX_PHRASE_WORDS || word.chars().count() > MAX_WORD_CHARS {
                    let told = crate::violations::shown(word, 40);
                    let rule =
                        format!("has `{told}`, which is not 1 to {MAX_PHRASE_WORDS} words of letters and digits");
                    return Err(bad(index, &rule));
                }
            }
            thesaurus.join(group, OWN_SHARE);
        }
        Ok(thesaurus)
    }

    fn join(&mut self, group: &[String], share: u32) {
        let all: Vec<Synonym> =
            group.iter().map(|word| Synonym { written: word.clone(), terms: terms(word), share }).collect();
        for word in &all {
            let known = self.entries.entry(word.terms.join(" ")).or_default();
            self.longest = self.longest.max(word.terms.len());
            for other in all.iter().filter(|other| other.terms != word.terms) {
                match known.iter_mut().find(|synonym| synonym.terms == other.terms) {
                    Some(synonym) => synonym.share = synonym.share.max(share),
                    None => known.push(other.clone()),
                }
            }
        }
    }

    /// What else stands for the longest run of words at the beginning of `terms`, and how many words that run has.
    pub(super) fn of(&self, terms: &[String]) -> Option<(usize, &[Synonym])> {
        let most = self.longest.min(terms.len());
        (1..=most).rev().find_map(|words| Some((words, self.entries.get(&terms[..words].join(" "))?.as_slice())))
    }
}

fn terms(text: &str) -> Vec<String> {
    let words = tokens(text, Side::Query).into_iter().filter(|token| !token.whole);
    words.map(|token| stem(&token.word)).collect()
}
