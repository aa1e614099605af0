//! A call in the forms of other protocols: over gRPC, over HTTP, and typed.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_proto::v1::formed::Body;
use toolplane_testkit::clients::payload;
use toolplane_testkit::{Options, tools};

use crate::bed::{Bed, PATIENCE, RULES, register};
use crate::http::Http;
use crate::roles::callers::Callers;
use crate::shell::Shell;

const VIEWS: [&str; 13] = [
    "record",
    "acp",
    "acp-terminal",
    "mcp",
    "openai-responses",
    "openai-chat",
    "anthropic",
    "gemini",
    "a2a",
    "tool-result",
    "cloudevents",
    "cloudevents-protobuf",
    "in-toto",
];
/// A number no double can hold.
const EXACT: &str = r#"{"n":18446744073709551617,"x":1.50}"#;

fn form(view: &str) -> Option<v1::FormSpec> {
    Some(v1::FormSpec { view: view.to_owned(), workspace_root: "/home/ann".to_owned(), ..Default::default() })
}

fn text(formed: Option<v1::Formed>) -> String {
    match formed.and_then(|formed| formed.body) {
        Some(Body::Json(json)) => match json.body {
            Some(v1::json_payload::Body::Inline(bytes)) => String::from_utf8(bytes.to_vec()).unwrap(),
            other => panic!("not inline: {other:?}"),
        },
        other => panic!("no JSON: {other:?}"),
    }
}

#[tokio::test]
async fn a_call_is_told_in_every_form_by_every_door() {
    let bed = Bed::with(Options::new(RULES).http()).await;
    let (http, shell) = (Http::of(&bed.cluster.http().unwrap()), Shell::at(bed.cluster.endpoint()));
    let invocations = || bed.clients.invocations();
    let spec = v1::InvocationSpec { native_call_id: "call_7".to_owned(), ..bed.spec("native.echo", EXACT) };
    let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, form: form("mcp") };
    let answer = invocations().call(request).await.unwrap().into_inner();
    let id = answer.accepted.unwrap().invocation_id;
    let told = text(answer.formed);
    assert!(told.contains(&format!(r#""structuredContent":{EXACT},"isError":false"#)), "{told}");

    // Over gRPC each is there, and is what it says.
    for view in VIEWS {
        let request = v1::GetInvocationRequest { invocation_id: id.clone(), form: form(view), ..Default::default() };
        let formed = invocations().get_invocation(request).await.unwrap().into_inner().formed;
        match formed.clone().and_then(|formed| formed.body) {
            Some(Body::Binary(bytes)) => assert!(view == "cloudevents-protobuf" && !bytes.is_empty()),
            _ => assert!(serde_json::from_str::<Value>(&text(formed)).is_ok(), "{view}"),
        }
    }
    // Over HTTP it stands in the answer, with every digit.
    let body = json!({ "invocation_id": id, "form": { "view": "anthropic" } });
    let (status, answer) = http.text("get-result", &body).await;
    assert!(status == 200 && answer.contains(r#""tool_use_id":"call_7""#), "{answer}");
    assert!(answer.contains("18446744073709551617"), "{answer}");
    // And typed.
    let item = shell.json(0, &["get", &id, "--view", "openai-responses"]);
    assert_eq!((&item["type"], &item["call_id"]), (&json!("function_call_output"), &json!("call_7")));
    let events = shell.says(0, &["watch", &id, "--view", "cloudevents"]);
    assert!(events.lines().all(|event| event.starts_with(r#"{"specversion":"1.0","id":""#)), "{events}");
    assert!(events.lines().count() > 3 && events.contains(r#""sequence":"00000000000000000001""#), "{events}");

    // What is no form is refused with what there is.
    let request = v1::GetInvocationRequest { invocation_id: id.clone(), form: form("xml"), ..Default::default() };
    let refused = invocations().get_invocation(request).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::InvalidArgument);
    assert!(refused.message().contains("form.view") && refused.message().contains("openai-chat"), "{refused:?}");
    assert_eq!(http.ask("get-invocation", json!({ "invocation_id": id, "form": { "view": "xml" } })).await.0, 400);
    assert!(shell.complains(2, &["get", &id, "--view", "xml"]).contains("tool-result"));
}

/// A client of ACP follows a call: it is asked, its answer counts, and it sees how the call ends.
#[tokio::test]
async fn a_client_of_acp_approves() {
    let bed = Bed::start().await;
    let spec = v1::InvocationSpec {
        session_ref: "sess_1".to_owned(),
        ..bed.spec("shell.exec", r#"{"command":"echo hi; exit 0"}"#)
    };
    let call = bed.submit(spec).await;
    let call = bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;
    let id = call.invocation_id;
    let request = v1::GetInvocationRequest { invocation_id: id.clone(), form: form("mcp"), ..Default::default() };
    let waiting = bed.clients.invocations().get_invocation(request).await.unwrap().into_inner();
    assert_eq!(waiting.formed, None, "there is no result yet");

    let permissions = || bed.clients.permissions();
    let approval_id = call.approval_request_ref;
    let asked = v1::GetApprovalRequest { approval_id: approval_id.clone(), form: form("acp"), ..Default::default() };
    let asked = permissions().get_approval(asked).await.unwrap().into_inner().formed;
    let asked: Value = serde_json::from_str(&text(asked)).unwrap();
    assert_eq!((&asked["method"], &asked["id"]), (&json!("session/request_permission"), &json!(approval_id)));
    assert_eq!(asked["params"]["toolCall"]["rawInput"]["command"], "echo hi; exit 0");
    let other = v1::GetApprovalRequest { approval_id: approval_id.clone(), form: form("gemini"), ..Default::default() };
    assert!(permissions().get_approval(other).await.unwrap_err().message().contains("form.view"));

    let answered = |outcome: Value| {
        let acp_outcome = Some(payload(outcome.to_string()));
        v1::ResolveApprovalRequest { approval_id: approval_id.clone(), acp_outcome, ..Default::default() }
    };
    for outcome in [json!({ "outcome": { "outcome": "cancelled" } }), json!({ "outcome": "sure" })] {
        let refused = permissions().resolve_approval(answered(outcome)).await.unwrap_err();
        assert!(refused.message().contains("acp_outcome"), "{refused:?}");
    }
    let yes =
        json!({ "id": asked["id"], "result": { "outcome": { "outcome": "selected", "optionId": "allow_once" } } });
    permissions().resolve_approval(answered(yes)).await.unwrap();

    let request = v1::WatchInvocationRequest { invocation_id: id, from_seq: 1, form: form("acp") };
    let mut stream = bed.clients.invocations().watch_invocation(request).await.unwrap().into_inner();
    let mut updates: Vec<Value> = Vec::new();
    while let Some(message) = stream.message().await.unwrap() {
        updates.extend(message.formed.into_iter().map(|one| serde_json::from_str(&text(Some(one))).unwrap()));
        if message.result.is_some() {
            break;
        }
    }
    let steps: Vec<(&str, &str)> = updates
        .iter()
        .map(|update| &update["params"]["update"])
        .map(|update| (update["sessionUpdate"].as_str().unwrap(), update["status"].as_str().unwrap()))
        .collect();
    assert_eq!(steps.first(), Some(&("tool_call", "pending")), "{updates:?}");
    assert_eq!(steps.last(), Some(&("tool_call_update", "completed")), "{updates:?}");
    assert!(updates.iter().all(|update| update["params"]["sessionId"] == "sess_1"));
    let last = &updates.last().unwrap()["params"]["update"];
    assert_eq!(last["content"][0]["content"]["text"], "hi\n", "{last}");
    assert_eq!(last["rawOutput"]["exit_code"], 0, "{last}");
}

/// Who may read a call and not follow it sees in no form what only those see who follow it.
#[tokio::test]
async fn a_form_shows_no_more_than_its_reader_may_ask_for() {
    let callers = Callers::start("").await;
    let agent = callers.with(&callers.key("a", "acme", &["agent", "operator"]).await);
    let approver = callers.with(&callers.key("p", "acme", &["approver"]).await);
    register(&agent, tools::examples().unwrap()).await;
    let spec = v1::InvocationSpec {
        tool_name: "native.echo".to_owned(),
        model_input: Some(payload(EXACT)),
        ..Default::default()
    };
    let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, form: None };
    let id = agent.invocations().call(request).await.unwrap().into_inner().accepted.unwrap().invocation_id;
    let ask =
        |view: &str| v1::GetInvocationRequest { invocation_id: id.clone(), form: form(view), ..Default::default() };
    let told = |answer: v1::GetInvocationResponse| serde_json::from_str::<Value>(&text(answer.formed)).unwrap();
    let whole = told(agent.invocations().get_invocation(ask("record")).await.unwrap().into_inner());
    let part = told(approver.invocations().get_invocation(ask("record")).await.unwrap().into_inner());
    assert_eq!(part["permission_decisions"], whole["permission_decisions"]);
    assert!(whole["result_persistence"].is_object() && part["result_persistence"].is_null(), "{part}");
    assert!(agent.invocations().get_invocation(ask("cloudevents")).await.is_ok());
    let refused = approver.invocations().get_invocation(ask("cloudevents")).await.unwrap_err();
    assert!(refused.message().contains("may not follow"), "{refused:?}");
}

/// Each call of a batch is told in the form its reader asked for: while it runs, and again to who comes later and asks for another one.
#[tokio::test]
async fn a_batch_is_told_in_the_form_of_its_reader() {
    let bed = Bed::start().await;
    let calls = ["call_7", "call_8"].map(|native| {
        let spec = v1::InvocationSpec { native_call_id: native.to_owned(), ..bed.spec("native.echo", EXACT) };
        v1::BatchCall { spec: Some(spec), ..Default::default() }
    });
    let spec = v1::BatchSpec { calls: calls.to_vec(), ..Default::default() };
    let mut told: [Vec<Value>; 2] = Default::default();
    let mut batch_id = String::new();
    let request = v1::InvokeBatchRequest { spec: Some(spec), form: form("acp") };
    let mut stream = bed.clients.invocations().invoke_batch(request).await.unwrap().into_inner();
    while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
        batch_id = message.accepted.map_or(batch_id, |accepted| accepted.batch_id);
        for item in message.items {
            let formed = item.formed.into_iter().map(|one| serde_json::from_str(&text(Some(one))).unwrap());
            told[item.index as usize].extend(formed);
        }
    }
    for (updates, native) in told.iter().zip(["call_7", "call_8"]) {
        let update = |one: &Value| one["params"]["update"].clone();
        let (first, last) = (update(updates.first().unwrap()), update(updates.last().unwrap()));
        assert!(updates.iter().all(|one| one["params"]["update"]["toolCallId"] == native), "{updates:?}");
        assert_eq!((&first["sessionUpdate"], &first["status"]), (&json!("tool_call"), &json!("pending")));
        assert_eq!((&last["sessionUpdate"], &last["status"]), (&json!("tool_call_update"), &json!("completed")));
    }

    let watch =
        |view: &str| v1::WatchBatchRequest { batch_id: batch_id.clone(), form: form(view), ..Default::default() };
    let mut stream = bed.clients.invocations().watch_batch(watch("openai-responses")).await.unwrap().into_inner();
    let mut answers = Vec::new();
    while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
        answers.extend(message.items.into_iter().flat_map(|item| item.formed).map(|one| text(Some(one))));
    }
    assert_eq!(answers.len(), 2, "a model is given each result once: {answers:?}");
    for (answer, native) in answers.iter().zip(["call_7", "call_8"]) {
        assert!(answer.contains(&format!(r#""call_id":"{native}""#)), "in the declared order: {answer}");
        assert!(answer.contains("18446744073709551617"), "{answer}");
    }
    let refused = bed.clients.invocations().watch_batch(watch("xml")).await.unwrap_err();
    assert!(refused.code() == tonic::Code::InvalidArgument && refused.message().contains("form.view"), "{refused:?}");
}
