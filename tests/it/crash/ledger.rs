//! What the tools wrote about themselves: one line per start.

use std::collections::BTreeMap;
use std::path::Path;

/// The ledger of one kind of tool, below the workspace.
pub(crate) fn file_of(idempotent: bool) -> &'static str {
    if idempotent { "again.txt" } else { "once.txt" }
}

/// How often each mark was written.
pub(crate) fn read(workspace: &Path, idempotent: bool) -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(workspace.join(file_of(idempotent))).unwrap_or_default();
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}
