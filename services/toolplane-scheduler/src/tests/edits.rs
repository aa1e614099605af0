//! Answers that change the input.

use serde_json::{Value, json};
use toolplane_records::vocabulary::{ErrorClass, InvocationStatus as Status, MutationSource};

use super::fakes::{Says, tool};
use super::*;

/// A call that waits for a person.
async fn parked(world: &World) -> (InvocationId, String) {
    world.fakes.rules("v1", Says::Ask);
    let record = world.call(r#"{"path":"a","key":"s3cret"}"#).await;
    assert_eq!(record.status, Status::AwaitingApproval);
    (record.invocation_id.clone(), record.approval_request_ref.as_ref().unwrap().to_string())
}

fn edited(path: &str) -> Value {
    json!({ "path": path, "key": "[redacted]", "depth": 1 })
}

#[tokio::test]
async fn an_edited_input_is_what_runs_and_the_models_words_stay() {
    let world = World::new().await;
    let (id, question) = parked(&world).await;
    let before = world.record(&id).await;
    let mut messages = world.worker().await;
    world.fakes.approve(&question, Some(edited("b")));
    let (record, _, input) = offered(&mut messages).await;
    assert_eq!(value(&input), json!({ "path": "b", "key": "s3cret", "depth": 1 }), "the key is put back");
    assert_eq!(record.inputs.model, before.inputs.model);
    assert_ne!(record.inputs.call, before.inputs.call);
    let mutations = world.parts.calls.records().mutations(&record).await.unwrap();
    let last = mutations.last().unwrap();
    assert_eq!((last.source_type, last.source_ref.as_str()), (MutationSource::PermissionPrompt, question.as_str()));
    assert_eq!((&last.changed_fields, last.reason.as_str()), (&vec!["/path".to_owned()], "as discussed"));
    let second = world.fakes.questions().pop().unwrap();
    assert_eq!(second.approval_ref, question, "decided again, with the approval");
    assert_eq!(second.call_input_digest, record.inputs.call.as_ref().unwrap().digest.to_string());
    let answer = &record.permission_decision_refs[1];
    assert_eq!(
        world
            .parts
            .calls
            .records()
            .decision(&TenantId::unauthenticated(), answer.as_str())
            .await
            .unwrap()
            .unwrap()
            .user_modified,
        Some(true)
    );
}

#[tokio::test]
async fn an_answer_that_changes_nothing_is_an_ordinary_yes() {
    let world = World::new().await;
    let (_, question) = parked(&world).await;
    let mut messages = world.worker().await;
    world.fakes.approve(&question, Some(edited("a")));
    let (record, ..) = offered(&mut messages).await;
    assert_eq!(world.fakes.questions().len(), 1, "the same input is no other question");
    assert_eq!(world.parts.calls.records().mutations(&record).await.unwrap().len(), 1, "only the defaults");
}

#[tokio::test]
async fn an_edit_may_set_internal_fields_and_only_those_that_fit() {
    let world = World::new().await;
    let mut messages = world.worker().await;
    let (_, question) = parked(&world).await;
    let with = |value: Value| {
        let mut edit = edited("a");
        edit["ref"] = value;
        Some(edit)
    };
    world.fakes.approve(&question, with(json!("r1")));
    assert_eq!(value(&offered(&mut messages).await.2)["ref"], "r1");
    let (id, question) = parked(&world).await;
    world.fakes.approve(&question, with(json!(5)));
    world.until(&id, Status::Denied).await;
    assert_eq!(world.code(&id).await, "approval.edit_invalid");
}

#[tokio::test]
async fn an_edit_the_tool_cannot_take_ends_the_call() {
    let world = World::new().await;
    let cases = [
        (json!({ "path": 5, "key": "[redacted]" }), "/path"),
        (json!({ "key": "[redacted]" }), "/path"),
        (json!({ "path": "a", "key": "[redacted]", "other": 1 }), "/other"),
    ];
    for (edit, field) in cases {
        let (id, question) = parked(&world).await;
        world.fakes.approve(&question, Some(edit));
        world.until(&id, Status::Denied).await;
        let error = world.result(&id).await.error.unwrap();
        assert_eq!(
            (error.error_code.as_str(), error.error_class),
            ("approval.edit_invalid", ErrorClass::SchemaValidationFailed)
        );
        assert_eq!(error.field_violations[0].field, field);
    }
    // A mark where nothing was hidden.
    let (id, question) = parked(&world).await;
    world.fakes.approve(&question, Some(json!({ "path": "[redacted]", "key": "[redacted]" })));
    world.until(&id, Status::Denied).await;
    assert_eq!(world.code(&id).await, "approval.edit_invalid");
}

#[tokio::test]
async fn a_tool_may_forbid_edits() {
    let world = World::new().await;
    let mut fixed = tool();
    fixed["declaration"]["input_contract"]["mutation_policy"] = json!("hooks_only");
    world.change(|fakes| fakes.declare(Some(fixed))).await;
    let (id, question) = parked(&world).await;
    world.fakes.approve(&question, Some(edited("b")));
    world.until(&id, Status::Denied).await;
    assert_eq!(world.code(&id).await, "approval.edit_invalid");
}

/// The person said yes; the rules say no to what the person made of it.
#[tokio::test]
async fn a_denied_edit_ends_the_call_and_is_on_record() {
    let world = World::new().await;
    let (id, question) = parked(&world).await;
    world.fakes.rules("v1", Says::Deny);
    world.fakes.approve(&question, Some(edited("b")));
    let denied = world.until(&id, Status::Denied).await;
    assert_eq!(world.code(&id).await, "permission.denied");
    assert_eq!(denied.permission_decision_refs.len(), 3, "the question, the answer and the denial");
    let mutations = world.parts.calls.records().mutations(&denied).await.unwrap();
    assert_eq!(mutations.last().unwrap().source_type, MutationSource::PermissionPrompt);
}
