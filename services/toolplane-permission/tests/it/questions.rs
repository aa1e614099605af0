use tokio::time::timeout;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_records::payload::JsonPayload;

use crate::support::{Home, PATIENCE, shell_call};

#[tokio::test]
async fn a_question_survives_restarts_and_is_answered_once() {
    for home in Home::every().await {
        let role = home.start().await;
        let asked = role.ask("inv_1").await;
        assert_eq!(asked.state(), v1::ApprovalState::Pending);
        role.kill().await;
        let role = home.start().await;
        assert_eq!(role.ask("inv_1").await, asked, "the same question, not a second one");
        let (approve, reject) = tokio::join!(
            role.resolve(&asked.approval_id, v1::PermissionOption::AllowOnce),
            role.resolve(&asked.approval_id, v1::PermissionOption::RejectOnce),
        );
        let (winner, loser) = match (approve, reject) {
            (Ok(winner), Err(loser)) | (Err(loser), Ok(winner)) => (winner, loser),
            outcome => panic!("one answer must win: {outcome:?}"),
        };
        assert_eq!(loser.code(), Code::FailedPrecondition);
        let decision = winner.resolution.clone().unwrap();
        assert!(loser.message().contains(&decision.decision_id), "{}", loser.message());
        assert_eq!(decision.reason.unwrap().r#type, "permission_prompt_tool");
        role.kill().await;
        let role = home.start().await;
        let stored = role.get(&asked.approval_id).await;
        assert_eq!(stored.approval.unwrap(), winner);
        let json = JsonPayload::try_from(stored.json.unwrap()).unwrap().to_value();
        assert_eq!(json["resolution"]["decision_id"], decision.decision_id.as_str());
        role.stop().await;
    }
}

#[tokio::test]
async fn an_answer_may_edit_the_call_and_say_why() {
    let home = Home::embedded();
    let role = home.start().await;
    let asked = role.ask("inv_1").await;
    let payload = |text: &'static str| Some((&JsonPayload::from_checked(text)).into());
    let good = v1::ResolveApprovalRequest {
        approval_id: asked.approval_id.clone(),
        option: v1::PermissionOption::AllowOnce.into(),
        updated_input: payload(r#"{"command":"make push --dry-run"}"#),
        feedback: "only a dry run".to_owned(),
        content_blocks: vec![(&JsonPayload::from_checked(r#"{"type":"text","text":"why"}"#)).into()],
        ..Default::default()
    };
    let refused = async |request: v1::ResolveApprovalRequest, field: &str| {
        let status = role.client.clone().resolve_approval(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{field}");
        assert!(status.message().contains(field), "{field}: {}", status.message());
    };
    let base = || good.clone();
    refused(v1::ResolveApprovalRequest { option: 0, ..base() }, "option").await;
    refused(v1::ResolveApprovalRequest { behavior: v1::Behavior::Deny.into(), ..base() }, "behavior").await;
    refused(v1::ResolveApprovalRequest { updated_input: payload("[]"), ..base() }, "updated_input").await;
    let reject = v1::PermissionOption::RejectOnce.into();
    refused(v1::ResolveApprovalRequest { option: reject, ..base() }, "updated_input").await;
    refused(v1::ResolveApprovalRequest { suggestion_id: "x".to_owned(), ..base() }, "suggestion_id").await;
    refused(v1::ResolveApprovalRequest { feedback: "x".repeat(4_001), ..base() }, "feedback").await;
    let approved = role.client.clone().resolve_approval(good).await.unwrap().into_inner().approval.unwrap();
    let decision = approved.resolution.unwrap();
    assert_eq!((decision.user_modified, decision.accept_feedback.as_deref()), (Some(true), Some("only a dry run")));
    assert_eq!((decision.updated_input, decision.content_blocks.len()), (approved.updated_input, 1));
    let edited = v1::DecideRequest { approval_ref: asked.approval_id, ..shell_call("inv_1", "make push --dry-run") };
    assert_eq!(role.decide(edited).await.decision.unwrap().behavior(), v1::Behavior::Allow);
    role.stop().await;
}

#[tokio::test]
async fn an_always_answers_the_next_call_too() {
    for home in Home::every().await {
        let role = home.start().await;
        let asked = role.ask("inv_1").await;
        let always = role.resolve(&asked.approval_id, v1::PermissionOption::AllowAlways).await.unwrap();
        assert_eq!(always.chosen_option(), v1::PermissionOption::AllowAlways);
        let next = role.decide(shell_call("inv_2", "make push")).await.decision.unwrap();
        let rule = next.reason.unwrap().rule_ref.expect("a rule decides");
        assert!(rule.starts_with("rule/default/appr_"), "{rule}");
        assert_eq!(next.behavior, v1::Behavior::Allow as i32);
        assert_eq!(role.decide(shell_call("inv_3", "rm x")).await.decision.unwrap().behavior(), v1::Behavior::Ask);
        let request = v1::RevokeRuleRequest { rule_id: rule, reason: "enough".to_owned() };
        role.client.clone().revoke_rule(request).await.unwrap();
        let after = role.decide(shell_call("inv_4", "make push")).await;
        let again = after.approval.expect("a question again");
        role.resolve(&again.approval_id, v1::PermissionOption::RejectAlways).await.unwrap();
        let never = role.decide(shell_call("inv_5", "make push")).await.decision.unwrap();
        assert_eq!(never.behavior(), v1::Behavior::Deny);
        role.stop().await;
    }
}

#[tokio::test]
async fn an_unanswered_question_becomes_a_refusal_by_itself() {
    let home = Home::embedded();
    let role = home.start_with("[permission]\napproval_ttl_ms = 1\n", None).await;
    let asked = role.ask("inv_1").await;
    let expired = async {
        loop {
            let approval = role.get(&asked.approval_id).await.approval.unwrap();
            if approval.state() == v1::ApprovalState::Expired {
                return approval;
            }
            toolplane_wait::look_again().await;
        }
    };
    let expired = timeout(PATIENCE, expired).await.expect("the question expires");
    assert_eq!(expired.resolution.unwrap().behavior(), v1::Behavior::Deny);
    let late = role.resolve(&asked.approval_id, v1::PermissionOption::AllowOnce).await.unwrap_err();
    assert_eq!(late.code(), Code::FailedPrecondition);
    role.stop().await;
}

#[tokio::test]
async fn a_question_that_ended_without_an_answer_is_put_again() {
    let home = Home::embedded();
    let role = home.start().await;
    let first = role.ask("inv_1").await;
    let request = v1::WithdrawApprovalRequest { approval_id: first.approval_id.clone(), reason: "canceled".to_owned() };
    role.client.clone().withdraw_approval(request).await.unwrap();
    let second = role.ask("inv_1").await;
    assert_eq!(second.state(), v1::ApprovalState::Pending);
    assert_ne!(second.approval_id, first.approval_id);
    assert_eq!(role.ask("inv_1").await, second);
    role.resolve(&second.approval_id, v1::PermissionOption::RejectOnce).await.unwrap();
    assert_eq!(role.ask("inv_1").await.state(), v1::ApprovalState::Rejected, "an answer stands");
    role.stop().await;
}

#[tokio::test]
async fn a_watcher_misses_nothing_and_may_come_back_elsewhere() {
    for home in Home::every().await {
        let role = home.start().await;
        let first = role.ask("inv_1").await;
        let watch = async |from_revision| {
            let request = v1::WatchApprovalsRequest { from_revision, ..Default::default() };
            role.client.clone().watch_approvals(request).await.unwrap().into_inner()
        };
        let mut live = watch(0).await;
        let history = timeout(PATIENCE, live.message()).await.unwrap().unwrap().unwrap();
        assert_eq!((history.changes.len(), history.revision), (1, 1));
        role.resolve(&first.approval_id, v1::PermissionOption::RejectOnce).await.unwrap();
        role.ask("inv_2").await;
        let mut revisions = Vec::new();
        while revisions.len() < 2 {
            let update = timeout(PATIENCE, live.message()).await.unwrap().unwrap().unwrap();
            revisions.extend(update.changes.iter().map(|change| change.revision));
        }
        assert_eq!(revisions, [2, 3]);
        let mut resumed = watch(2).await;
        let rest = timeout(PATIENCE, resumed.message()).await.unwrap().unwrap().unwrap();
        assert_eq!((rest.changes.len(), rest.changes[0].revision, rest.revision), (1, 3, 3));
        let mut from_now = watch(u64::MAX).await;
        let third = role.ask("inv_3").await;
        let (mut latest, mut seen) = (0, Vec::new());
        while latest < 4 {
            let update = timeout(PATIENCE, from_now.message()).await.unwrap().unwrap().unwrap();
            latest = update.revision;
            seen.extend(update.changes.into_iter().map(|change| change.approval.unwrap().approval_id));
        }
        assert_eq!(seen, [third.approval_id], "only what came after");
        role.shutdown.request();
        let to_the_end = async {
            loop {
                match live.message().await {
                    Ok(update) => assert!(update.is_some(), "it ends as if there were nothing more to come"),
                    Err(status) => return status.code(),
                }
            }
        };
        let code = timeout(PATIENCE, to_the_end).await.expect("a stop ends the stream in order");
        assert_eq!(code, tonic::Code::Unavailable, "it can be gone on with elsewhere");
        role.stop().await;
    }
}

#[tokio::test]
async fn two_processes_on_one_store_are_one_book() {
    let [_, home] = Home::every().await;
    let (one, other) = (home.start().await, home.start().await);
    let watching = v1::WatchApprovalsRequest::default();
    let mut stream = other.client.clone().watch_approvals(watching).await.unwrap().into_inner();
    timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
    let mut policy = other.client.clone().watch_policy(v1::WatchPolicyRequest::default()).await.unwrap().into_inner();
    let first = timeout(PATIENCE, policy.message()).await.unwrap().unwrap().unwrap();
    let asked = one.ask("inv_1").await;
    let told = timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
    assert_eq!(told.changes[0].approval.as_ref().unwrap().approval_id, asked.approval_id);
    assert_eq!(other.ask("inv_1").await, asked, "asked once, wherever");
    other.resolve(&asked.approval_id, v1::PermissionOption::AllowAlways).await.unwrap();
    let next = one.decide(shell_call("inv_2", "make push")).await.decision.unwrap();
    assert_eq!(next.behavior(), v1::Behavior::Allow, "the rule of the other process counts at once");
    let second = timeout(PATIENCE, policy.message()).await.unwrap().unwrap().unwrap();
    assert!(second.revision > first.revision && second.policy_digest == next.policy_digest);
    drop((stream, policy));
    one.stop().await;
    other.stop().await;
}
