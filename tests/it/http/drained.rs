//! A server that is told to stop while callers wait: each is told at once where its call is, and the call outlives the process.

use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_testkit::Options;
use toolplane_testkit::clients::Clients;
use toolplane_testkit::layout::Layout;
use toolplane_testkit::processes::Processes;

use super::streams::{Event, Events};
use super::{Http, spec};
use crate::bed::{Bed, PATIENCE, register};

/// Nobody serves commands here, so they wait for a worker; and the drain is longer than the patience of any request of a test.
const CONFIG: &str = r#"
[server]
drain_timeout_ms = 600000

[executor]
pools = ["native"]

[[permission.rules]]
behavior = "allow"
tool = "*"
reason = "everything may run here"
"#;

/// Waits until so many calls wait for a worker.
async fn until_queued(clients: &Clients, count: usize) {
    toolplane_wait::eventually("calls that wait for a worker", PATIENCE, async || {
        let listed = clients.invocations().list_invocations(v1::ListInvocationsRequest::default()).await;
        let calls = listed.ok()?.into_inner().invocations;
        let queued = calls.iter().filter(|call| call.status_code() == v1::InvocationStatus::Queued);
        (queued.count() == count).then_some(())
    })
    .await;
}

fn command() -> Value {
    spec("local.shell.exec", json!({ "command": "true" }))
}

/// The answer to a request that was not waited for to its end, and the call it is about.
async fn cut_short(answer: Response) -> (Value, String) {
    assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].as_bytes()), (200, &b"1"[..]));
    let told: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    assert_eq!(told["cut_short"], json!({ "reason": "DRAINING", "retry_after_ms": 1000 }), "{told}");
    assert_eq!(told["invocation"]["status"], "queued", "{told}");
    let id = told["invocation"]["invocation_id"].as_str().unwrap().to_owned();
    (told, id)
}

async fn held(request: RequestBuilder) -> (Value, String) {
    cut_short(request.send().await.unwrap()).await
}

fn is_last_words(event: &Event) -> bool {
    event.kind == "error"
        && event.data["error"]["reason"] == "DRAINING"
        && event.data["error"]["retry_after_ms"] == 1000
}

#[tokio::test]
async fn whoever_waits_is_told_its_call_before_the_process_ends_and_finds_it_after_the_restart() {
    let Bed { mut cluster, clients, surface_id } = Bed::with(Options::new(CONFIG).http()).await;
    let http = Http::of(&cluster.http().unwrap());
    let mut stream = Events::open(http.request("invoke").body(command().to_string())).await;
    let accepted = stream.next().await.unwrap().data["accepted"]["invocation_id"].as_str().unwrap().to_owned();
    let call = tokio::spawn(held(http.request("call").body(command().to_string())));
    let of_grpc = v1::InvocationSpec {
        surface_id,
        tool_name: "local.shell.exec".to_owned(),
        model_input: Some(toolplane_testkit::clients::payload(r#"{"command":"true"}"#)),
        ..Default::default()
    };
    let request = v1::CallRequest { spec: Some(of_grpc.clone()), wait_ms: 60_000, ..Default::default() };
    let (unary, invoked) = (clients.clone(), clients.clone());
    let unary = tokio::spawn(async move { unary.invocations().call(request).await });
    let request = v1::InvokeRequest { spec: Some(of_grpc), ..Default::default() };
    let mut invoked = invoked.invocations().invoke(request).await.unwrap().into_inner();
    let first = invoked.message().await.unwrap().unwrap();
    until_queued(&clients, 4).await;

    // None of them waits for the bound of the drain, which would be long after the end of this test.
    let stopped = cluster.stop().await.unwrap();
    assert!(stopped.success());
    let (told, of_call) = call.await.unwrap();
    assert_eq!(told["accepted"]["invocation_id"], of_call.as_str(), "{told}");
    assert!(stream.rest().await.last().is_some_and(is_last_words));
    let unary = unary.await.unwrap().unwrap().into_inner();
    let expected = v1::CutShort { reason: "DRAINING".to_owned(), retry_after_ms: 1000 };
    assert_eq!((unary.cut_short, unary.result), (Some(expected), None));
    let ended = loop {
        match invoked.message().await {
            Ok(message) => assert!(message.is_some_and(|message| message.result.is_none()), "it has no end"),
            Err(status) => break status,
        }
    };
    assert_eq!(toolplane_runtime::status::reason(&ended).as_deref(), Some("DRAINING"), "{ended:?}");

    cluster.start_again().await.unwrap();
    let of_unary = unary.invocation.unwrap().invocation_id;
    for id in [&of_call, &accepted, &of_unary, &first.accepted.unwrap().invocation_id] {
        let known = http.good("get-invocation", json!({ "invocation_id": id })).await;
        assert_eq!(known["invocation"]["status"], "queued", "{known}");
    }
}

/// There is one place for those who wait, so a second one is refused when the first one waits.
#[tokio::test]
async fn whoever_waits_for_a_call_it_knows_is_told_the_same() {
    let config = format!("[scheduler]\nmax_watchers_per_tenant = 1\n{CONFIG}");
    let mut bed = Bed::with(Options::new(config).http()).await;
    let http = Http::of(&bed.cluster.http().unwrap());
    let submitted = http.good("submit-invocation", command()).await;
    let id = submitted["invocation"]["invocation_id"].clone();
    let ask = |millis: u32| {
        http.request("wait-invocation").body(json!({ "invocation_id": id, "timeout_ms": millis }).to_string())
    };
    let waiting = ask(60_000);
    let waiting = tokio::spawn(async move {
        loop {
            let answer = waiting.try_clone().unwrap().send().await.unwrap();
            // Another one may have the place for a moment.
            if answer.status().as_u16() != 429 {
                return cut_short(answer).await;
            }
            toolplane_wait::look_again().await;
        }
    });
    toolplane_wait::eventually("somebody waits", PATIENCE, async || {
        (ask(1).send().await.unwrap().status().as_u16() == 429).then_some(())
    })
    .await;
    assert!(bed.cluster.stop().await.unwrap().success());
    assert_eq!(waiting.await.unwrap().1, id.as_str().unwrap());
}

/// A gateway of its own stops: the scheduler, which does not, is asked for the call once more.
#[tokio::test]
async fn a_gateway_that_stops_alone_names_the_calls_that_go_on_without_it() {
    let mut processes = Processes::start(Layout::new(1, 1, CONFIG).with_gateways(2)).await.unwrap();
    let clients = processes.clients().unwrap().clone();
    register(&clients, toolplane_testkit::tools::examples().unwrap()).await;
    let gateways = processes.names_of(toolplane_testkit::ClusterRole::Gateway);
    let of = |name: &str| Http::of(&processes.member(name).unwrap().endpoint().unwrap());
    let (stops, stays) = (of(&gateways[0]), of(&gateways[1]));
    let unnamed = tokio::spawn(held(stops.request("call").body(command().to_string())));
    let keyed = stops.request("call").header("idempotency-key", "mine").body(command().to_string());
    let keyed = tokio::spawn(held(keyed));
    let mut stream = Events::open(stops.request("invoke").body(command().to_string())).await;
    stream.next().await.unwrap();
    until_queued(&clients, 3).await;

    assert!(processes.stop(&gateways[0]).await.unwrap().success());
    assert!(stream.rest().await.last().is_some_and(is_last_words));
    let (unnamed, keyed) = (unnamed.await.unwrap(), keyed.await.unwrap());
    assert_eq!(unnamed.0["accepted"].get("duplicate"), None, "it was made once: {}", unnamed.0);
    for (told, id) in [unnamed, keyed] {
        assert_eq!(told["accepted"]["invocation_id"], id.as_str());
        let known = stays.good("get-invocation", json!({ "invocation_id": id })).await;
        assert_eq!(known["invocation"]["status"], "queued", "{known}");
    }
    until_queued(&clients, 3).await;
}
