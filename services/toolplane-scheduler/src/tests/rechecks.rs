//! What was decided is compared with what is in force when a call's turn comes.

use serde_json::json;
use toolplane_lifecycle::{Command, LeaseKey};
use toolplane_records::vocabulary::{ErrorClass, InvocationStatus as Status, Recoverability, ResultStatus};

use super::fakes::{Says, tool};
use super::*;
use crate::dispatch::Started;

#[tokio::test]
async fn a_call_whose_decision_stands_starts_without_another_question() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    let mut messages = world.worker().await;
    let (record, ..) = offered(&mut messages).await;
    assert_eq!(
        (&record.invocation_id, record.dispatch.as_ref().unwrap().policy_digest.as_str()),
        (&queued.invocation_id, "v1")
    );
    assert_eq!(world.fakes.questions().len(), 1);
    // And a call that meets a free worker starts in the commit that accepts it.
    assert_eq!(world.call(r#"{"path":"b"}"#).await.status, Status::Running);
}

/// The moment a call goes by is asked by when it is made, and again while it waits.
#[tokio::test]
async fn a_waiting_call_goes_by_its_moment() {
    let world = World::new().await;
    let queued = world.call_with(v1::InvocationSpec { surface_moment: "2.41".into(), ..spec(r#"{"path":"a"}"#) }).await;
    assert_eq!(queued.surface_moment.as_deref(), Some("2.41"));
    let asked = world.fakes.moments().len();
    let mut anew = tool();
    anew["declaration"]["description"] = json!("Reads a file, in other words.");
    world.change(|fakes| fakes.declare(Some(anew))).await;
    let mut messages = world.worker().await;
    let (record, ..) = offered(&mut messages).await;
    assert_eq!(record.invocation_id, queued.invocation_id);
    let moments = world.fakes.moments();
    assert!(moments.len() > asked && moments.iter().all(|moment| moment == "2.41"), "{moments:?}");
    // What its surface says of policies is asked with, each time.
    let questions = world.fakes.questions();
    assert!(questions.iter().all(|asked| asked.surface_policy_refs == ["strict"]), "{questions:?}");
    assert_eq!(record.policy_refs, ["strict"]);
    // Where nothing is named, nothing is.
    world.call(r#"{"path":"b"}"#).await;
    assert_eq!(world.fakes.moments().last().map(String::as_str), Some(""));
}

/// A deny that came between the decision and the start: the call never starts.
#[tokio::test]
async fn a_call_that_policy_denies_meanwhile_never_starts() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    world.change(|fakes| fakes.rules("v2", Says::Deny)).await;
    let mut messages = world.worker().await;
    let denied = world.until(&queued.invocation_id, Status::Denied).await;
    assert_eq!((denied.attempt, denied.lease_no), (0, 0), "no worker ever had it");
    let error = world.result(&denied.invocation_id).await.error.unwrap();
    assert_eq!((error.error_code.as_str(), error.error_class), ("permission.revoked", ErrorClass::PermissionDenied));
    let last = denied.permission_decision_refs.last().unwrap();
    assert_eq!(
        world
            .parts
            .calls
            .records()
            .decision(&TenantId::unauthenticated(), last.as_str())
            .await
            .unwrap()
            .unwrap()
            .policy_digest,
        "v2"
    );
    assert!(messages.try_recv().is_err());
}

#[tokio::test]
async fn a_call_that_another_rule_set_allows_goes_on_under_it() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    world.change(|fakes| fakes.rules("v2", Says::Allow)).await;
    let mut messages = world.worker().await;
    let (record, ..) = offered(&mut messages).await;
    assert_eq!(record.invocation_id, queued.invocation_id);
    assert_eq!(record.dispatch.as_ref().unwrap().policy_digest, "v2");
    assert_eq!(record.permission_decision_refs.len(), 2);
}

#[tokio::test]
async fn a_call_that_policy_asks_about_meanwhile_is_parked_and_runs_after_the_answer() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    world.change(|fakes| fakes.rules("v2", Says::Ask)).await;
    let mut messages = world.worker().await;
    let parked = world.until(&queued.invocation_id, Status::AwaitingApproval).await;
    world.fakes.approve(parked.approval_request_ref.as_ref().unwrap().as_str(), None);
    let (record, ..) = offered(&mut messages).await;
    assert_eq!(record.invocation_id, queued.invocation_id, "the same call goes on");
}

/// It cannot be told whether the decision is still in force: the call waits, and goes on when it can.
#[tokio::test]
async fn a_call_waits_while_nobody_can_decide() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    world.fakes.mute(true);
    world.change(|fakes| fakes.rules("v2", Says::Allow)).await;
    let mut messages = world.worker().await;
    while world.fakes.refused() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let waiting = world.record(&queued.invocation_id).await;
    assert_eq!((waiting.status, waiting.lease_no), (Status::Queued, 0));
    world.fakes.mute(false);
    assert_eq!(offered(&mut messages).await.0.invocation_id, queued.invocation_id);
}

/// Changes cannot be heard of, and there is no answer: what was decided before that is no longer good enough.
#[tokio::test]
async fn a_call_waits_while_the_service_is_gone() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    world.change(|fakes| fakes.away(true)).await;
    let mut messages = world.worker().await;
    while world.fakes.refused() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(world.record(&queued.invocation_id).await.lease_no, 0, "though the same rules are in force");
    world.fakes.away(false);
    assert_eq!(offered(&mut messages).await.0.invocation_id, queued.invocation_id);
}

/// What an approval let run must run in time; then a person is asked once more, and the old answer counts for nothing.
#[tokio::test]
async fn an_approval_that_ran_out_is_asked_for_again() {
    let world = World::new().await;
    world.change(|fakes| fakes.rules("v1", Says::Ask)).await;
    let parked = world.call(r#"{"path":"a"}"#).await;
    let first = parked.approval_request_ref.clone().unwrap();
    world.fakes.approve(first.as_str(), None);
    let queued = world.until(&parked.invocation_id, Status::Queued).await;
    let expire = |record: &Invocation| {
        let mut decision = serde_json::from_value::<toolplane_records::decision::PermissionDecision>(json!({
            "decision_id": "perm_short", "invocation_id": record.invocation_id, "behavior": "allow",
            "decided_at": "2026-01-01T00:00:00Z", "expires_at": "1970-01-01T00:00:00Z",
        }))
        .unwrap();
        decision.policy_digest = "v1".into();
        Command::Confirm { decision, replan: None }
    };
    world.parts.calls.command(&queued.key(), expire).await.unwrap();
    world.fakes.forget_answers();
    let mut messages = world.worker().await;
    let again = world.until(&queued.invocation_id, Status::AwaitingApproval).await;
    assert_ne!(again.approval_request_ref, Some(first.clone()), "another question");
    assert_eq!(
        world.fakes.questions().last().unwrap().approval_ref,
        first.as_str(),
        "the service knows what became of it"
    );
    assert!(messages.try_recv().is_err());
}

#[tokio::test]
async fn a_tool_that_was_retired_meanwhile_is_not_run() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    world.change(|fakes| fakes.declare(None)).await;
    let mut messages = world.worker().await;
    let ended = world.until(&queued.invocation_id, Status::Denied).await;
    assert_eq!(world.code(&ended.invocation_id).await, "surface.retired");
    assert!(messages.try_recv().is_err());
}

#[tokio::test]
async fn a_tool_that_was_declared_anew_is_decided_about_and_run_as_it_is_now() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    let mut anew = tool();
    anew["execution_profile"]["timeout_ms"] = json!(7_000);
    world.change(|fakes| fakes.declare(Some(anew))).await;
    let mut messages = world.worker().await;
    let (record, ..) = offered(&mut messages).await;
    assert_eq!(record.invocation_id, queued.invocation_id);
    assert_eq!(record.dispatch.as_ref().unwrap().timeout_ms, 7_000);
    let questions = world.fakes.questions();
    assert_ne!(questions[0].declaration_digest, questions[1].declaration_digest);
}

/// The arguments were made for another schema: the call does not run under this one, whether they fit it or not.
#[tokio::test]
async fn a_waiting_call_does_not_run_under_another_schema() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    let mut anew = tool();
    anew["declaration"]["input_contract"]["model_input_schema"]["properties"]["more"] = json!({});
    world.change(|fakes| fakes.declare(Some(anew))).await;
    let mut messages = world.worker().await;
    let ended = world.until(&queued.invocation_id, Status::Denied).await;
    assert_eq!(world.code(&ended.invocation_id).await, "surface.schema_changed");
    assert!(messages.try_recv().is_err());
}

/// A caller may say which declaration it goes by; what changed since is the answer, and what to do.
#[tokio::test]
async fn a_call_for_an_older_schema_is_told_what_changed() {
    let world = World::new().await;
    let digest = |tool: serde_json::Value| {
        serde_json::from_value::<toolplane_catalog::Registration>(tool).unwrap().digest().to_string()
    };
    let by = |digest: String| v1::InvocationSpec { declaration_digest: digest, ..spec(r#"{"path":"a"}"#) };
    let _messages = world.worker().await;
    world.call(r#"{"path":"remembers the tool"}"#).await;
    let known = world.call_with(by(digest(tool()))).await;
    assert_eq!(known.status, Status::Running);
    let mut anew = tool();
    anew["declaration"]["input_contract"]["model_input_schema"]["required"] = json!(["path", "key"]);
    world.change(|fakes| fakes.declare(Some(anew))).await;
    let stale = world.call_with(by(digest(tool()))).await;
    let error = world.result(&stale.invocation_id).await.error.unwrap();
    assert_eq!((error.error_code.as_str(), error.error_class), ("surface.schema_changed", ErrorClass::SchemaNotLoaded));
    assert_eq!(error.recoverability, Recoverability::DiscoverToolFirst);
    assert!(error.message.contains("`/key` is required now"), "{}", error.message);
}

/// The call no longer fits the tool: it ends and says so.
#[tokio::test]
async fn a_call_that_does_not_fit_the_new_declaration_ends() {
    let world = World::new().await;
    let queued = world.call(r#"{"path":"a"}"#).await;
    let mut anew = tool();
    anew["declaration"]["input_contract"]["runtime_input_schema"]["required"] = json!(["ref"]);
    world.change(|fakes| fakes.declare(Some(anew))).await;
    let _messages = world.worker().await;
    let ended = world.until(&queued.invocation_id, Status::Denied).await;
    assert_eq!(world.code(&ended.invocation_id).await, "permission.tool_changed");
    assert_eq!(world.result(&ended.invocation_id).await.status, ResultStatus::Denied);
}

/// Between the claim and the first effect there is one more moment to be refused in.
#[tokio::test]
async fn a_claimed_call_does_not_start_when_the_rules_change() {
    let world = World::new().await;
    let mut once = tool();
    once["interface"]["is_read_only"] = json!(false);
    world.change(|fakes| fakes.declare(Some(once))).await;
    let mut messages = world.worker().await;
    let claimed = world.call(r#"{"path":"a"}"#).await;
    assert_eq!(claimed.status, Status::Queued, "claimed, and not started");
    let (_, lease, _): (_, LeaseKey, _) = offered(&mut messages).await;
    world.change(|fakes| fakes.rules("v2", Says::Deny)).await;
    let refused = world.parts.starts.start(&lease, 15_000).await.unwrap();
    assert!(matches!(refused, Started::Ended(_)));
    let denied = world.until(&claimed.invocation_id, Status::Denied).await;
    assert_eq!((denied.attempt, world.code(&denied.invocation_id).await.as_str()), (0, "permission.revoked"));
}

/// What decided first is kept, so that the second decision is made from the same.
#[tokio::test]
async fn a_second_decision_is_made_from_what_the_first_was_made_from() {
    let world = World::with_hooks(&["h"]).await;
    world.fakes.hook(|_| v1::HookOutput {
        permission_result: Some(v1::HookPermission { behavior: v1::Behavior::Ask.into(), message: "careful".into() }),
        ..Default::default()
    });
    let assurance = v1::CallAssurance { confidence: Some(0.5), ..Default::default() };
    let spec = v1::InvocationSpec {
        no_approver: true,
        permission_mode: "acceptEdits".into(),
        assurance: Some(assurance),
        session_ref: "s1".into(),
        ..spec(r#"{"path":"a","key":"k"}"#)
    };
    world.call_with(spec).await;
    world.change(|fakes| fakes.rules("v2", Says::Allow)).await;
    let mut messages = world.worker().await;
    offered(&mut messages).await;
    let mut questions = world.fakes.questions();
    let mut second = questions.pop().unwrap();
    assert_eq!(second.approval_ref, "");
    second.deadline_at = questions[0].deadline_at;
    assert_eq!(questions, [second.clone()]);
    assert_eq!(second.aliases, ["test__tool", "tool", "test.other", "test__other"]);
    assert_eq!((second.mode.as_str(), second.can_ask, second.session_ref.as_str()), ("accept_edits", false, "s1"));
    assert_eq!((second.permission_matcher.as_str(), second.redacted_fields), ("path_pattern", vec!["/key".to_owned()]));
    assert_eq!(second.hook_verdicts[0].message, "careful");
}
