//! What is left of a deleted call.

use serde::{Deserialize, Serialize};
use toolplane_records::SmolStr;
use toolplane_records::ids::{ApprovalId, DecisionId, InvocationId, ResultId, TenantId, ToolId};
use toolplane_records::invocation::Invocation;
use toolplane_records::keeping::RemovedRecords;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::result::ToolResult;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{InvocationStatus, RecordClass};
use toolplane_results::payload::key::URI_PREFIX;

use crate::named_payloads::outputs;

/// That a call was there, and that it was deleted: names, digests and times, and no text that a caller, a tool or a model wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    pub(crate) invocation_id: InvocationId,
    pub(crate) tenant: TenantId,
    pub(crate) tool_id: ToolId,
    pub(crate) status: InvocationStatus,
    pub(crate) created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<Timestamp>,
    /// Digest of what was asked for.
    pub(crate) request_digest: Digest,
    /// Digests of the inputs, each once.
    pub(crate) input_digests: Vec<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result_id: Option<ResultId>,
    /// Digest of the result, as the standard's JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result_digest: Option<Digest>,
    /// Decisions that went with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) decision_ids: Vec<DecisionId>,
    /// Questions to people that went with it, as far as their names are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) approval_ids: Vec<ApprovalId>,
    /// Events that went with it.
    pub(crate) events: u64,
    /// Kept outputs that went with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<LostOutput>,
    /// What had been removed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) removed_before: Vec<RemovedRecords>,
    pub(crate) deleted_at: Timestamp,
    /// Who asked for it.
    pub(crate) deleted_by: SmolStr,
    /// Why, in the words of who asked.
    pub(crate) reason: String,
}

/// A kept output that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LostOutput {
    pub(crate) uri: SmolStr,
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
}

impl LostOutput {
    /// Every output a result says is kept beside it, each once.
    pub(super) fn all_of(result: &ToolResult) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for kept in outputs(result) {
            if kept.uri.starts_with(URI_PREFIX) && all.iter().all(|known| known.uri != kept.uri) {
                all.push(Self { uri: kept.uri.clone(), digest: kept.digest, size_bytes: kept.size_bytes });
            }
        }
        all
    }
}

impl Tombstone {
    /// What is left of `record`.
    pub(super) fn of(
        record: &Invocation,
        (result, approval_ids): (Option<&ToolResult>, Vec<ApprovalId>),
        (deleted_by, reason): (&str, &str),
        deleted_at: Timestamp,
    ) -> Self {
        let inputs = &record.inputs;
        let others = [&inputs.observable, &inputs.permission, &inputs.call].into_iter().flatten();
        let mut input_digests: Vec<Digest> =
            std::iter::once(&inputs.model).chain(others).map(|kept| kept.digest).collect();
        input_digests.sort_unstable();
        input_digests.dedup();
        let there = result.filter(|_| record.keeping.removed_at(RecordClass::Outputs).is_none());
        Self {
            invocation_id: record.invocation_id.clone(),
            tenant: record.tenant.clone(),
            tool_id: record.tool_id.clone(),
            status: record.status,
            created_at: record.created_at,
            ended_at: record.ended_at,
            request_digest: record.request_digest,
            input_digests,
            result_id: record.result_id.clone(),
            result_digest: result.map(|result| JsonPayload::of(result).digest()),
            decision_ids: record.permission_decision_refs.clone(),
            approval_ids,
            events: record.last_seq,
            outputs: there.map(LostOutput::all_of).unwrap_or_default(),
            removed_before: record.keeping.removed.clone(),
            deleted_at,
            deleted_by: deleted_by.into(),
            reason: reason.to_owned(),
        }
    }
}
