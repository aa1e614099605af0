//! The persistence decision: a pure function of the policy and the size of the output.

use toolplane_records::SmolStr;
use toolplane_records::ids::{DecisionId, InvocationId, ResultId};
use toolplane_records::persistence::{PersistenceThreshold, ResultPersistence};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{PersistenceStrategy, RedactionState};

#[cfg(test)]
mod tests;

/// The output fits within the inline bounds.
pub const REASON_FITS: &str = "within_inline_limit";
/// The output is larger than the inline bounds.
pub const REASON_LARGE: &str = "result_exceeded_inline_limit";
/// The output is not text, so there is nothing to preview.
pub const REASON_BINARY: &str = "result_is_binary";
/// The output has bytes that are not UTF-8: what is shown is a view of it, so its bytes are kept.
pub const REASON_NOT_TEXT: &str = "result_is_not_utf8";
/// The output is a file that the tool was expected to leave.
pub const REASON_ARTIFACT: &str = "artifact_of_tool";
/// The tool opted out of persistence and the output is larger than the inline bounds.
pub const REASON_OPTED_OUT: &str = "tool_opted_out_of_persistence";
/// The output is larger than what the store may keep.
pub const REASON_TOO_LARGE: &str = "result_exceeded_storage_limit";
/// The output should have been kept, but the object store did not take it.
pub const REASON_STORE_FAILED: &str = "payload_store_unavailable";

/// What to do with an output that does not fit inline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LargeOutput {
    /// Show head and tail, keep the whole.
    #[default]
    PreviewAndPersist,
    /// Show only the reference.
    RefOnly,
}

/// The bounds one tool's output is checked against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistencePolicy {
    /// Most bytes shown inline.
    pub max_inline_bytes: u64,
    /// Most characters shown inline, for tools that declare it; both bounds must hold.
    pub max_inline_chars: Option<u64>,
    /// What happens above the inline bounds.
    pub large: LargeOutput,
    /// The tool bounds its own output and must not have it kept (e.g. a file reader: the kept copy could be read back
    /// and kept again without end).
    pub never_persist: bool,
    /// Most bytes the object store is asked to keep.
    pub max_persist_bytes: u64,
}

impl Default for PersistencePolicy {
    /// 64 KiB inline, 64 MiB kept, preview above the inline bound.
    fn default() -> Self {
        Self {
            max_inline_bytes: 64 * 1024,
            max_inline_chars: None,
            large: LargeOutput::default(),
            never_persist: false,
            max_persist_bytes: 64 * 1024 * 1024,
        }
    }
}

/// The size of one whole output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputFacts {
    /// Bytes.
    pub bytes: u64,
    /// Characters; `None` when the bytes are not UTF-8 text.
    pub chars: Option<u64>,
    /// A person can make something of it, although it may not be UTF-8; see [`legible`].
    pub legible: bool,
}

/// Whether bytes that are not UTF-8 are still worth to be shown as text: no NUL, and at most a quarter of them replaced.
pub fn legible(bytes: &[u8]) -> bool {
    if bytes.contains(&0) {
        return false;
    }
    let wrong: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    wrong <= bytes.len() / 4
}

impl OutputFacts {
    /// The facts of a text that is in memory.
    pub fn of_text(text: &str) -> Self {
        Self { bytes: text.len() as u64, chars: Some(text.chars().count() as u64), legible: true }
    }

    /// The facts of bytes that are in memory, of which `total` were given.
    pub fn of_bytes(bytes: &[u8], total: u64) -> Self {
        let chars = std::str::from_utf8(bytes).ok().map(|text| text.chars().count() as u64);
        Self { bytes: total, chars, legible: chars.is_some() || legible(bytes) }
    }
}

/// The identifiers a decision record carries.
#[derive(Clone, Debug)]
pub struct DecisionIds {
    /// Of the decision itself, new.
    pub decision_id: DecisionId,
    /// Of the call.
    pub invocation_id: InvocationId,
    /// Of the result, when it has one already.
    pub result_id: Option<ResultId>,
}

/// Decides how an output is kept.
///
/// Without side effect: `persisted_ref` and `preview_size_bytes` of the record stay empty until
/// [`render`](crate::render::render) fills them in. Nothing is redacted here, and the record says so.
pub fn decide(policy: &PersistencePolicy, output: &OutputFacts, ids: DecisionIds, now: Timestamp) -> ResultPersistence {
    let (strategy, reason) = strategy(policy, output);
    ResultPersistence {
        schema_version: toolplane_records::schema_version(),
        decision_id: ids.decision_id,
        invocation_id: ids.invocation_id,
        result_id: ids.result_id,
        strategy,
        threshold: Some(PersistenceThreshold {
            max_inline_chars: policy.max_inline_chars,
            max_inline_bytes: Some(policy.max_inline_bytes),
        }),
        original_size_bytes: output.bytes,
        preview_size_bytes: None,
        persisted_ref: None,
        redaction_state: Some(RedactionState::None),
        reason: SmolStr::new_static(reason),
        created_at: now,
        output: SmolStr::default(),
        expires_at: None,
    }
}

/// Whether the strategy keeps the whole output in the object store.
pub fn needs_store(strategy: PersistenceStrategy) -> bool {
    matches!(strategy, PersistenceStrategy::PreviewAndPersist | PersistenceStrategy::RefOnly)
}

fn strategy(policy: &PersistencePolicy, output: &OutputFacts) -> (PersistenceStrategy, &'static str) {
    let fits = output.chars.is_some_and(|chars| {
        output.bytes <= policy.max_inline_bytes && policy.max_inline_chars.is_none_or(|most| chars <= most)
    });
    // Nothing is shown of what is only referred to, so an empty file is kept like any other.
    if fits || (output.bytes == 0 && policy.large != LargeOutput::RefOnly) {
        (PersistenceStrategy::Inline, REASON_FITS)
    } else if policy.never_persist {
        (PersistenceStrategy::NeverPersist, REASON_OPTED_OUT)
    } else if output.bytes > policy.max_persist_bytes {
        (PersistenceStrategy::DropWithReason, REASON_TOO_LARGE)
    } else if output.chars.is_none() {
        match policy.large {
            LargeOutput::PreviewAndPersist if output.legible => {
                (PersistenceStrategy::PreviewAndPersist, REASON_NOT_TEXT)
            }
            _ => (PersistenceStrategy::RefOnly, REASON_BINARY),
        }
    } else {
        match policy.large {
            LargeOutput::PreviewAndPersist => (PersistenceStrategy::PreviewAndPersist, REASON_LARGE),
            LargeOutput::RefOnly => (PersistenceStrategy::RefOnly, REASON_LARGE),
        }
    }
}
