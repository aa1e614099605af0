//! One thing asked for, and the words that stand for it.

use super::{Asked, guesses};
use crate::search::index::{Contents, Postings};
use crate::search::text::{is_weak_word, stem};

/// What a rarity of 1 is, in scores; see [`Alternative::rate`].
const ONE: f64 = 4096.0;
/// How much a word counts that mostly belongs to how a question is asked, in hundredths.
const WEAK_SHARE: f64 = 60.0;
/// How much two neighbouring words count as one, in hundredths.
const JOINED_SHARE: u32 = 90;

/// One thing asked for.
#[derive(Debug)]
pub(in crate::search) struct Concept<'i> {
    /// As it was asked for.
    pub(in crate::search) asked: String,
    /// What stands for it. Of those a tool has, the best one counts.
    pub(in crate::search) alternatives: Vec<Alternative<'i>>,
}

/// A word that stands for what was asked for.
#[derive(Debug)]
pub(in crate::search) struct Alternative<'i> {
    /// The word.
    pub(in crate::search) word: String,
    /// Why it stands for what was asked.
    pub(in crate::search) how: How,
    /// The tools that have it.
    pub(in crate::search) postings: &'i Postings,
    /// What a full weight of it is worth: its rarity and its share, in units of [`ONE`]; below 65,536.
    pub(in crate::search) rate: u32,
}

/// Why a word stands for what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::search) enum How {
    /// It is the word, with whatever ending.
    Word,
    /// It begins with it.
    Prefix,
    /// It is two words in one, or one in two.
    Joined,
    /// It means the same.
    Synonym,
    /// It is spelled nearly alike.
    Typo,
}

impl How {
    pub(in crate::search) const fn as_str(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Prefix => "prefix",
            Self::Joined => "joined",
            Self::Synonym => "synonym",
            Self::Typo => "typo",
        }
    }
}

impl<'i> Concept<'i> {
    /// The word itself, or those that begin with it.
    pub(super) fn exact(&mut self, index: &'i Contents, one: &Asked) {
        if one.prefix {
            guesses::prefixed(index, self, &one.token.word, 100);
        } else {
            self.add(index, &one.term, &one.token.word, How::Word, 100);
        }
    }

    /// Two words that are one word of a name.
    pub(super) fn joined(&mut self, index: &'i Contents, one: &str, next: &str) {
        let both = format!("{one}{next}");
        if index.forms.get(&both).is_some_and(|form| form.in_names > 0) {
            self.add(index, &stem(&both), &both, How::Joined, JOINED_SHARE);
        }
    }

    /// Adds a word with its share in hundredths. What stands for a word says no more than that word would.
    pub(super) fn add(&mut self, index: &'i Contents, term: &str, word: &str, how: How, share: u32) {
        let Some(postings) = index.terms.get(term) else { return };
        let mut rarity = index.rarity(postings.len());
        if how == How::Synonym
            && let Some(exact) = self.alternatives.iter().find(|one| one.how == How::Word)
        {
            rarity = rarity.min(f64::from(exact.rate) / ONE);
        }
        let weak = if is_weak_word(&self.asked) { WEAK_SHARE / 100.0 } else { 1.0 };
        let rate = (rarity * ONE * weak * f64::from(share) / 100.0).round().clamp(1.0, 65_535.0) as u32;
        let known = self.alternatives.iter_mut().find(|one| std::ptr::eq(one.postings, postings));
        match known {
            Some(known) if known.rate >= rate => {}
            Some(known) => *known = Alternative { word: word.to_owned(), how, postings, rate },
            None => self.alternatives.push(Alternative { word: word.to_owned(), how, postings, rate }),
        }
    }
}
