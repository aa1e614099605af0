//! The same cluster over HTTP: calls as JSON.

mod callers;
mod described;
mod drained;
mod streams;
mod tls;
mod traced;

use serde_json::{Value, json};
use tonic::transport::Endpoint;
use toolplane_runtime::server::access;
use toolplane_testkit::layout::Layout;
use toolplane_testkit::processes::{Processes, serves};
use toolplane_testkit::{ClusterRole, Options};

use crate::bed::{Bed, PATIENCE, RULES};

/// A client of one listener, as one caller.
#[derive(Clone)]
pub(crate) struct Http {
    client: reqwest::Client,
    base: String,
    key: Option<String>,
}

impl Http {
    pub(crate) fn of(base: &str) -> Self {
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self { client, base: base.to_owned(), key: None }
    }

    /// The same as another caller.
    pub(crate) fn with(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    /// A request for a method, e.g. `call`.
    pub(crate) fn request(&self, method: &str) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}/v1/{method}", self.base));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Asks, and returns the status and the text of the answer.
    pub(crate) async fn text(&self, method: &str, body: &Value) -> (u16, String) {
        let answer = self.request(method).body(body.to_string()).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Asks, and returns the status and the answer.
    pub(crate) async fn ask(&self, method: &str, body: Value) -> (u16, Value) {
        let (status, text) = self.text(method, &body).await;
        (status, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
    }

    /// The answer to a request that is right.
    pub(crate) async fn good(&self, method: &str, body: Value) -> Value {
        let (status, answer) = self.ask(method, body).await;
        assert_eq!(status, 200, "{method}: {answer}");
        answer
    }

    /// The status and the reason of a refusal.
    pub(crate) async fn refused(&self, method: &str, body: Value) -> (u16, String) {
        let (status, answer) = self.ask(method, body).await;
        (status, answer["error"]["reason"].as_str().unwrap_or_default().to_owned())
    }
}

/// A cluster with the example tools, over HTTP.
pub(crate) async fn bed() -> (Bed, Http) {
    let bed = Bed::with(Options::new(RULES).http()).await;
    let http = Http::of(&bed.cluster.http().unwrap());
    (bed, http)
}

pub(crate) fn spec(tool: &str, input: Value) -> Value {
    json!({ "spec": { "tool_name": tool, "model_input": input } })
}

/// `toolplane.v1.InvocationService/GetResult` as `get-result`.
pub(crate) fn route(method: &str) -> String {
    let (_, name) = method.split_once('/').unwrap();
    let mut path = String::new();
    for letter in name.chars() {
        path.extend(letter.is_ascii_uppercase().then_some('-'));
        path.push(letter.to_ascii_lowercase());
    }
    path.trim_start_matches('-').to_owned()
}

#[tokio::test]
async fn a_call_is_one_request_and_keeps_every_digit() {
    let (_bed, http) = bed().await;
    let exact = r#"{"b": 123456789012345678901234567890, "a":[1.10, 1E+2,"\u00e9"]}"#;
    let body = format!(r#"{{"spec":{{"toolName":"native.echo","model_input": {exact} }}}}"#);
    let ask =
        || http.request("call").header("idempotency-key", "once").header("x-request-id", "req-8").body(body.clone());
    let answer = ask().header("content-type", "application/x-www-form-urlencoded").send().await.unwrap();
    assert_eq!(
        (answer.status(), answer.headers()["content-type"].as_bytes()),
        (reqwest::StatusCode::OK, &b"application/json"[..])
    );
    let text = answer.text().await.unwrap();
    assert!(text.contains(&format!(r#""structured_content":{exact}"#)), "{text}");
    // The key of the header is the key of the call.
    let again = ask().send().await.unwrap().text().await.unwrap();
    let [first, again]: [Value; 2] = [&text, &again].map(|text| serde_json::from_str(text).unwrap());
    assert_eq!((&first["accepted"]["duplicate"], &again["accepted"]["duplicate"]), (&Value::Null, &json!(true)));
    let id = first["accepted"]["invocation_id"].as_str().unwrap();
    assert_eq!(again["accepted"]["invocation_id"], id);
    // What is kept by reference is named, and read by that name.
    let kept = http.good("get-invocation", json!({ "invocation_id": id, "include_inputs": true })).await;
    assert_eq!(kept["invocation"]["native_ids"], json!({ "http_request_id": "req-8" }));
    let uri = kept["invocation"]["model_input_ref"]["uri"].as_str().unwrap();
    let read = http.text("read-payload", &json!({ "invocation_id": id, "uri": uri })).await;
    assert_eq!(read, (200, exact.to_owned()));
}

/// What is wrong with a request is said in one form, with the status HTTP has for it.
#[tokio::test]
async fn refusals_have_one_form() {
    let (bed, http) = bed().await;
    let (status, answer) = http.ask("call", json!({ "spec": { "tool": "x" } })).await;
    let violation = json!({ "field": "spec.tool", "rule": "is no field of `InvocationSpec`" });
    assert_eq!((status, &answer["error"]["violations"]), (400, &json!([violation])));
    let text = async |body: &'static str| http.request("call").body(body).send().await.unwrap().text().await.unwrap();
    let said = text(r#"{"spec":{"tool_name":"native.echo","model_input":{"a":1,"\u0061":2}}}"#).await;
    assert!(said.contains("has the key `a` twice in one object") && said.contains("spec.model_input"), "{said}");
    let said = text("{\"spec\": {]}").await;
    assert!(said.contains("line 1 column 11"), "{said}");
    let missing = json!({ "invocation_id": "inv_none" });
    assert_eq!(http.refused("get-invocation", missing).await, (404, "NOT_FOUND".to_owned()));
    assert_eq!(http.refused("no-such-method", json!({})).await, (404, "NOT_FOUND".to_owned()));
    let xml = http.request("call").header("content-type", "text/xml").body("{}").send().await.unwrap();
    assert_eq!(xml.status().as_u16(), 415);
    for method in ["call", "upload-document"] {
        let coded = http.request(method).header("content-encoding", "gzip").body("{}").send().await.unwrap();
        assert_eq!((coded.status().as_u16(), coded.headers()["accept-encoding"].as_bytes()), (415, &b"identity"[..]));
        let said = coded.text().await.unwrap();
        assert!(said.contains("CONTENT_ENCODING") && said.contains("coded as `gzip`"), "{said}");
    }
    let large = http.request("call").body(" ".repeat(5 << 20)).send().await.unwrap();
    assert_eq!(large.status().as_u16(), 413);
    let get = http.client.get(format!("{}/v1/call", http.base)).send().await.unwrap();
    assert_eq!((get.status().as_u16(), get.headers()["allow"].as_bytes()), (405, &b"POST"[..]));
    let late = http.request("wait-invocation").header("timeout", "soon").body("{}").send().await.unwrap();
    assert_eq!(late.status().as_u16(), 400);
    // A page of somebody else's, and a name that is not this listener's.
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("host", "evil.example", 403),
        ("origin", "http://localhost:3000", 200),
    ] {
        let answer = http.request("list-tools").header(name, value).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{name}: {value}");
    }
    // An input that is no object is a wrong argument of its call, by name.
    let answer = http.good("call", spec("native.echo", json!([1]))).await;
    let wrong = &answer["result"]["error"];
    assert_eq!(wrong["field_violations"][0]["field"], "model_input", "{answer}");
    assert!(wrong["message"].as_str().unwrap().contains("`model_input` must be of type `object`"), "{answer}");
    drop(bed);
}

/// Every method that some caller may use is there, whatever it says to an empty request.
#[tokio::test]
async fn every_public_method_is_reachable() {
    let (_bed, http) = bed().await;
    for (method, _) in access::TABLE {
        let answer = http.request(&route(method)).body("{}").send().await.unwrap();
        let status = answer.status().as_u16();
        if access::open_to(method).is_empty() {
            assert_eq!(status, 404, "{method} is not for callers from outside");
        } else {
            assert!(matches!(status, 200 | 400), "{method}: {status} {}", answer.text().await.unwrap());
        }
    }
}

/// A caller that gives little time hears which call it is, and one whose time is over that it is.
#[tokio::test]
async fn the_callers_time_counts() {
    let (_bed, http) = bed().await;
    let waiting = spec("local.shell.exec", json!({ "command": "true" }));
    let answer = http.request("call").header("timeout", "2").body(waiting.to_string()).send().await.unwrap();
    let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    assert_eq!(answer["invocation"]["status"], "awaiting_approval", "{answer}");
    let answer = http.request("watch-approvals").header("grpc-timeout", "300m").body("{}").send().await.unwrap();
    let text = answer.text().await.unwrap();
    assert!(text.contains("event: error\ndata: ") && text.contains("DEADLINE_EXCEEDED"), "{text}");
}

#[tokio::test]
async fn a_crowd_of_small_requests_is_answered() {
    let (_bed, http) = bed().await;
    let asking = (0..2_000).map(|number| {
        let http = http.clone();
        tokio::spawn(async move {
            let answer = http.good("call", spec("native.echo", json!({ "number": number }))).await;
            assert_eq!(answer["result"]["structured_content"]["number"], number);
        })
    });
    for one in asking.collect::<Vec<_>>() {
        one.await.unwrap();
    }
}

/// A process of the role alone keeps nothing, says what it lacks, and answers whatever the others do.
#[tokio::test]
async fn a_gateway_of_its_own_asks_the_other_processes() {
    let layout = Layout::new(1, 1, RULES).with_gateways(2);
    let mut processes = Processes::start(layout).await.unwrap();
    crate::bed::register(processes.clients().unwrap(), toolplane_testkit::tools::examples().unwrap()).await;
    let gateways = processes.names_of(ClusterRole::Gateway);
    let clients: Vec<Http> =
        gateways.iter().map(|name| Http::of(&processes.member(name).unwrap().endpoint().unwrap())).collect();
    let answer = clients[0].good("call", spec("native.echo", json!({ "a": 1 }))).await;
    let id = json!({ "invocation_id": answer["accepted"]["invocation_id"] });
    let read = clients[1].good("get-result", id.clone()).await;
    assert_eq!(read["result"]["structured_content"], json!({ "a": 1 }));

    let probe = processes.member(&gateways[0]).unwrap().health.unwrap();
    let health = Endpoint::from_shared(format!("http://127.0.0.1:{probe}")).unwrap().connect_lazy();
    assert!(serves(health.clone()).await);
    processes.kill("scheduler-1").unwrap();
    toolplane_wait::eventually("the gateway lacks its scheduler", PATIENCE, async || {
        (!serves(health.clone()).await).then_some(())
    })
    .await;
    let (status, refused) = clients[0].ask("get-result", id).await;
    assert_eq!((status, &refused["error"]["reason"]), (503, &json!("PEER_UNAVAILABLE")), "{refused}");
    assert!(!refused.to_string().contains("127.0.0.1"), "where the processes are is nobody's business: {refused}");
    processes.start_again("scheduler-1").await.unwrap();
    processes.ready_one(&gateways[0]).await.unwrap();
}
