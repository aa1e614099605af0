//! What a write changed, shown as a diff where that is short enough to be read.

use std::time::Duration;

use similar::{Algorithm, TextDiff};
use toolplane_records::result::ContentBlock;

/// Longest file, before or after, that is compared.
const MAX_COMPARED: usize = 256 * 1024;
/// Longest diff that is shown, and longest text before and after that is shown with it.
const MAX_SHOWN: usize = 16 * 1024;
/// Most changed places that are named.
const MAX_LINES: usize = 256;
/// Texts without a line in common take long to compare; what is found by then is still a right diff, only not the shortest.
const PATIENCE: Duration = Duration::from_millis(200);

/// The change in unified format; nothing when it is long, when the texts are equal, or when either is not text.
pub(super) fn diff(path: &str, before: Option<&[u8]>, after: &[u8]) -> Option<ContentBlock> {
    let old = text(before.unwrap_or_default())?;
    let new = text(after)?;
    let changes = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(old, new);
    let from = if before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let text = changes.unified_diff().context_radius(3).header(&from, &format!("b/{path}")).to_string();
    let places = changes.grouped_ops(0);
    let places = places.iter().filter_map(|group| group.first()).take(MAX_LINES);
    let lines = places.map(|change| line(change.new_range().start)).collect();
    let whole = |given: &str| (given.len() <= MAX_SHOWN).then(|| given.to_owned());
    let (old_text, new_text) = (before.and(whole(old)), whole(new));
    let diff = ContentBlock::Diff { text, path: path.to_owned(), lines, old_text, new_text };
    diff.text().is_some_and(|text| !text.is_empty() && text.len() <= MAX_SHOWN).then_some(diff)
}

/// Lines are counted from 1.
fn line(index: usize) -> u32 {
    u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX)
}

fn text(bytes: &[u8]) -> Option<&str> {
    let small = bytes.len() <= MAX_COMPARED && !bytes.contains(&0);
    std::str::from_utf8(bytes).ok().filter(|_| small)
}
