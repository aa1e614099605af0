//! What a write changed, shown as a diff where that is short enough to be read.

use std::time::Duration;

use similar::{Algorithm, TextDiff};
use toolplane_records::result::ContentBlock;

/// Longest file, before or after, that is compared.
const MAX_COMPARED: usize = 256 * 1024;
/// Longest diff that is shown.
const MAX_SHOWN: usize = 16 * 1024;
/// Texts without a line in common take long to compare; what is found by then is still a right diff, only not the shortest.
const PATIENCE: Duration = Duration::from_millis(200);

/// The change in unified format; nothing when it is long, when the texts are equal, or when either is not text.
pub(super) fn diff(path: &str, before: Option<&[u8]>, after: &[u8]) -> Option<ContentBlock> {
    let old = text(before.unwrap_or_default())?;
    let new = text(after)?;
    let changes = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(old, new);
    let from = if before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let text = changes.unified_diff().context_radius(3).header(&from, &format!("b/{path}")).to_string();
    (!text.is_empty() && text.len() <= MAX_SHOWN).then_some(ContentBlock::Diff { text })
}

fn text(bytes: &[u8]) -> Option<&str> {
    let small = bytes.len() <= MAX_COMPARED && !bytes.contains(&0);
    std::str::from_utf8(bytes).ok().filter(|_| small)
}
