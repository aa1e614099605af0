//! What a question means, before anything is looked up.
//!
//! `word`, `word*`, `"some words"`, `+must`, `-not`, the filters of [`FilterKind`](crate::filter::FilterKind) as `namespace:x`, and
//! `select:a,b` alone. What is none of these is plain words: people and models ask in sentences, and nothing they write is an error, but a filter whose
//! value nothing can have.

mod parse;
#[cfg(test)]
mod tests;

pub use parse::parse;

use crate::filter::Filter;

/// A question, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Tools by their names.
    Select(Vec<String>),
    /// Tools by words and filters.
    Words(WordsQuery),
}

/// A question of words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordsQuery {
    /// What is asked for, in order.
    pub clauses: Vec<Clause>,
    /// What every answer has to be.
    pub filters: Vec<Filter>,
    /// Everything that is asked for as plain text: perhaps it is a name.
    pub plain: String,
}

/// Words, and whether they have to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Whether tools with it are wanted.
    pub need: Need,
    /// What.
    pub text: ClauseText,
}

/// Whether tools with some words are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The better for it.
    May,
    /// No others.
    Must,
    /// None.
    Not,
}

/// Words of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseText {
    /// Words as they are written; an identifier is several.
    Plain(String),
    /// The beginning of a word.
    Prefix(String),
    /// Words that follow each other.
    Phrase(String),
}
