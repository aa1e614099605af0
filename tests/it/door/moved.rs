//! What one process begins, another one goes on with.

use std::time::Instant;

use serde_json::json;
use toolplane_proto::v1;

use super::bed::{Client, Doors, RULES, again, text, unsealed};

#[tokio::test]
async fn an_answer_to_a_question_may_reach_another_process() {
    let doors = Doors::open(RULES, "").await;
    let (_second, second) = doors.another("second", "").await;
    let client = Client::new().begin(&doors.url).await;
    let mut asked = client.call(&doors.url, 1, "test_elicitation", json!({ "message": "Who?" })).await;
    let question = asked.next().await.unwrap();
    assert_eq!((&question["method"], &question["params"]["message"]), (&json!("elicitation/create"), &json!("Who?")));
    let content = json!({ "username": "ann", "email": "ann@example.com" });
    let answer =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": content } });
    assert_eq!(client.post(&second, &answer).await.status, 202);
    let done = asked.last().await;
    assert!(text(&done).contains("ann@example.com"), "{done}");
    // The session is known there as well, and nowhere under a changed id.
    assert_eq!(client.call(&second, 2, "greet", json!({ "name": "Bob" })).await.status, 200);
    let stranger = Client::new().header("mcp-session-id", "AAAA");
    assert_eq!(stranger.call(&second, 3, "greet", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_stream_goes_on_elsewhere_when_its_process_dies() {
    let doors = Doors::open(RULES, "").await;
    let (mut first, url) = doors.another("first", "").await;
    let client = Client::new().begin(&url).await;
    let mut lost = client.call(&url, 7, "slow_compute", json!({ "seconds": 5, "label": "x" })).await;
    let at = lost.until_event().await;
    first.kill();
    assert_eq!(lost.next().await, None, "the stream breaks");
    let resumed = client.clone().header("last-event-id", &at).get(&doors.url).await;
    let done = resumed.last().await;
    assert_eq!((&done["id"], text(&done).as_str()), (&json!(7), "computed x"));
    // The same request once more is the same call.
    let again = client.call(&doors.url, 7, "slow_compute", json!({ "seconds": 5, "label": "x" })).await.last().await;
    assert_eq!(again["result"]["_meta"]["toolplane/invocation_id"], done["result"]["_meta"]["toolplane/invocation_id"]);
    let calls = doors.cluster.clients().invocations().list_invocations(v1::ListInvocationsRequest::default()).await;
    assert_eq!(calls.unwrap().into_inner().invocations.len(), 1);
}

#[tokio::test]
async fn a_call_is_canceled_by_any_process() {
    let doors = Doors::open(RULES, "").await;
    let (_second, second) = doors.another("second", "").await;
    let client = Client::new().begin(&doors.url).await;
    let mut waiting = client.call(&doors.url, 3, "test_wait", json!({})).await;
    let invocation = unsealed(&waiting.until_event().await)["i"].as_str().unwrap().to_owned();
    let params = json!({ "requestId": 3, "reason": "enough" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(client.post(&second, &cancel).await.status, 202);
    let ended = waiting.last().await;
    assert!(ended.get("error").is_some(), "{ended}");
    assert_eq!(status(&doors, &invocation).await, v1::InvocationStatus::Canceled);
}

#[tokio::test]
async fn a_client_without_a_session_that_goes_away_cancels_its_call_and_one_with_a_task_does_not() {
    let doors = Doors::open(RULES, "").await;
    let (_second, second) = doors.another("second", "").await;
    let client = Client::new();
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let params = || json!({ "name": "slow_compute", "arguments": { "seconds": 2, "label": "task" } });
    let task = client.ask(&doors.url, "tools/call", params(), tasks.clone()).await.last().await;
    assert_eq!((&task["result"]["resultType"], &task["result"]["status"]), (&json!("task"), &json!("working")));
    let start = Instant::now();
    let done = loop {
        let which = json!({ "taskId": task["result"]["taskId"] });
        let seen = client.ask(&second, "tasks/get", which, tasks.clone()).await.last().await;
        if seen["result"]["status"] != "working" {
            break seen;
        }
        again(start, "the task does not end").await;
    };
    assert_eq!(done["result"]["status"], "completed", "{done}");
    assert_eq!(text(&json!({ "result": done["result"]["result"] })), "computed task");

    let waiting = client.ask(&doors.url, "tools/call", json!({ "name": "test_wait" }), json!({})).await;
    assert_eq!(waiting.status, 200);
    drop(waiting);
    let start = Instant::now();
    loop {
        let request = v1::ListInvocationsRequest { tool_id: "tool_conf_test_wait".to_owned(), ..Default::default() };
        let calls = doors.cluster.clients().invocations().list_invocations(request).await.unwrap().into_inner();
        if calls.invocations.iter().any(|call| call.status_code() == v1::InvocationStatus::Canceled) {
            break;
        }
        again(start, "the call is not canceled").await;
    }
}

#[tokio::test]
async fn the_state_of_a_question_is_good_for_its_request_alone() {
    let doors = Doors::open(RULES, "").await;
    let (_second, second) = doors.another("second", "").await;
    let (client, can) = (Client::new(), json!({ "elicitation": {} }));
    let tool = "test_input_required_result_elicitation";
    let asked =
        client.ask(&doors.url, "tools/call", json!({ "name": tool, "arguments": {} }), can.clone()).await.last().await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let come_back = |arguments: serde_json::Value, state: String, name: serde_json::Value| {
        let responses = json!({ (key.clone()): { "action": "accept", "content": { "name": name } } });
        let params =
            json!({ "name": tool, "arguments": arguments, "requestState": state, "inputResponses": responses });
        let (client, second, can) = (client.clone(), second.clone(), can.clone());
        async move { client.ask(&second, "tools/call", params, can).await.last().await }
    };
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    let tampered = come_back(json!({}), format!("B{}", &state[1..]), json!("Bob")).await;
    assert_eq!(tampered["error"]["code"], -32602, "{tampered}");
    let other = come_back(json!({ "x": 1 }), state.clone(), json!("Bob")).await;
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let unfit = come_back(json!({}), state.clone(), json!(5)).await;
    assert_eq!(unfit["result"]["resultType"], "input_required", "asked again: {unfit}");
    let done = come_back(json!({}), state, json!("Bob")).await;
    assert!(text(&done).contains("Bob"), "{done}");
}

async fn status(doors: &Doors, invocation: &str) -> v1::InvocationStatus {
    let request = v1::GetInvocationRequest { invocation_id: invocation.to_owned(), ..Default::default() };
    let found = doors.cluster.clients().invocations().get_invocation(request).await.unwrap().into_inner();
    found.invocation.unwrap().status_code()
}
