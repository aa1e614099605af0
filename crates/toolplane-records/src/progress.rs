//! Progress records (contracts/progress-and-cancellation).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::InvocationId;
use crate::refs::ArtifactRef;
use crate::time::Timestamp;
use crate::vocabulary::ProgressStatus;

/// One ordered progress update of an invocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolProgress {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the update.
    pub progress_id: String,
    /// The call.
    pub invocation_id: InvocationId,
    /// Position among the updates of this call, from 1.
    pub sequence: u64,
    /// What the call is doing.
    pub status: ProgressStatus,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// 0 to 100, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// Name of the current step.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub current_step: String,
    /// Number of steps, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<u64>,
    /// Milliseconds since the execution started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Bytes read so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_read: Option<u64>,
    /// Bytes written so far (for a process: its output).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_written: Option<u64>,
    /// Lines seen so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u64>,
    /// Background task, when there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// Partial results so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partial_result_refs: Vec<String>,
    /// Deliverables so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_refs: Vec<ArtifactRef>,
    /// When it was observed.
    pub timestamp: Timestamp,
}
