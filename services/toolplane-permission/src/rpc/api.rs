//! What the handlers of the role share.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_hooks::Hooks;
use toolplane_runtime::ApiError;

use crate::approvals::Book;
use crate::rules::RuleBook;
use crate::shadow::Shadow;

/// What the handlers share. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct PermissionApi {
    pub(crate) rules: Arc<RuleBook>,
    pub(crate) book: Arc<Book>,
    pub(crate) hooks: Hooks,
    pub(crate) shadow: Arc<Shadow>,
    pub(crate) approval_ttl_ms: u64,
    pub(crate) poll_every: Duration,
    /// Cancelled when streams are to end.
    pub(crate) stopping: CancellationToken,
}

/// Longest text that a person may leave, in characters.
pub(super) const MAX_TEXT_CHARS: usize = 4_000;
/// Longest name, in characters.
pub(super) const MAX_NAME_CHARS: usize = 256;

/// Refuses a text of more than `max` characters.
pub(super) fn bounded(name: &'static str, text: &str, max: usize) -> Result<(), ApiError> {
    match text.chars().count() {
        length if length > max => {
            Err(ApiError::invalid_argument(name, format!("has {length} characters; at most {max} are allowed")))
        }
        _ => Ok(()),
    }
}
