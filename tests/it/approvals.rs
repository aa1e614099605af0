//! A question outlives the cluster it was put in.

use toolplane_proto::v1;

use crate::bed::{Bed, kinds};

async fn pending(bed: &Bed) -> v1::Approval {
    let request = v1::ListApprovalsRequest { state: v1::ApprovalState::Pending.into(), ..Default::default() };
    let approvals = bed.clients.permissions().list_approvals(request).await.unwrap().into_inner().approvals;
    assert_eq!(approvals.len(), 1, "{approvals:?}");
    approvals.into_iter().next().unwrap()
}

async fn answer(bed: &Bed, approval_id: &str, behavior: v1::Behavior) -> v1::Approval {
    let request = v1::ResolveApprovalRequest {
        approval_id: approval_id.to_owned(),
        behavior: behavior.into(),
        feedback: "said the test".to_owned(),
        resolved_by: "test".to_owned(),
        ..Default::default()
    };
    bed.clients.permissions().resolve_approval(request).await.unwrap().into_inner().approval.unwrap()
}

#[tokio::test]
async fn an_approved_call_completes_over_a_crash() {
    let mut bed = Bed::start().await;
    let call = bed.submit(bed.spec("shell.exec", r#"{"command":"echo approved > out.txt; cat out.txt"}"#)).await;
    let call = bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
    let asked = pending(&bed).await;
    assert_eq!(asked.approval_id, call.approval_request_ref);
    assert_eq!(asked.invocation_id, call.invocation_id);
    assert!(!bed.cluster.workspace().join("out.txt").exists(), "it ran before it was approved");

    bed.cluster.kill();
    bed.cluster.start_again().await.unwrap();
    assert_eq!(pending(&bed).await.approval_id, asked.approval_id);
    let answered = answer(&bed, &asked.approval_id, v1::Behavior::Allow).await;
    assert_eq!(answered.state(), v1::ApprovalState::Approved);

    let (events, result) = bed.replay(&call.invocation_id, 1).await;
    assert!(!result.is_error, "{:?}", result.error);
    assert_eq!(std::fs::read_to_string(bed.cluster.workspace().join("out.txt")).unwrap(), "approved\n");
    assert!(kinds(&events).contains(&"ext.invocation.approved"), "{:?}", kinds(&events));

    // The answer stands.
    let request = v1::ResolveApprovalRequest {
        approval_id: asked.approval_id,
        behavior: v1::Behavior::Deny.into(),
        ..Default::default()
    };
    let status = bed.clients.permissions().resolve_approval(request).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition, "{status:?}");
}

#[tokio::test]
async fn a_rejected_call_ends_without_running() {
    let bed = Bed::start().await;
    let call = bed.submit(bed.spec("shell.exec", r#"{"command":"touch ran.txt"}"#)).await;
    bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
    let asked = pending(&bed).await;
    answer(&bed, &asked.approval_id, v1::Behavior::Deny).await;
    let (events, result) = bed.replay(&call.invocation_id, 1).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Rejected, "{:?}", result.error);
    assert_eq!(result.error.unwrap().error_class_code(), v1::ErrorClass::ApprovalRejected);
    assert!(!kinds(&events).contains(&"tool.invocation.started"), "{:?}", kinds(&events));
    assert!(!bed.cluster.workspace().join("ran.txt").exists());
}

/// A canceled call takes its question with it.
#[tokio::test]
async fn a_canceled_question_cannot_be_approved() {
    let bed = Bed::start().await;
    let call = bed.submit(bed.spec("shell.exec", r#"{"command":"touch ran.txt"}"#)).await;
    bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
    let asked = pending(&bed).await;
    let request = v1::CancelInvocationRequest { invocation_id: call.invocation_id.clone(), ..Default::default() };
    bed.clients.invocations().cancel_invocation(request).await.unwrap();
    let (_, result) = bed.replay(&call.invocation_id, 1).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Canceled, "{:?}", result.error);
    let request = v1::ResolveApprovalRequest {
        approval_id: asked.approval_id,
        behavior: v1::Behavior::Allow.into(),
        ..Default::default()
    };
    // Whether the withdrawal or the answer comes first: the call stays as it ended.
    let _ = bed.clients.permissions().resolve_approval(request).await;
    let (_, again) = bed.replay(&call.invocation_id, 1).await;
    assert_eq!(again.result_id, result.result_id);
    assert!(!bed.cluster.workspace().join("ran.txt").exists());
}
