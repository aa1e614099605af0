//! Partial results: what a running call has so far (contracts/progress-and-cancellation).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::InvocationId;
use crate::result::ContentBlock;
use crate::time::Timestamp;

/// Most partial results of one call: each is in its log for good.
pub const MAX_PARTIAL_RESULTS: u64 = 256;
/// Most bytes of the blocks of one, as JSON.
pub const MAX_PARTIAL_BYTES: usize = 64 * 1024;
/// Most bytes of a resume token.
pub const MAX_RESUME_BYTES: usize = 4 * 1024;

/// What a running call has so far: to be looked at while it runs, and never its result. The data of
/// `tool.invocation.partial_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialResult {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier, named by `partial_result_refs` of later progress.
    pub partial_id: String,
    /// The call.
    pub invocation_id: InvocationId,
    /// Position among the partial results of the call, from 1.
    pub sequence: u64,
    /// What there is, in order; nothing that is kept elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
    /// It goes on where the one before it ended; else it takes its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// When it was made.
    pub timestamp: Timestamp,
}
