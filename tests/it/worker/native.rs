//! What other protocols call one call: the peer that called says it with the call, and the worker with its report.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_proto::v1::formed::Body;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_testkit::clients::payload;

use super::{Hand, Room, done, hello};

#[tokio::test]
async fn ids_of_a_peer_that_called_and_of_a_peer_that_ran_it_are_kept_and_told() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let called = v1::NativeIds {
        a2a_task_id: "task-9".into(),
        a2a_context_id: "ctx-3".into(),
        a2a_message_id: "msg-1".into(),
        ..Default::default()
    };
    let spec = v1::InvocationSpec {
        surface_id: room.surface_id.clone(),
        tool_name: "hand.once".to_owned(),
        model_input: Some(payload("{}")),
        native_ids: Some(called.clone()),
        ..Default::default()
    };
    let request = v1::SubmitInvocationRequest { spec: Some(spec) };
    let accepted = room.clients.invocations().submit_invocation(request).await.unwrap().into_inner();
    let id = accepted.invocation.unwrap().invocation_id;
    let lease = hand.start().await;
    let ran = json!({ "json_rpc_id": "17", "mcp_session_id": "s-2", "a2a_task_id": "theirs", "a2a_context_id": "c",
        "a2a_message_id": "m", "http_request_id": "req-8" });
    let mut report = done(&lease);
    report.outcome.as_mut().unwrap().evidence = Some(payload(json!({ "native_ids": ran }).to_string()));
    hand.say(Report::Done(report)).await;
    hand.hear(|command| matches!(command, Command::DoneAcknowledged(_)).then_some(())).await;

    let form = Some(v1::FormSpec { view: "a2a".to_owned(), ..Default::default() });
    let asked = v1::GetInvocationRequest { invocation_id: id.clone(), include_trail: true, form, ..Default::default() };
    let told = room.clients.invocations().get_invocation(asked).await.unwrap().into_inner();
    assert_eq!(told.invocation.unwrap().native_ids, Some(called));
    let kept = told.trail.unwrap().executions[0].native_ids.clone().unwrap();
    let named = [
        kept.json_rpc_id,
        kept.mcp_session_id,
        kept.a2a_task_id,
        kept.a2a_context_id,
        kept.a2a_message_id,
        kept.http_request_id,
    ];
    assert_eq!(named, ["17", "s-2", "theirs", "c", "m", "req-8"]);
    let Some(Body::Json(json)) = told.formed.unwrap().body else { panic!("no JSON") };
    let task: Value = serde_json::from_slice(&toolplane_testkit::clients::payload_bytes(Some(&json))).unwrap();
    assert_eq!((&task["id"], &task["contextId"]), (&json!("task-9"), &json!("ctx-3")));
    assert_eq!(task["metadata"]["toolplane/invocation_id"], json!(id));
}
