use tonic::Code;
use toolplane_proto::v1;
use toolplane_runtime::status::describe;

use crate::support::{Home, call_of, shell_call};

#[tokio::test]
async fn every_behavior_carries_its_whole_reason() {
    let home = Home::embedded();
    let role = home.start().await;
    let check = async |tool: &str, read_only: bool, can_ask: bool, behavior: v1::Behavior, reason: &str, rule: &str| {
        let answer = role.decide(v1::DecideRequest { can_ask, ..call_of(tool, "inv_1", read_only) }).await;
        let decision = answer.decision.unwrap();
        assert_eq!(decision.behavior(), behavior, "{tool}");
        let why = decision.reason.clone().unwrap();
        assert_eq!((why.r#type.as_str(), why.rule_ref.as_deref().unwrap_or_default()), (reason, rule), "{tool}");
        assert!(decision.policy_digest.starts_with("sha256:") && decision.decided_at.is_some());
        assert_eq!(decision.mode.as_deref(), Some("default"));
        assert_eq!(answer.approval.is_some(), behavior == v1::Behavior::Ask);
        let again = role.decide(v1::DecideRequest { can_ask, ..call_of(tool, "inv_1", read_only) }).await;
        let again = again.decision.unwrap();
        assert_eq!(again.decision_id, decision.decision_id, "a repeated question gets the same answer");
        assert!(!decision.rule_refs.contains(&"watched".to_owned()), "a watching rule decides nothing");
    };
    check("files.read", true, true, v1::Behavior::Allow, "rule", "reads").await;
    check("secrets.read", true, true, v1::Behavior::Deny, "rule", "no_secrets").await;
    check("files.write", false, true, v1::Behavior::Ask, "other", "").await;
    check("files.append", false, false, v1::Behavior::Deny, "async_agent", "").await;
    role.stop().await;
}

#[tokio::test]
async fn a_rehearsal_explains_and_leaves_nothing_behind() {
    let home = Home::embedded();
    let role = home.start().await;
    let answer = role.decide(v1::DecideRequest { dry_run: true, ..call_of("files.write", "inv_1", false) }).await;
    let explanation = answer.explanation.unwrap();
    assert_eq!(answer.decision.unwrap().policy_digest, explanation.policy_digest);
    let watched =
        explanation.rules.iter().find(|rule| rule.rule_id == "watched").expect("the watching rule is told of");
    assert!(watched.shadow && !watched.decided);
    let shown = answer.approval.expect("the question as it would be put");
    assert_eq!(shown.options.len(), 4, "{:?}", shown.options);
    let request = v1::GetApprovalRequest { approval_id: shown.approval_id.clone(), ..Default::default() };
    assert_eq!(role.client.clone().get_approval(request).await.unwrap_err().code(), Code::NotFound);
    let asked = role.decide(call_of("files.write", "inv_1", false)).await;
    assert_eq!(asked.approval.unwrap().approval_id, shown.approval_id);
    assert!(asked.explanation.is_none());
    role.stop().await;
}

#[tokio::test]
async fn a_wrong_request_is_refused_by_its_field_and_nothing_of_it_is_told() {
    let home = Home::embedded();
    let role = home.start().await;
    let good = call_of("files.read", "inv_1", true);
    let broken = v1::json_payload::Body::Inline(r#"{"secret":1,"secret":2}"#.into());
    let elsewhere = v1::json_payload::Body::Ref("payload:x".to_owned());
    let payload = |body| Some(v1::JsonPayload { body: Some(body), ..Default::default() });
    let cases = [
        ("invocation_id", v1::DecideRequest { invocation_id: "in v".to_owned(), ..good.clone() }),
        ("tool_name", v1::DecideRequest { tool_name: String::new(), ..good.clone() }),
        ("declaration_digest", v1::DecideRequest { declaration_digest: "abc".to_owned(), ..good.clone() }),
        ("call_input_digest", v1::DecideRequest { call_input_digest: "abc".to_owned(), ..good.clone() }),
        ("permission_input", v1::DecideRequest { permission_input: None, ..good.clone() }),
        ("permission_input", v1::DecideRequest { permission_input: payload(broken), ..good.clone() }),
        ("permission_input", v1::DecideRequest { permission_input: payload(elsewhere), ..good.clone() }),
        ("mode", v1::DecideRequest { mode: "yolo".to_owned(), ..good.clone() }),
        ("aliases", v1::DecideRequest { aliases: vec![String::new(); 2_000], ..good.clone() }),
    ];
    for (field, request) in cases {
        let status = role.client.clone().decide(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{field}");
        let told = describe(&status).to_string();
        assert!(told.contains(field) && !told.contains("secret\""), "{field}: {told}");
    }
    let foreign = role.client.clone().decide(v1::DecideRequest { tenant: "other".to_owned(), ..good }).await;
    assert_eq!(foreign.unwrap_err().code(), Code::PermissionDenied);
    let token = v1::ListApprovalsRequest { page_token: "00".to_owned(), ..Default::default() };
    assert_eq!(role.client.clone().list_approvals(token).await.unwrap_err().code(), Code::InvalidArgument);
    let unknown = v1::GetApprovalRequest { approval_id: "nope".to_owned(), ..Default::default() };
    assert_eq!(role.client.clone().get_approval(unknown).await.unwrap_err().code(), Code::NotFound);
    role.stop().await;
}

#[tokio::test]
async fn an_approved_call_is_looked_at_again_under_the_rules_of_that_moment() {
    let home = Home::embedded();
    let role = home.start().await;
    let asked = role.ask("inv_1").await;
    role.resolve(&asked.approval_id, v1::PermissionOption::AllowOnce).await.unwrap();
    let again = v1::DecideRequest { approval_ref: asked.approval_id.clone(), ..shell_call("inv_1", "make push") };
    let stands = role.decide(again.clone()).await;
    let decision = stands.decision.unwrap();
    assert_eq!((decision.behavior(), stands.approval.is_none()), (v1::Behavior::Allow, true));
    assert_eq!(decision.approval_request_ref, asked.approval_id);
    assert!(decision.expires_at.is_some());
    let other_input =
        v1::DecideRequest { approval_ref: asked.approval_id.clone(), ..shell_call("inv_1", "make push -f") };
    let fresh = role.decide(other_input).await.approval.expect("another call is asked about anew");
    assert_ne!(fresh.approval_id, asked.approval_id);
    let deny = v1::PermissionRule {
        source: "user_settings".to_owned(),
        behavior: v1::Behavior::Deny.into(),
        matcher: "Bash(make push:*)".to_owned(),
        ..Default::default()
    };
    let request = v1::AddRulesRequest { rules: vec![deny], ..Default::default() };
    let added = role.client.clone().add_rules(request).await.unwrap().into_inner();
    let denied = role.decide(again).await.decision.unwrap();
    assert_eq!((denied.behavior(), denied.policy_digest), (v1::Behavior::Deny, added.policy_digest));
    assert_eq!(denied.reason.unwrap().rule_ref, Some(added.rules[0].rule_id.clone()));
    role.stop().await;
}

#[tokio::test]
async fn a_question_nobody_waits_for_any_more_is_taken_back() {
    let home = Home::embedded();
    let role = home.start().await;
    let asked = role.ask("inv_1").await;
    let again = || v1::DecideRequest { approval_ref: asked.approval_id.clone(), ..shell_call("inv_1", "make push") };
    let waiting = role.decide(again()).await.approval.unwrap();
    assert_eq!(waiting, asked, "the question that waits is this one");
    let other = v1::PermissionRule {
        source: "user_settings".to_owned(),
        behavior: v1::Behavior::Ask.into(),
        matcher: "Bash(make push:*)".to_owned(),
        ..Default::default()
    };
    role.client.clone().add_rules(v1::AddRulesRequest { rules: vec![other], ..Default::default() }).await.unwrap();
    let next = role.decide(again()).await.approval.unwrap();
    assert_ne!(next.approval_id, asked.approval_id);
    let old = role.get(&asked.approval_id).await.approval.unwrap();
    assert_eq!((old.state(), old.feedback.as_str()), (v1::ApprovalState::Withdrawn, "superseded"));
    assert_eq!(role.get(&next.approval_id).await.approval.unwrap().state(), v1::ApprovalState::Pending);
    role.stop().await;
}
