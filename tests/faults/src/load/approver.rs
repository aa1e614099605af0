//! A person who answers every question: nearly always with yes.

use std::sync::Arc;
use std::time::Duration;

use toolplane_proto::v1;

use super::asking::Load;

/// How often the person looks.
const LOOK: Duration = Duration::from_millis(100);

/// Answers until aborted. A question that could not be answered is found again at the next look.
pub(super) async fn run(load: Arc<Load>) {
    for turn in 0.. {
        answer_all(&load, turn).await;
        toolplane_wait::pause(LOOK, "people take a while to answer").await;
    }
}

async fn answer_all(load: &Load, turn: u64) {
    let pending =
        v1::ListApprovalsRequest { state: v1::ApprovalState::Pending.into(), page_size: 100, ..Default::default() };
    let Ok(answer) = load.client(turn).permissions().list_approvals(pending).await else { return };
    for approval in answer.into_inner().approvals {
        let no = approval.approval_id.ends_with(['3', '9']);
        let request = v1::ResolveApprovalRequest {
            approval_id: approval.approval_id,
            request_id: uuid::Uuid::new_v4().to_string(),
            behavior: if no { v1::Behavior::Deny } else { v1::Behavior::Allow }.into(),
            resolved_by: "approver".to_owned(),
            ..Default::default()
        };
        // Another attempt may have been faster.
        let _ = load.client(turn).permissions().resolve_approval(request).await;
    }
}
