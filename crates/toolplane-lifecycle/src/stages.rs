//! Progress that the scheduler reports itself: the stages of a call whose caller does not wait for it.

use toolplane_records::invocation::Invocation;
use toolplane_records::progress::ToolProgress;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{InvocationStatus as Status, ProgressStatus};

use crate::partial;

/// What a change of status means to who looks in now and then.
pub(crate) fn stages(from: Option<Status>, to: Status) -> &'static [ProgressStatus] {
    match (from, to) {
        (_, Status::AwaitingApproval) => &[ProgressStatus::WaitingForPermission],
        (_, Status::Queued) => &[ProgressStatus::Queued],
        (Some(Status::Queued), Status::Running) => &[ProgressStatus::Started, ProgressStatus::Backgrounded],
        (_, Status::Running) => &[ProgressStatus::Running],
        (_, Status::NeedsInput) => &[ProgressStatus::WaitingForInput],
        (_, Status::PartialResult) => &[ProgressStatus::PartialResult],
        (_, Status::Succeeded) => &[ProgressStatus::Completed],
        (_, Status::Canceled) => &[ProgressStatus::Canceled],
        (_, to) if to.is_terminal() => &[ProgressStatus::Failed],
        _ => &[],
    }
}

/// The record of one stage, which is the next progress of the call.
pub(crate) fn record(invocation: &Invocation, status: ProgressStatus, now: Timestamp) -> ToolProgress {
    let sequence = invocation.progress_seq;
    ToolProgress {
        schema_version: toolplane_records::schema_version(),
        progress_id: id(invocation),
        invocation_id: invocation.invocation_id.clone(),
        sequence,
        status,
        message: String::new(),
        percent: None,
        current_step: String::new(),
        total_steps: None,
        elapsed_ms: invocation.started_at.and_then(|started_at| u64::try_from(now.since_millis(started_at)).ok()),
        bytes_read: None,
        bytes_written: None,
        line_count: None,
        task_id: invocation.invocation_id.to_string(),
        partial_result_refs: partial::newest(invocation).into_iter().collect(),
        artifact_refs: Vec::new(),
        timestamp: now,
    }
}

/// The name of the newest progress of a call.
pub(crate) fn id(invocation: &Invocation) -> String {
    format!("{}:p{}", invocation.invocation_id, invocation.progress_seq)
}
