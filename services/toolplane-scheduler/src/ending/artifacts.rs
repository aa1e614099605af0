//! Artifacts that a worker has put into the object store and names by their address alone.
//!
//! Where the bytes of an artifact are kept here, its record has to say so: only then are they cleaned, read by the name of the artifact,
//! and neither removed as an orphan nor forgotten when the call goes.

use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_results::PayloadStore;
use toolplane_results::payload::error::PayloadError;
use toolplane_results::payload::key::PayloadKey;

/// Media type of bytes of which nothing is known.
const BYTES: &str = "application/octet-stream";

/// Has each artifact of `outcome` whose bytes were uploaded under this lease say where they are, and the content refer to it.
pub(super) async fn found(
    payloads: &PayloadStore,
    (record, lease_no): (&Invocation, u32),
    outcome: &mut v1::ExecutionOutcome,
    now: Timestamp,
) -> Result<(), PayloadError> {
    for artifact in outcome.artifact_refs.iter_mut().filter(|artifact| artifact.payload.is_none()) {
        let Ok(key) = artifact.uri.parse::<PayloadKey>() else { continue };
        let Some(digest) = key.digest().filter(|_| key.is_of(&record.tenant, &record.invocation_id, lease_no)) else {
            continue;
        };
        let size_bytes = match Box::pin(payloads.size(&key, now)).await {
            Ok(size) => size,
            // What was never uploaded is only a word of the worker.
            Err(PayloadError::NotFound { .. } | PayloadError::Expired { .. }) => continue,
            Err(error) => return Err(error),
        };
        if artifact.media_type.is_empty() {
            artifact.media_type = BYTES.to_owned();
        }
        artifact.digest = digest.to_string();
        artifact.payload = Some(v1::PayloadRef {
            uri: artifact.uri.clone(),
            media_type: artifact.media_type.clone(),
            digest: artifact.digest.clone(),
            size_bytes,
        });
        let block = v1::ContentBlock { block: Some(Block::ArtifactRef(artifact.clone())) };
        outcome.content.push(block);
    }
    Ok(())
}
