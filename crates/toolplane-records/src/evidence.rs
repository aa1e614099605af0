//! What is known of one execution for those who look at it later: what ran, where, and what other systems call it (ours).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{InvocationId, ToolId, WorkerId};
use crate::payload::{Digest, JsonPayload};
use crate::time::Timestamp;
use crate::vocabulary::{ExecutionKind, ResultStatus};

/// How every name of an [`ExecutionEvidence`] begins among the evidence of a record.
const PREFIX: &str = "execution:";

/// Most bytes of what a worker says of an execution that are kept with it.
pub const MAX_DETAIL_BYTES: u64 = 16 * 1024;
/// Most bytes of that in the record of the call.
const MAX_DETAIL_WITHIN_BYTES: u64 = 1024;

/// What one call is called by the protocols it came by, or went to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NativeIds {
    /// Id of the JSON-RPC request.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub json_rpc_id: SmolStr,
    /// Session of MCP.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub mcp_session_id: SmolStr,
    /// Task of A2A.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub a2a_task_id: SmolStr,
    /// Context of A2A.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub a2a_context_id: SmolStr,
    /// Message of A2A.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub a2a_message_id: SmolStr,
    /// Id of the HTTP request, as its header said.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub http_request_id: SmolStr,
}

impl NativeIds {
    /// Longest of them, in bytes.
    pub const MAX_BYTES: usize = 256;

    /// Each with the name of its field.
    pub fn named(&self) -> [(&'static str, &SmolStr); 6] {
        [
            ("json_rpc_id", &self.json_rpc_id),
            ("mcp_session_id", &self.mcp_session_id),
            ("a2a_task_id", &self.a2a_task_id),
            ("a2a_context_id", &self.a2a_context_id),
            ("a2a_message_id", &self.a2a_message_id),
            ("http_request_id", &self.http_request_id),
        ]
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.named().iter().all(|(_, id)| id.is_empty())
    }

    /// The same without what is no name: too long, or with a character that is not printed.
    #[must_use]
    pub fn plain(mut self) -> Self {
        for id in [
            &mut self.json_rpc_id,
            &mut self.mcp_session_id,
            &mut self.a2a_task_id,
            &mut self.a2a_context_id,
            &mut self.a2a_message_id,
            &mut self.http_request_id,
        ] {
            if id.len() > Self::MAX_BYTES || !id.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
                *id = SmolStr::default();
            }
        }
        self
    }
}

/// What the sandbox of a worker was found to hold when it was probed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxFacts {
    /// What makes it, e.g. `bubblewrap 0.8.0`; empty when the worker does not say.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub backend: SmolStr,
    /// Every layer it needs held.
    #[serde(default)]
    pub available: bool,
    /// Layers that held, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<SmolStr>,
    /// Layers that did not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<SmolStr>,
    /// Digest of the whole posture, as the worker told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posture_digest: Option<Digest>,
}

/// Where an execution ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionSite {
    /// The worker.
    pub worker_id: WorkerId,
    /// Which start of it.
    pub incarnation: SmolStr,
    /// Version of its program; empty when an earlier start of the worker ran the call.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub worker_version: SmolStr,
    /// Image the worker runs in, as its operator names it; empty when that is not said.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub image: SmolStr,
    /// The sandbox of the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxFacts>,
}

impl ExecutionSite {
    /// A start of a worker of which nothing else is known.
    pub fn of(worker_id: WorkerId, incarnation: SmolStr) -> Self {
        Self { worker_id, incarnation, worker_version: SmolStr::default(), image: SmolStr::default(), sandbox: None }
    }
}

/// What ran: the version of the tool, and how it was to be executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutedTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub tool_name: String,
    /// The version of its registration.
    pub declaration_digest: Digest,
    /// Digest of all that was fixed about how it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<Digest>,
    /// Kind of executor.
    pub execution_kind: ExecutionKind,
    /// Execution class it was queued under.
    pub pool: SmolStr,
    /// It was run only inside a sandbox.
    pub sandboxed: bool,
    /// Name of the sandbox profile.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sandbox_profile: String,
}

/// One execution that ended with a report, and what its worker says of it. A call that is executed again has one for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionEvidence {
    /// Its name among the evidence of the call, see [`ExecutionEvidence::id_of`].
    pub evidence_id: SmolStr,
    /// The call.
    pub invocation_id: InvocationId,
    /// Which execution of the call it is, from 1.
    pub attempt: u32,
    /// The lease it ran under.
    pub lease_no: u32,
    /// Fence of that lease.
    pub fence: u64,
    /// What ran; absent when the record of it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ExecutedTool>,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Arc<ExecutionSite>>,
    /// How it ended, as its worker says.
    pub status: ResultStatus,
    /// When it began, by the worker's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// How long it took, milliseconds.
    #[serde(default)]
    pub duration_ms: u64,
    /// When the report was read, by the store's clock.
    pub reported_at: Timestamp,
    /// What the system that ran the tool calls it.
    #[serde(default, skip_serializing_if = "NativeIds::is_empty")]
    pub native_ids: NativeIds,
    /// What the worker says of it: an object, e.g. exit status, resources, violations of the sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<JsonPayload>,
    /// Why that is not kept, in one stable word: `too_large`, or `withheld` by a hook.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub detail_left_out: SmolStr,
}

impl ExecutionEvidence {
    /// What the evidence of the execution under lease `lease_no` of a call is called: `execution:<call>/<lease_no>`.
    pub fn id_of(call: &InvocationId, lease_no: u32) -> SmolStr {
        SmolStr::from(format!("{PREFIX}{call}/{lease_no}"))
    }

    /// Whether it is small enough to lie in the record of its call, which is read more often than this is asked for.
    pub fn fits_record(&self) -> bool {
        self.detail.as_ref().is_none_or(|detail| detail.size() <= MAX_DETAIL_WITHIN_BYTES)
    }

    /// Whether a reference among the evidence of a call names an execution.
    pub fn is_named_by(evidence_ref: &str) -> bool {
        evidence_ref.starts_with(PREFIX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_is_left_out_of_native_ids() {
        let ids = NativeIds {
            json_rpc_id: "7".into(),
            mcp_session_id: "a\u{202e}b".into(),
            http_request_id: "x".repeat(NativeIds::MAX_BYTES + 1).into(),
            ..NativeIds::default()
        };
        let plain = ids.plain();
        assert_eq!(plain, NativeIds { json_rpc_id: "7".into(), ..NativeIds::default() });
        assert!(!plain.is_empty() && NativeIds::default().is_empty());
    }
}
