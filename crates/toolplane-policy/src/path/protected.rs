//! Paths whose change would change what runs later: never written without a question.

use toolplane_records::workspace;

/// Whether a normalised path beneath the workspace is protected; see [`workspace::protection`].
pub fn is_protected(inside: &str) -> bool {
    workspace::protection(inside).is_some()
}
