//! Sensitive values: only the executor gets them, and only the payloads it is given hold them.

use serde_json::json;
use toolplane_records::vocabulary::InvocationStatus as Status;

use super::fakes::Says;
use super::*;

const SECRET: &str = "hunter2-s3cret";

#[tokio::test]
async fn a_secret_is_in_the_executors_input_and_nowhere_else() {
    let world = World::with_hooks(&["h"]).await;
    // A hook that writes a secret of its own, and one that keeps the caller's.
    world.fakes.hook(|_| v1::HookOutput {
        updated_input: Some(super::payload(&json!({ "path": "b", "key": "[redacted]", "depth": 1 }).to_string())),
        ..Default::default()
    });
    world.fakes.rules("v1", Says::Ask);
    let record = world.call(&json!({ "path": "a", "key": SECRET }).to_string()).await;
    assert_eq!(record.status, Status::AwaitingApproval);
    let question = record.approval_request_ref.as_ref().unwrap().to_string();
    world.fakes.approve(&question, Some(json!({ "path": "c", "key": "[redacted]", "depth": 1 })));
    let mut messages = world.worker().await;
    let (record, _, input) = offered(&mut messages).await;
    assert_eq!(value(&input)["key"], SECRET);

    let id = &record.invocation_id;
    let mut seen = vec![
        serde_json::to_string(&*record).unwrap(),
        serde_json::to_string(&world.parts.calls.records().log(&key(id)).await.unwrap()).unwrap(),
        serde_json::to_string(&world.parts.calls.records().hooks(&record).await.unwrap()).unwrap(),
        format!("{:?}", world.fakes.questions()),
        format!("{:?}", world.fakes.told()),
    ];
    for decision in &record.permission_decision_refs {
        seen.push(
            serde_json::to_string(
                &world.parts.calls.records().decision(&TenantId::unauthenticated(), decision.as_str()).await.unwrap(),
            )
            .unwrap(),
        );
    }
    for text in &seen {
        assert!(!text.contains(SECRET), "{text}");
    }
    // The payloads that hold it: what the model gave, with defaults, with the hook's path, with the approver's.
    let inputs = world.parts.calls.records().inputs(&record).await.unwrap();
    let shown = |body: &Option<JsonPayload>| body.as_ref().unwrap().text().contains(SECRET);
    assert_eq!([shown(&inputs.model), shown(&inputs.call)], [true; 2]);
    assert_eq!([shown(&inputs.observable), shown(&inputs.permission)], [false; 2]);
    let digests = [&inputs.model, &inputs.observable, &inputs.permission, &inputs.call]
        .map(|body| body.as_ref().unwrap().digest());
    assert_eq!(std::collections::BTreeSet::from(digests).len(), 4, "four inputs, four digests");
    let everything = format!("{:?}", world.store);
    assert_eq!(everything.matches(SECRET).count(), 4, "once in each of those payloads");
}

/// A caller that only watches over calls reads the copies.
#[tokio::test]
async fn only_callers_and_operators_read_what_is_sensitive() {
    use toolplane_runtime::Role;
    use toolplane_runtime::caller::RoleSet;
    let world = World::new().await;
    let record = world.call(&json!({ "path": "a", "key": SECRET }).to_string()).await;
    let inputs = [
        Some(&record.inputs.model),
        record.inputs.observable.as_ref(),
        record.inputs.permission.as_ref(),
        record.inputs.call.as_ref(),
    ];
    let digests = inputs.map(|input| input.unwrap().digest);
    let seen = |role: Role| {
        let caller = Caller { roles: RoleSet::of(&[role]), ..Caller::clone(&Caller::unauthenticated()) };
        digests.map(|digest| crate::rpc::may_read(&caller, &record, digest))
    };
    assert_eq!((seen(Role::Agent), seen(Role::Operator)), ([true; 4], [true; 4]));
    assert_eq!((seen(Role::Auditor), seen(Role::Approver)), ([false, true, true, false], [false, true, true, false]));
}

/// What is wrong with an input is told without the values of sensitive fields.
#[tokio::test]
async fn sensitive_fields_of_a_refused_input_are_not_quoted() {
    let world = World::new().await;
    for input in
        [json!({ "path": 1, "key": { SECRET: SECRET } }), json!({ "path": 1, "key": [SECRET], "depth": "deep" })]
    {
        let record = world.call(&input.to_string()).await;
        assert_eq!(record.status, Status::SchemaParseFailed);
        let text = serde_json::to_string(&world.result(&record.invocation_id).await).unwrap();
        let log = serde_json::to_string(&world.parts.calls.records().log(&record.key()).await.unwrap()).unwrap();
        assert!(!text.contains(SECRET) && !log.contains(SECRET), "{text}");
        assert!(text.contains("must be of type `string`; is 1"), "what is not sensitive is: {text}");
    }
}

/// The copy for hooks after the call goes with the offer, and the input itself never in its place.
#[tokio::test]
async fn a_worker_is_told_what_its_hooks_may_see() {
    let world = World::new().await;
    let mut messages = world.worker().await;
    world.call(&json!({ "path": "a", "key": SECRET }).to_string()).await;
    let WorkerMessage::Offer { shown, .. } = messages.recv().await.unwrap() else { panic!("no offer") };
    assert_eq!(value(&shown.unwrap()), json!({ "path": "a", "key": "[redacted]", "depth": 1 }));
    world.call(r#"{"path":"a"}"#).await;
    let WorkerMessage::Offer { shown, .. } = messages.recv().await.unwrap() else { panic!("no offer") };
    assert!(shown.is_none(), "nothing of it is hidden");
}
