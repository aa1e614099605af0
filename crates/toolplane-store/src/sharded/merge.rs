//! Answers of several shards as one, in the order of the contract.

use std::collections::BTreeSet;

use crate::key::Versioned;
use crate::page::IndexEntry;

/// Pages of one index as one page of at most `limit` entries. An entry that several shards have is there once.
pub(super) fn entries(mut pages: Vec<Vec<IndexEntry>>, reverse: bool, limit: usize) -> Vec<IndexEntry> {
    if pages.len() == 1 {
        return pages.pop().unwrap_or_default();
    }
    let mut all: Vec<IndexEntry> = pages.into_iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    if reverse {
        all.reverse();
    }
    all.truncate(limit);
    all
}

/// Names that any of the shards has, sorted.
pub(super) fn names(pages: Vec<Vec<String>>) -> Vec<String> {
    pages.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Pages of one family as one page of at most `limit` records.
pub(super) fn records(pages: Vec<Vec<(String, Versioned)>>, limit: usize) -> Vec<(String, Versioned)> {
    let mut all: Vec<(String, Versioned)> = pages.into_iter().flatten().collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all.dedup_by(|later, earlier| later.0 == earlier.0);
    all.truncate(limit);
    all
}
