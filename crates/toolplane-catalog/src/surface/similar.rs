//! Names a caller may have meant.

use crate::catalog::Entry;

/// Most names that are suggested.
const MAX_SIMILAR: usize = 3;
/// Longest text that is compared; what is longer is no slip of the keyboard.
const MAX_COMPARED: usize = 128;

/// Full names of up to three tools close to `name`, the closest first.
///
/// Close means few edits away from the full or the bare name, or part of the full name.
pub(crate) fn similar_names<'a>(name: &str, entries: impl Iterator<Item = &'a Entry>) -> Vec<String> {
    let wanted = plain(name);
    if wanted.is_empty() || wanted.len() > MAX_COMPARED {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = entries
        .filter_map(|entry| {
            let full = entry.tool.full_name();
            let bare = &entry.tool.registration().declaration.name;
            let allowed = (wanted.chars().count() / 3).max(1);
            let nearest = near(&wanted, &plain(full), allowed).min(near(&wanted, &plain(bare), allowed));
            let contained = wanted.len() >= 4 && plain(full).contains(&wanted);
            (nearest <= allowed || contained).then_some((nearest, full))
        })
        .collect();
    found.sort();
    found.into_iter().take(MAX_SIMILAR).map(|(_, full)| full.to_owned()).collect()
}

/// Lower case with one separator, so that `files__readFile` and `files.readfile` are the same.
fn plain(name: &str) -> String {
    let lower = name.to_ascii_lowercase().replace("__", ".");
    lower.replace(['_', '-', '/', ':'], ".")
}

/// The distance, unless the lengths alone tell that it is more than `allowed`.
fn near(a: &str, b: &str, allowed: usize) -> usize {
    if a.len().abs_diff(b.len()) > allowed { usize::MAX } else { distance(a, b) }
}

/// How many characters have to be inserted, removed, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or_default()
}
