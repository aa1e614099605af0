//! A question outlives the cluster it was put in.

use toolplane_proto::v1;

use crate::bed::{Bed, PATIENCE, kinds};
use crate::shell::Shell;

pub(crate) async fn pending(bed: &Bed) -> v1::Approval {
    let request = v1::ListApprovalsRequest { state: v1::ApprovalState::Pending.into(), ..Default::default() };
    let approvals = bed.clients.permissions().list_approvals(request).await.unwrap().into_inner().approvals;
    assert_eq!(approvals.len(), 1, "{approvals:?}");
    approvals.into_iter().next().unwrap()
}

pub(crate) async fn answer(bed: &Bed, approval_id: &str, behavior: v1::Behavior) -> v1::Approval {
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

    // The answer counts.
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

/// The first answer counts; a caller that comes later is told which one that was.
#[tokio::test]
async fn two_people_disagree() {
    let bed = Bed::start().await;
    let call = bed.submit(bed.spec("shell.exec", r#"{"command":"touch ran.txt"}"#)).await;
    bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
    let asked = pending(&bed).await;
    let option = |option: v1::PermissionOption, who: &str| v1::ResolveApprovalRequest {
        approval_id: asked.approval_id.clone(),
        option: option.into(),
        resolved_by: who.to_owned(),
        ..Default::default()
    };
    let no = bed.clients.permissions().resolve_approval(option(v1::PermissionOption::RejectOnce, "ann")).await.unwrap();
    assert_eq!(no.into_inner().approval.unwrap().state(), v1::ApprovalState::Rejected);
    let late = bed.clients.permissions().resolve_approval(option(v1::PermissionOption::AllowOnce, "bob")).await;
    let late = late.unwrap_err();
    assert_eq!(late.code(), tonic::Code::FailedPrecondition, "{late:?}");
    assert!(late.message().contains("rejected"), "{late:?}");
    // The same answer again is the same answer.
    let again = bed.clients.permissions().resolve_approval(option(v1::PermissionOption::RejectOnce, "ann")).await;
    assert_eq!(again.unwrap().into_inner().approval.unwrap().resolved_by, "ann");
    let (_, result) = bed.replay(&call.invocation_id, 1).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Rejected, "{:?}", result.error);
    assert!(!bed.cluster.workspace().join("ran.txt").exists());
}

/// A watcher hears of every question and every answer, over a restart without a gap.
#[tokio::test]
async fn a_watcher_misses_nothing() {
    let mut bed = Bed::start().await;
    let mut revision = 0;
    let mut heard = Vec::new();
    for (round, behavior) in [v1::Behavior::Allow, v1::Behavior::Deny].into_iter().enumerate() {
        let spec = bed.spec("shell.exec", format!(r#"{{"command":"echo {round}"}}"#));
        let call = bed.submit(spec).await;
        bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
        answer(&bed, &pending(&bed).await.approval_id, behavior).await;
        bed.replay(&call.invocation_id, 1).await;
        let request = v1::WatchApprovalsRequest { from_revision: revision, ..Default::default() };
        let mut stream = bed.clients.permissions().watch_approvals(request).await.unwrap().into_inner();
        while heard.len() < 2 * (round + 1) {
            let message = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
            for change in message.changes {
                assert!(change.revision > revision, "heard twice: {change:?}");
                revision = change.revision;
                heard.push(change.approval.unwrap().state());
            }
        }
        drop(stream);
        bed.cluster.kill();
        bed.cluster.start_again().await.unwrap();
    }
    use v1::ApprovalState::{Approved, Pending, Rejected};
    assert_eq!(heard, [Pending, Approved, Pending, Rejected]);

    let shell = Shell::at(bed.cluster.endpoint());
    let said = shell.says(0, &["approvals", "watch", "--from-revision", "0", "--limit", "4"]);
    let states: Vec<&str> = said.lines().map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(states, ["pending", "approved", "pending", "rejected"], "{said}");
}
