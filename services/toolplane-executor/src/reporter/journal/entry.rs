//! One ending as the journal has it: everything its report needs, whole outputs included.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use toolplane_execution::{Artifact, Exact, Outcome};
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationId, LeaseId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ResultStatus;
use toolplane_sandbox::OutputFile;

use crate::messages::{Lease, OutputBounds};

/// How one execution ended, before anything was kept elsewhere.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) lease: Lease,
    pub(crate) frame: Frame,
    pub(crate) outcome: Outcome,
}

/// What is told of an execution beside what its tool gave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Bounds on what is shown of one output.
    pub(crate) bounds: OutputBounds,
    /// Most bytes of all that is shown.
    pub(crate) inline_bytes: u64,
    /// When it began, by the wall clock.
    pub(crate) started_at: Timestamp,
    /// How long it took.
    pub(crate) duration: Duration,
}

/// The same in the form of the file.
#[derive(Serialize, Deserialize)]
struct Entry<'a> {
    invocation_id: InvocationId,
    lease_no: u32,
    lease_id: LeaseId,
    max_inline_chars: Option<u64>,
    max_inline_bytes: Option<u64>,
    inline_bytes: u64,
    started_at_ms: u64,
    duration_ms: u64,
    status: ResultStatus,
    content: Cow<'a, [ContentBlock]>,
    /// The bytes of texts that are only a view of them.
    #[serde(default)]
    exact: Vec<Bytes64>,
    /// Files it has left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<LeftFile>,
    structured_content: Option<Cow<'a, JsonPayload>>,
    error: Option<Cow<'a, ToolError>>,
    output_bytes: u64,
    evidence: Option<Cow<'a, JsonPayload>>,
    #[serde(default)]
    context_modifiers: Cow<'a, [JsonPayload]>,
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
    /// The name of the file with the bytes, where they are too many for memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
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
            file: exact.file.as_deref().and_then(name_of),
        }
    }

    /// Nothing when it is none; the checksum of the entry has proved that it is what was written.
    fn read(self, outputs: &Path) -> Option<Exact> {
        let Self { of, media_type, bytes, end, total_bytes, is_text, file } = self;
        let bytes = BASE64.decode(bytes).ok()?.into();
        let end = end.map(|end| BASE64.decode(end)).transpose().ok()?.map(Into::into);
        let file = file.and_then(|name| adopted(&name, outputs));
        Some(Exact { of, media_type, bytes, file, end, total_bytes, is_text })
    }
}

/// An artifact, of which the file is named.
#[derive(Debug, Serialize, Deserialize)]
struct LeftFile {
    path: String,
    media_type: String,
    file: Option<String>,
}

impl LeftFile {
    fn of(artifact: &Artifact) -> Self {
        let Artifact { path, media_type, file } = artifact;
        Self { path: path.clone(), media_type: media_type.clone(), file: name_of(file) }
    }

    /// Nothing when its file is gone: the scheduler misses it then, if it was expected.
    fn read(self, outputs: &Path) -> Option<Artifact> {
        let file = adopted(&self.file?, outputs)?;
        Some(Artifact { path: self.path, media_type: self.media_type, file })
    }
}

fn name_of(file: &OutputFile) -> Option<String> {
    Some(file.path().file_name()?.to_str()?.to_owned())
}

/// The file of this name in that directory, and none elsewhere.
fn adopted(name: &str, outputs: &Path) -> Option<Arc<OutputFile>> {
    let path = outputs.join(Path::new(name).file_name()?);
    let found = std::fs::metadata(&path).inspect_err(|error| tracing::error!(name, %error, "an output is gone"));
    Some(Arc::new(OutputFile::adopt(path, found.ok()?.len())))
}

impl Finished {
    /// The bytes of its entry.
    pub(super) fn write(&self) -> Vec<u8> {
        let Self { lease, frame, outcome } = self;
        let entry = Entry {
            invocation_id: lease.invocation_id.clone(),
            lease_no: lease.number,
            lease_id: lease.id.clone(),
            max_inline_chars: frame.bounds.max_inline_chars,
            max_inline_bytes: frame.bounds.max_inline_bytes,
            inline_bytes: frame.inline_bytes,
            started_at_ms: u64::try_from(frame.started_at.as_millis()).unwrap_or_default(),
            duration_ms: u64::try_from(frame.duration.as_millis()).unwrap_or(u64::MAX),
            status: outcome.status,
            content: Cow::from(&outcome.content),
            exact: outcome.exact.iter().map(Bytes64::of).collect(),
            artifacts: outcome.artifacts.iter().map(LeftFile::of).collect(),
            structured_content: outcome.structured_content.as_ref().map(Cow::Borrowed),
            error: outcome.error.as_ref().map(Cow::Borrowed),
            output_bytes: outcome.output_bytes,
            evidence: outcome.evidence.as_ref().map(Cow::Borrowed),
            context_modifiers: Cow::from(&outcome.context_modifiers),
        };
        // Plain data with text keys: there is nothing in it that could not be written.
        serde_json::to_vec(&entry).unwrap_or_default()
    }

    /// The entry; nothing when this program cannot read it. Then the store settles the call by its lease.
    pub(super) fn read(bytes: &[u8], outputs: &Path) -> Option<Self> {
        let read = serde_json::from_slice::<Entry<'_>>(bytes);
        let read = read.inspect_err(|error| tracing::warn!(%error, "an ending in the journal cannot be read"));
        Some(Self::of(read.ok()?, outputs))
    }

    /// Its outputs in files.
    pub(super) fn files(&self) -> Vec<Arc<OutputFile>> {
        let artifacts = self.outcome.artifacts.iter().map(|artifact| artifact.file.clone());
        self.outcome.exact.iter().filter_map(|exact| exact.file.clone()).chain(artifacts).collect()
    }

    fn of(entry: Entry<'_>, outputs: &Path) -> Self {
        let lease = Lease { invocation_id: entry.invocation_id, number: entry.lease_no, id: entry.lease_id };
        let frame = Frame {
            bounds: OutputBounds { max_inline_chars: entry.max_inline_chars, max_inline_bytes: entry.max_inline_bytes },
            inline_bytes: entry.inline_bytes,
            started_at: Timestamp::from_millis(i64::try_from(entry.started_at_ms).unwrap_or(i64::MAX)),
            duration: Duration::from_millis(entry.duration_ms),
        };
        let outcome = Outcome {
            status: entry.status,
            content: entry.content.into_owned(),
            exact: entry.exact.into_iter().filter_map(|exact| exact.read(outputs)).collect(),
            artifacts: entry.artifacts.into_iter().filter_map(|left| left.read(outputs)).collect(),
            structured_content: entry.structured_content.map(Cow::into_owned),
            error: entry.error.map(Cow::into_owned),
            output_bytes: entry.output_bytes,
            evidence: entry.evidence.map(Cow::into_owned),
            context_modifiers: entry.context_modifiers.into_owned(),
        };
        Self { lease, frame, outcome }
    }
}
