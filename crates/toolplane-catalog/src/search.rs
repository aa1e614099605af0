//! Finding tools by what they are called and what they do.
//!
//! ```text
//! text ──query──► clauses, filters ──plan──► words that stand for them ──rank──► places, best first ──answer──► matches
//!                  (thesaurus, typos, prefixes, what use taught)        (index)          (what the surface shows,
//!                                                                                                    and what is near)
//! ```

mod answer;
pub(crate) mod index;
mod learned;
mod near;
mod phrases;
mod plan;
pub mod query;
mod rank;
mod reasons;
mod select;
mod shown;
#[cfg(test)]
mod tests;
mod text;
mod thesaurus;
mod typos;

pub use crate::filter::{Filter, FilterKind, QueryFault};
pub use answer::{Answer, Question, next_action, search};
pub use index::{SearchIndex, Snapshot};
pub use learned::{Learned, Lesson, NOTEBOOKS, Notebook, Recall, words_of};
pub use near::{Nearest, meant, told};
pub use rank::Position;
pub use shown::{Everything, Seen, Shown};
pub(crate) use text::fold;
pub use thesaurus::{BadGroup, MAX_GROUP_WORDS, MAX_GROUPS, Thesaurus, check_group, group_key};
