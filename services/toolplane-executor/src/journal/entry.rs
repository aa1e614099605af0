//! One ending as it stands in the journal: everything its report needs, whole outputs included.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use toolplane_execution::{Exact, Outcome};
use toolplane_proto::v1::{LeaseRef, OutputLimits};
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ResultStatus;

use crate::outcome::Frame;

/// How one execution ended, before anything was kept elsewhere.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finished {
    invocation_id: String,
    lease_no: u32,
    lease_id: String,
    max_inline_chars: Option<u64>,
    max_inline_bytes: Option<u64>,
    inline_bytes: u64,
    started_at_ms: u64,
    duration_ms: u64,
    status: ResultStatus,
    content: Vec<ContentBlock>,
    /// The bytes of texts that are only a view of them.
    #[serde(default)]
    exact: Vec<Bytes64>,
    structured_content: Option<JsonPayload>,
    error: Option<ToolError>,
    output_bytes: u64,
    evidence: Option<JsonPayload>,
    #[serde(default)]
    context_modifiers: Vec<JsonPayload>,
}

/// Bytes as JSON can hold them.
#[derive(Debug, Serialize, Deserialize)]
struct Bytes64 {
    of: String,
    media_type: String,
    bytes: String,
    end: Option<String>,
    total_bytes: u64,
    is_text: bool,
}

impl Bytes64 {
    fn of(exact: &Exact) -> Self {
        Self {
            of: exact.of.clone(),
            media_type: exact.media_type.clone(),
            bytes: BASE64.encode(&exact.bytes),
            end: exact.end.as_ref().map(|end| BASE64.encode(end)),
            total_bytes: exact.total_bytes,
            is_text: exact.is_text,
        }
    }

    /// Nothing when it is none; the checksum of the entry has proved that it is what was written.
    fn read(self) -> Option<Exact> {
        let Self { of, media_type, bytes, end, total_bytes, is_text } = self;
        let bytes = BASE64.decode(bytes).ok()?.into();
        let end = end.map(|end| BASE64.decode(end)).transpose().ok()?.map(Into::into);
        Some(Exact { of, media_type, bytes, end, total_bytes, is_text })
    }
}

impl Finished {
    /// The ending of the execution of `lease`.
    pub(crate) fn of(lease: &LeaseRef, frame: &Frame, outcome: Outcome) -> Self {
        Self {
            invocation_id: lease.invocation_id.clone(),
            lease_no: lease.lease_no,
            lease_id: lease.lease_id.clone(),
            max_inline_chars: frame.limits.max_inline_chars,
            max_inline_bytes: frame.limits.max_inline_bytes,
            inline_bytes: frame.inline_bytes,
            started_at_ms: u64::try_from(frame.started_at.as_millis()).unwrap_or_default(),
            duration_ms: crate::outcome::millis(frame.duration),
            status: outcome.status,
            content: outcome.content,
            exact: outcome.exact.iter().map(Bytes64::of).collect(),
            structured_content: outcome.structured_content,
            error: outcome.error,
            output_bytes: outcome.output_bytes,
            evidence: outcome.evidence,
            context_modifiers: outcome.context_modifiers,
        }
    }

    /// The lease it was under.
    pub(crate) fn lease(&self) -> LeaseRef {
        LeaseRef { invocation_id: self.invocation_id.clone(), lease_no: self.lease_no, lease_id: self.lease_id.clone() }
    }

    /// What is needed to report it.
    pub(crate) fn into_parts(self) -> (Frame, Outcome) {
        let frame = Frame {
            limits: OutputLimits {
                max_inline_chars: self.max_inline_chars,
                max_inline_bytes: self.max_inline_bytes,
                max_output_bytes: None,
            },
            inline_bytes: self.inline_bytes,
            started_at: Timestamp::from_millis(i64::try_from(self.started_at_ms).unwrap_or(i64::MAX)),
            duration: Duration::from_millis(self.duration_ms),
        };
        let outcome = Outcome {
            status: self.status,
            content: self.content,
            exact: self.exact.into_iter().filter_map(Bytes64::read).collect(),
            structured_content: self.structured_content,
            error: self.error,
            output_bytes: self.output_bytes,
            evidence: self.evidence,
            context_modifiers: self.context_modifiers,
        };
        (frame, outcome)
    }

    pub(super) fn write(&self) -> Vec<u8> {
        // Plain data with text keys: there is nothing in it that could not be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The entry; nothing when this program cannot read it. Then the store settles the call by its lease.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let read = serde_json::from_slice(bytes);
        read.inspect_err(|error| tracing::warn!(%error, "an ending in the journal cannot be read")).ok()
    }
}
