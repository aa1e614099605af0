//! Which payloads a stored record names.

use toolplane_lifecycle::Terminal;
use toolplane_records::payload::PayloadRef;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::stored;
use toolplane_store::{Family, RecordKey};

use crate::originals::KeptOriginal;
use crate::storage::keys;

/// The addresses of the payloads that a record of the scheduler's store names: those of a result, and of a kept original.
pub fn payloads_of(key: &RecordKey, bytes: &[u8]) -> Vec<String> {
    if key.family == Family::Payload && keys::is_original(&key.id) {
        let kept = serde_json::from_slice::<KeptOriginal>(bytes);
        return kept
            .map(|kept| kept.parts.iter().map(|part| part.sealed.uri.to_string()).collect())
            .unwrap_or_default();
    }
    if key.family != Family::Result {
        return Vec::new();
    }
    // What cannot be read is told as damaged.
    let Ok(terminal) = stored::read::<Terminal>(bytes) else { return Vec::new() };
    // What went before its call is named and not missed.
    if terminal.outputs_removed_at.is_some() {
        return Vec::new();
    }
    let mut named: Vec<String> = outputs(&terminal.result).into_iter().map(|payload| payload.uri.to_string()).collect();
    named.sort();
    named.dedup();
    named
}

/// The payloads a result names.
pub(crate) fn outputs(result: &ToolResult) -> Vec<&PayloadRef> {
    let blocks = result.content.iter().chain(&result.model_facing_content);
    blocks.filter_map(ContentBlock::payload).collect()
}
