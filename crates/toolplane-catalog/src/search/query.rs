//! What a question means, before anything is looked up.
//!
//! `word`, `word*`, `"some words"`, `+must`, `-not`, `namespace:x`, `kind:x`, `risk:x`, `provider:x`, and `select:a,b` alone. What is
//! none of these is plain words: people and models ask in sentences, and nothing they write is an error, but a filter whose
//! value nothing can have.

mod parse;
#[cfg(test)]
mod tests;

pub use parse::parse;
use toolplane_records::vocabulary::{RiskLevel, ToolKind};

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

/// What a tool has to be, or must not be. Several of one kind: one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// What is compared.
    pub by: FilterKind,
    /// With what, in lower case.
    pub value: String,
    /// Whether those that fit are left out.
    pub not: bool,
}

/// What tools are filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilterKind {
    /// The namespace, or one above it.
    Namespace,
    /// The kind of the tool.
    Kind,
    /// Its declared risk.
    Risk,
    /// The provider it comes from.
    Provider,
}

/// A filter no tool can fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryFault {
    /// Which.
    pub by: FilterKind,
    /// What is wrong with it.
    pub message: String,
}

impl FilterKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Namespace, Self::Kind, Self::Risk, Self::Provider];

    /// The word before the colon.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::Kind => "kind",
            Self::Risk => "risk",
            Self::Provider => "provider",
        }
    }
}

impl Filter {
    /// A filter by what people write.
    ///
    /// # Errors
    ///
    /// A kind or a risk that does not exist.
    pub fn new(by: FilterKind, value: &str, not: bool) -> Result<Self, QueryFault> {
        let value = value.to_lowercase();
        let fault = |words: Vec<&str>| {
            let known = words.join(", ");
            let told = crate::violations::shown(&value, 40);
            QueryFault { by, message: format!("`{told}` is no {} of a tool; there are {known}", by.as_str()) }
        };
        match by {
            FilterKind::Kind if value.parse::<ToolKind>().is_err() => {
                Err(fault(ToolKind::ALL.iter().map(|kind| kind.as_str()).collect()))
            }
            FilterKind::Risk if value.parse::<RiskLevel>().is_err() => {
                Err(fault(RiskLevel::ALL.iter().map(|risk| risk.as_str()).collect()))
            }
            _ => Ok(Self { by, value, not }),
        }
    }
}
