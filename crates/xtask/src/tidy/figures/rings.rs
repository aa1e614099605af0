//! Files that import each other in a circle: none of them can be read, moved or tested without the others.

use std::collections::{BTreeMap, BTreeSet};

/// Most files of a circle that is not worth telling: a module and what it is made of.
pub(super) const SMALL: usize = 3;

/// The groups of files in which each leads to each other, the largest first.
pub(super) fn rings<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = edges.keys().map(|file| (*file, reached_from(file, edges))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (file, from_it) in &reached {
        if seen.contains(file) || !from_it.contains(file) {
            continue;
        }
        let ring: BTreeSet<&str> = from_it.iter().copied().filter(|other| reached[other].contains(file)).collect();
        seen.extend(ring.iter().copied());
        found.push(ring);
    }
    found.retain(|ring| ring.len() > SMALL);
    found.sort_by_key(|ring| std::cmp::Reverse(ring.len()));
    found
}

fn reached_from<'a>(start: &str, edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&'a str> = edges.get(start).into_iter().flatten().copied().collect();
    while let Some(file) = open.pop() {
        if reached.insert(file) {
            open.extend(edges.get(file).into_iter().flatten());
        }
    }
    reached
}
