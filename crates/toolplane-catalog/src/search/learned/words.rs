//! The words of a question that something can be learned of.

use std::borrow::Cow;
use std::collections::HashSet;

use toolplane_cleaning::sent;

use crate::search::query::{Clause, ClauseText, Need, Query, WordsQuery, parse};
use crate::search::text::{Side, is_stop_word, is_weak_word, stem, tokens};

/// Most words of a question that something is learned of.
const MAX_WORDS: usize = 16;
/// Longer ones are no words of a language, but keys and numbers that nobody should find here.
const MAX_CHARS: usize = 32;
/// Longer ones with a digit in them are numbers of things, and parts of keys.
const MAX_CHARS_WITH_DIGIT: usize = 8;

/// A word of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) struct Word {
    /// As it was asked.
    pub(in crate::search) asked: String,
    /// Without its ending.
    pub(in crate::search) term: String,
}

/// The words of a question, without their endings; none where tools are asked for by name, and none of a question with a credential in it:
/// what is learned is kept, and told to others.
pub fn words_of(text: &str) -> Vec<String> {
    if matches!(sent::shown_text(text), Cow::Owned(_)) {
        return Vec::new();
    }
    match parse(text) {
        Ok(Query::Words(query)) => words_asked(&query).into_iter().map(|word| word.term).collect(),
        Ok(Query::Select(_)) | Err(_) => Vec::new(),
    }
}

/// The words of a question, each once.
pub(in crate::search) fn words_asked(query: &WordsQuery) -> Vec<Word> {
    let wanted = query.clauses.iter().filter(|clause| clause.need != Need::Not).filter_map(text_of);
    let tokens = wanted.flat_map(|text| tokens(text, Side::Query)).filter(|token| !token.whole);
    let words = tokens.map(|token| Word { term: stem(&token.word), asked: token.word });
    let mut seen = HashSet::new();
    let words = words.filter(|word| says_something(&word.asked) && seen.insert(word.term.clone()));
    words.take(MAX_WORDS).collect()
}

/// A beginning is no word.
fn text_of(clause: &Clause) -> Option<&str> {
    match &clause.text {
        ClauseText::Plain(text) | ClauseText::Phrase(text) => Some(text),
        ClauseText::Prefix(_) => None,
    }
}

fn says_something(word: &str) -> bool {
    let alone = word.len() == 1;
    let number = word.chars().all(char::is_numeric);
    let most = if word.contains(char::is_numeric) { MAX_CHARS_WITH_DIGIT } else { MAX_CHARS };
    !alone && !number && word.chars().count() <= most && !is_stop_word(word) && !is_weak_word(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_numbers_teach_nothing() {
        let words = words_of("archive s3 buckets of 2024");
        assert!(words.contains(&"bucket".to_owned()) && !words.contains(&"2024".to_owned()), "{words:?}");
        assert!(words_of("clone with ghp_0123456789abcdefghijABCDEFGHIJ012345").is_empty());
        assert!(words_of("log in with password: Tr0ub4dor-x9Q!").is_empty());
        let words = words_of("invoice 4f1c9a7be2d0 paid");
        assert!(words.len() >= 2 && words.iter().all(|word| word.len() < 8), "{words:?}");
    }
}
