//! Whether the words of a phrase follow each other in a tool.

use std::cell::Cell;

use super::index::Field;
use super::text::{Side, stem, tokens};
use crate::validate::Checked;

/// Most tools whose texts are read for one question.
const MAX_READ: usize = 2_000;

/// The phrases of a question; the texts of so many tools are read for them, and no more.
pub(super) struct Phrases<'p> {
    wanted: &'p [Vec<String>],
    unwanted: &'p [Vec<String>],
    left: Cell<usize>,
}

impl<'p> Phrases<'p> {
    pub(super) fn new(wanted: &'p [Vec<String>], unwanted: &'p [Vec<String>]) -> Self {
        Self { wanted, unwanted, left: Cell::new(MAX_READ) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    /// Whether all wanted phrases are in the tool, and no unwanted one.
    pub(super) fn fit(&self, tool: &Checked) -> bool {
        if self.is_empty() {
            return true;
        }
        let Some(left) = self.left.get().checked_sub(1) else { return false };
        self.left.set(left);
        let fields: Vec<Vec<String>> = Field::ALL.into_iter().map(|field| terms(&field.text(tool))).collect();
        let has = |phrase: &Vec<String>| {
            phrase.is_empty() || fields.iter().any(|terms| terms.windows(phrase.len()).any(|window| window == phrase))
        };
        self.wanted.iter().all(has) && !self.unwanted.iter().any(has)
    }
}

fn terms(text: &str) -> Vec<String> {
    let words = tokens(text, Side::Query).into_iter().filter(|token| !token.whole);
    words.map(|token| stem(&token.word)).collect()
}
