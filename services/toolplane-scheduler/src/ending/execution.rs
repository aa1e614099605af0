//! What is kept of an execution for those who look at it later; pure.
//!
//! What ran is told by the plan of the call, where by its lease and by what its worker said of itself, and the rest by the report.

use std::sync::Arc;

use toolplane_proto::convert::{ConvertError, field};
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::evidence::{ExecutedTool, ExecutionEvidence, ExecutionSite, MAX_DETAIL_BYTES, NativeIds};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;

use super::effects::Effects;
use super::report::Report;
use crate::plan::DispatchPlan;

/// Most references of a worker's evidence that go into a record, and the longest of them.
const MAX_REFS: usize = 16;
const MAX_REF_BYTES: usize = 200;

/// What a report says of its execution beside its outputs.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedExecution {
    pub(super) site: Option<Arc<ExecutionSite>>,
    pub(super) started_at: Option<Timestamp>,
    /// What names the execution elsewhere, e.g. at the server that ran it.
    pub(super) refs: Vec<String>,
    pub(super) native_ids: NativeIds,
    pub(super) detail: Option<JsonPayload>,
}

impl ReportedExecution {
    /// Reads what a worker says, but for where it ran. What is no evidence at all is none; a report is not refused for it.
    pub(super) fn read(outcome: &mut v1::ExecutionOutcome) -> Result<Self, ConvertError> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Named {
            refs: Vec<String>,
            native_ids: NativeIds,
        }
        let detail = outcome.evidence.take().and_then(|payload| JsonPayload::try_from(payload).ok());
        let named = detail.as_ref().and_then(|detail| serde_json::from_slice::<Named>(detail.bytes()).ok());
        let Named { refs, native_ids } = named.unwrap_or_default();
        let is_name = |text: &String| {
            (1..=MAX_REF_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        Ok(Self {
            site: None,
            started_at: field::optional_time("outcome.started_at", outcome.started_at)?,
            refs: refs.into_iter().filter(is_name).take(MAX_REFS).collect(),
            native_ids: native_ids.plain(),
            detail: detail.filter(|detail| detail.text().starts_with('{')),
        })
    }
}

/// What is kept of the execution of `record` under lease `lease_no`, which ended as `report` says.
///
/// Where hooks took out something of the output, the words of the worker go too: they may repeat it.
pub(super) fn evidence(
    record: &Invocation,
    plan: Option<&DispatchPlan>,
    lease_no: u32,
    (report, effects): (&Report, &Effects),
    now: Timestamp,
) -> ExecutionEvidence {
    let ReportedExecution { site, started_at, native_ids, detail, .. } = &report.execution;
    let (detail, left_out) = match detail.clone() {
        Some(_) if effects.redacted || effects.withheld.is_some() => (None, "withheld"),
        Some(detail) if detail.size() > MAX_DETAIL_BYTES => (None, "too_large"),
        detail => (detail, ""),
    };
    ExecutionEvidence {
        evidence_id: ExecutionEvidence::id_of(&record.invocation_id, lease_no),
        invocation_id: record.invocation_id.clone(),
        attempt: record.attempt,
        lease_no,
        fence: record.last_fence,
        tool: plan.map(|plan| tool(record, plan)),
        site: site.clone(),
        status: report.status,
        started_at: *started_at,
        duration_ms: report.duration_ms,
        reported_at: now,
        native_ids: native_ids.clone(),
        detail,
        detail_left_out: SmolStr::new_static(left_out),
    }
}

fn tool(record: &Invocation, plan: &DispatchPlan) -> ExecutedTool {
    let dispatch = record.dispatch.as_ref();
    ExecutedTool {
        tool_id: plan.tool.tool_id.clone(),
        tool_name: plan.tool.full_name.clone(),
        declaration_digest: plan.tool.declaration_digest,
        plan_digest: dispatch.map(|dispatch| dispatch.plan_digest),
        execution_kind: plan.execution.kind,
        pool: dispatch.map(|dispatch| dispatch.pool.clone()).unwrap_or_default(),
        sandboxed: plan.execution.sandboxed,
        sandbox_profile: plan.execution.sandbox_profile.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_names_its_execution_and_says_what_it_likes_beside_it() {
        let said = r#"{"refs":["mcp.session:1","two words","","ü"],"native_ids":{"mcp_session_id":"1"},"exit":0}"#;
        let mut outcome = v1::ExecutionOutcome {
            evidence: Some((&JsonPayload::from_checked(said)).into()),
            ..v1::ExecutionOutcome::default()
        };
        let read = ReportedExecution::read(&mut outcome).unwrap();
        assert_eq!(read.refs, ["mcp.session:1"]);
        assert_eq!((read.native_ids.mcp_session_id.as_str(), read.detail.unwrap().text()), ("1", said));
        for odd in ["[]", "7", r#"{"refs":7}"#, r#"{"native_ids":[]}"#] {
            outcome.evidence = Some((&JsonPayload::from_checked(odd)).into());
            let read = ReportedExecution::read(&mut outcome).unwrap();
            assert!(read.refs.is_empty() && read.native_ids.is_empty(), "{odd}");
            assert_eq!(read.detail.is_some(), odd.starts_with('{'), "{odd}");
        }
    }
}
