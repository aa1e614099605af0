//! What is known of executions, and what other systems call them.

use std::sync::Arc;

use toolplane_records::evidence as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::NativeIds> for v1::NativeIds {
    fn from(record: &records::NativeIds) -> Self {
        Self {
            json_rpc_id: record.json_rpc_id.to_string(),
            mcp_session_id: record.mcp_session_id.to_string(),
            a2a_task_id: record.a2a_task_id.to_string(),
            a2a_context_id: record.a2a_context_id.to_string(),
            a2a_message_id: record.a2a_message_id.to_string(),
            http_request_id: record.http_request_id.to_string(),
        }
    }
}

impl From<v1::NativeIds> for records::NativeIds {
    fn from(message: v1::NativeIds) -> Self {
        Self {
            json_rpc_id: message.json_rpc_id.into(),
            mcp_session_id: message.mcp_session_id.into(),
            a2a_task_id: message.a2a_task_id.into(),
            a2a_context_id: message.a2a_context_id.into(),
            a2a_message_id: message.a2a_message_id.into(),
            http_request_id: message.http_request_id.into(),
        }
    }
}

/// The message of native ids; absent when nothing is known.
pub(crate) fn native_ids(record: &records::NativeIds) -> Option<v1::NativeIds> {
    (!record.is_empty()).then(|| record.into())
}

impl From<&records::SandboxFacts> for v1::SandboxFacts {
    fn from(record: &records::SandboxFacts) -> Self {
        Self {
            backend: record.backend.to_string(),
            available: record.available,
            held: field::texts(&record.held),
            missing: field::texts(&record.missing),
            posture_digest: field::text(&record.posture_digest),
        }
    }
}

impl TryFrom<v1::SandboxFacts> for records::SandboxFacts {
    type Error = ConvertError;

    fn try_from(message: v1::SandboxFacts) -> Result<Self, ConvertError> {
        Ok(Self {
            backend: message.backend.into(),
            available: message.available,
            held: field::kept(message.held),
            missing: field::kept(message.missing),
            posture_digest: field::optional_id("posture_digest", &message.posture_digest)?,
        })
    }
}

impl From<&records::ExecutionSite> for v1::ExecutionSite {
    fn from(record: &records::ExecutionSite) -> Self {
        Self {
            worker_id: record.worker_id.to_string(),
            incarnation: record.incarnation.to_string(),
            worker_version: record.worker_version.to_string(),
            image: record.image.to_string(),
            sandbox: field::out(&record.sandbox),
        }
    }
}

impl TryFrom<v1::ExecutionSite> for records::ExecutionSite {
    type Error = ConvertError;

    fn try_from(message: v1::ExecutionSite) -> Result<Self, ConvertError> {
        Ok(Self {
            worker_id: field::id("worker_id", &message.worker_id)?,
            incarnation: message.incarnation.into(),
            worker_version: message.worker_version.into(),
            image: message.image.into(),
            sandbox: field::optional("sandbox", message.sandbox)?,
        })
    }
}

impl From<&records::ExecutedTool> for v1::ExecutedTool {
    fn from(record: &records::ExecutedTool) -> Self {
        Self {
            tool_id: record.tool_id.to_string(),
            tool_name: record.tool_name.clone(),
            declaration_digest: record.declaration_digest.to_string(),
            plan_digest: field::text(&record.plan_digest),
            execution_kind: record.execution_kind.as_str().to_owned(),
            execution_kind_code: record.execution_kind.number(),
            pool: record.pool.to_string(),
            sandboxed: record.sandboxed,
            sandbox_profile: record.sandbox_profile.clone(),
        }
    }
}

impl TryFrom<v1::ExecutedTool> for records::ExecutedTool {
    type Error = ConvertError;

    fn try_from(message: v1::ExecutedTool) -> Result<Self, ConvertError> {
        Ok(Self {
            tool_id: field::id("tool_id", &message.tool_id)?,
            tool_name: message.tool_name,
            declaration_digest: field::id("declaration_digest", &message.declaration_digest)?,
            plan_digest: field::optional_id("plan_digest", &message.plan_digest)?,
            execution_kind: word::open("execution_kind", &message.execution_kind, message.execution_kind_code)?,
            pool: message.pool.into(),
            sandboxed: message.sandboxed,
            sandbox_profile: message.sandbox_profile,
        })
    }
}

impl From<&records::ExecutionEvidence> for v1::ExecutionEvidence {
    fn from(record: &records::ExecutionEvidence) -> Self {
        Self {
            evidence_id: record.evidence_id.to_string(),
            invocation_id: record.invocation_id.to_string(),
            attempt: record.attempt,
            lease_no: record.lease_no,
            fence: record.fence,
            tool: field::out(&record.tool),
            site: record.site.as_deref().map(v1::ExecutionSite::from),
            status: record.status.as_str().to_owned(),
            status_code: record.status.number(),
            started_at: record.started_at.and_then(field::instant),
            duration_ms: record.duration_ms,
            reported_at: field::instant(record.reported_at),
            native_ids: native_ids(&record.native_ids),
            detail: field::out(&record.detail),
            detail_left_out: record.detail_left_out.to_string(),
        }
    }
}

impl TryFrom<v1::ExecutionEvidence> for records::ExecutionEvidence {
    type Error = ConvertError;

    fn try_from(message: v1::ExecutionEvidence) -> Result<Self, ConvertError> {
        Ok(Self {
            evidence_id: message.evidence_id.into(),
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            attempt: message.attempt,
            lease_no: message.lease_no,
            fence: message.fence,
            tool: field::optional("tool", message.tool)?,
            site: field::optional("site", message.site)?.map(Arc::new),
            status: word::open("status", &message.status, message.status_code)?,
            started_at: field::optional_time("started_at", message.started_at)?,
            duration_ms: message.duration_ms,
            reported_at: field::time("reported_at", message.reported_at)?,
            native_ids: message.native_ids.unwrap_or_default().into(),
            detail: field::optional("detail", message.detail)?,
            detail_left_out: message.detail_left_out.into(),
        })
    }
}
