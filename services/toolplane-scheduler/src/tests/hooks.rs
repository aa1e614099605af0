//! Hooks before a call.

use serde_json::json;
use toolplane_records::event::LogEvent;
use toolplane_records::vocabulary::{ErrorClass, EventClass, InvocationStatus as Status, MutationSource};

use toolplane_store::Store as _;

use super::fakes::tool;
use super::*;

fn input_of(request: &v1::RunHookRequest) -> serde_json::Value {
    let Some(Body::Inline(bytes)) = request.observable_input.as_ref().and_then(|input| input.body.clone()) else {
        panic!("no input")
    };
    serde_json::from_slice(&bytes).unwrap()
}

fn rewrite(input: serde_json::Value) -> v1::HookOutput {
    v1::HookOutput { updated_input: Some(super::payload(&input.to_string())), ..Default::default() }
}

fn hint(behavior: v1::Behavior) -> v1::HookOutput {
    let hint = v1::HookPermission { behavior: behavior.into(), message: "because".into() };
    v1::HookOutput { permission_result: Some(hint), ..Default::default() }
}

#[tokio::test]
async fn a_rewritten_input_is_checked_looked_at_again_and_runs() {
    let world = World::with_hooks(&["h"]).await;
    world.fakes.hook(|request| {
        let mut input = input_of(request);
        input["path"] = json!("/workspace/a");
        input["ref"] = json!("r1");
        v1::HookOutput { additional_context: vec![super::payload("\"made absolute\"")], ..rewrite(input) }
    });
    let record = world.call(r#"{"path":"a","key":"s3cret"}"#).await;
    assert_eq!(world.fakes.told().len(), 2, "once more, to see whether it agrees with what it made");
    assert_eq!(input_of(&world.fakes.told()[0])["key"], "[redacted]");
    let mut messages = world.worker().await;
    let (_, _, input) = offered(&mut messages).await;
    assert_eq!(value(&input), json!({ "path": "/workspace/a", "key": "s3cret", "depth": 1, "ref": "r1" }));
    let mutations = world.parts.calls.records().mutations(&record).await.unwrap();
    let sources: Vec<_> = mutations.iter().map(|mutation| mutation.source_type).collect();
    assert_eq!(sources, [MutationSource::Runtime, MutationSource::Hook]);
    assert_eq!(
        (mutations[1].source_ref.as_str(), &mutations[1].changed_fields[..]),
        ("h", &["/path".to_owned(), "/ref".into()][..])
    );
    let decided = &world.fakes.questions()[0];
    assert_eq!(decided.call_input_digest, input.digest().to_string(), "decided about what runs");
    assert_eq!(record.hook_refs.len(), 2);
    let kept = world.parts.calls.records().hooks(&record).await.unwrap();
    assert_eq!((kept.len(), kept[0].hook_id.as_str()), (2, "h"));
    let log = world.parts.calls.records().log(&record.key()).await.unwrap();
    let told = |event: &&LogEvent| event.class == EventClass::HookPreCompleted;
    assert!(log.iter().find(told).unwrap().data.as_ref().unwrap().text().contains("made absolute"));
}

#[tokio::test]
async fn hooks_that_never_agree_end_the_call() {
    let world = World::with_hooks(&["h"]).await;
    world.fakes.hook(|request| {
        let mut input = input_of(request);
        input["path"] = json!(format!("{}x", input["path"].as_str().unwrap()));
        rewrite(input)
    });
    let record = world.call(r#"{"path":"a"}"#).await;
    assert_eq!(
        (record.status, world.code(&record.invocation_id).await.as_str()),
        (Status::Denied, "hooks.too_many_rewrites")
    );
    assert!(world.fakes.questions().is_empty(), "nobody was asked about it");
    let mutations = world.parts.calls.records().mutations(&record).await.unwrap();
    assert_eq!(mutations.len(), 1 + 4, "every change is on record, though the call was refused");
}

#[tokio::test]
async fn a_stop_a_denial_and_a_failure_end_the_call() {
    let world = World::with_hooks(&["h"]).await;
    world.fakes.hook(|_| v1::HookOutput { stop: Some(v1::HookStop { reason: "enough".into() }), ..Default::default() });
    let stopped = world.call(r#"{"path":"a"}"#).await;
    let error = world.result(&stopped.invocation_id).await.error.unwrap();
    assert_eq!((error.error_code.as_str(), error.error_class), ("hooks.stopped", ErrorClass::HookBlocked));
    assert!(error.message.contains("enough"));
    assert!(world.fakes.questions().is_empty());

    world.fakes.hook(|_| hint(v1::Behavior::Deny));
    let denied = world.call(r#"{"path":"a"}"#).await;
    assert_eq!((denied.status, world.code(&denied.invocation_id).await.as_str()), (Status::Denied, "hooks.denied"));
    assert_eq!(world.fakes.questions()[0].hook_verdicts[0].message, "because");

    // An answer that means nothing is no answer.
    world.fakes.hook(|_| rewrite(json!("not an object")));
    let failed = world.call(r#"{"path":"a"}"#).await;
    let code = world.code(&failed.invocation_id).await;
    assert!(["hooks.failed", "hooks.invalid_input"].contains(&code.as_str()), "{code}");
    assert_eq!(failed.status, Status::Denied);
}

#[tokio::test]
async fn a_hook_that_does_not_answer_denies() {
    // Nothing is set, so the stand-in answers with an error.
    let world = World::with_hooks(&["h"]).await;
    let record = world.call(r#"{"path":"a"}"#).await;
    assert_eq!((record.status, world.code(&record.invocation_id).await.as_str()), (Status::Denied, "hooks.failed"));
}

#[tokio::test]
async fn an_input_the_tool_cannot_take_ends_the_call() {
    let world = World::with_hooks(&["h"]).await;
    let bad = [
        json!({ "path": 5 }),
        json!({ "other": 1 }),
        json!({ "path": "[redacted]" }),
        json!({ "path": "a", "ref": 5 }),
    ];
    for input in bad {
        world.fakes.hook(move |_| rewrite(input.clone()));
        let record = world.call(r#"{"path":"a","key":"s3cret"}"#).await;
        assert_eq!(
            (record.status, world.code(&record.invocation_id).await.as_str()),
            (Status::Denied, "hooks.invalid_input")
        );
    }
}

#[tokio::test]
async fn a_tool_may_forbid_rewrites() {
    let world = World::with_hooks(&["h"]).await;
    let mut fixed = tool();
    fixed["declaration"]["input_contract"]["mutation_policy"] = json!("forbid");
    world.change(|fakes| fakes.declare(Some(fixed))).await;
    world.fakes.hook(|_| rewrite(json!({ "path": "b" })));
    let record = world.call(r#"{"path":"a"}"#).await;
    assert_eq!(world.code(&record.invocation_id).await, "hooks.mutation_forbidden");
    // Giving back what there was is no rewrite.
    world.fakes.hook(|request| rewrite(input_of(request)));
    let record = world.call(r#"{"path":"a"}"#).await;
    assert!(!record.status.is_terminal());
}

/// What explains a call leaves nothing behind.
#[tokio::test]
async fn an_explanation_stores_nothing() {
    let world = World::with_hooks(&["h"]).await;
    world.fakes.hook(|_| hint(v1::Behavior::Ask));
    let spec = CallSpec::decode(Some(super::spec(r#"{"path":"a"}"#)), &Caller::unauthenticated(), &LIMITS).unwrap();
    let explained = world.preparer.explain(spec).await.unwrap();
    assert!(explained.decision.is_some() && explained.explanation.is_some() && explained.error.is_none());
    assert_eq!(explained.hooks.len(), 1);
    assert!(world.fakes.questions()[0].dry_run);
    let wrong = CallSpec::decode(Some(super::spec(r#"{"path":5}"#)), &Caller::unauthenticated(), &LIMITS).unwrap();
    let refused = world.preparer.explain(wrong).await.unwrap();
    assert_eq!(refused.error.unwrap().error_code, "input.schema_violation");
    assert!(refused.decision.is_none());
    assert_eq!(world.store.indexes("").await.unwrap(), [""; 0]);
}
