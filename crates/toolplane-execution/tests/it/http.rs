use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolplane_execution::{Lookup, Outcome, ToolboxOptions};
use toolplane_records::profile::{ExecutionBinding, HttpBinding};
use toolplane_records::vocabulary::ResultStatus;

use crate::server::Server;
use crate::support::{call, execute, failure, structured, text, toolbox_with};

/// Answers for the names of the tests; nothing is asked of the network.
#[derive(Debug)]
pub(crate) struct Names;

impl Lookup for Names {
    fn lookup(&self, name: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let addresses: &[&str] = match name {
            "ok.test" | "allowed.test" => &["127.0.0.77"],
            "mixed.test" => &["8.8.8.8", "10.0.0.5"],
            "rebound.test" => &["127.0.0.1"],
            "metadata.test" => &["169.254.169.254"],
            "localhost" => &["127.0.0.1"],
            _ => &[],
        };
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect::<Vec<_>>();
        Box::pin(async move {
            if addresses.is_empty() { Err(std::io::Error::other("no such host")) } else { Ok(addresses) }
        })
    }
}

/// Where the tests may go: the server's own loopback address, and names that stand for it or for worse.
pub(crate) fn allowed() -> HttpBinding {
    let hosts = ["ok.test", "allowed.test", "mixed.test", "rebound.test", "gone.test", "127.0.0.77"];
    HttpBinding { allowed_hosts: hosts.map(str::to_owned).to_vec(), allowed_ports: vec![0], ..HttpBinding::default() }
}

pub(crate) async fn fetch_with(binding: HttpBinding, input: Value, timeout: Duration) -> Outcome {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox_with(ToolboxOptions::new(workspace.path()), Arc::new(Names)).await;
    let mut call = call(ExecutionBinding::Http(binding), input);
    call.limits.timeout = Some(timeout);
    execute(&toolbox, &call).await
}

pub(crate) async fn fetch(input: Value) -> Outcome {
    fetch_with(allowed(), input, Duration::from_secs(30)).await
}

pub(crate) async fn server() -> Server {
    Server::start("127.0.0.77", "http://127.0.0.1:1/".into()).await
}

#[tokio::test]
async fn requests_carry_what_was_given_and_answers_come_back() {
    let server = server().await;
    let url = |path: &str| format!("http://ok.test:{}{path}", server.address.port());
    let outcome = fetch(json!({"url": url("/echo?x=1"), "headers": {"X-Test": "yes"}})).await;
    let seen = text(&outcome).to_ascii_lowercase();
    assert!(seen.starts_with("get /echo?x=1 http/1.1\r\n") && seen.contains("x-test: yes"), "{seen}");
    assert!(!seen.contains("idempotency-key") && seen.contains("accept-encoding: identity"), "{seen}");
    assert_eq!(structured(&outcome)["url"], json!(url("/echo")));

    let mut binding = allowed();
    binding.allowed_methods = vec!["POST".into()];
    let input = json!({"url": url("/echo"), "method": "post", "body": {"n": 12_345_678_901_234_567_890_u64}});
    let outcome = fetch_with(binding, input, Duration::from_secs(30)).await;
    let seen = text(&outcome).to_ascii_lowercase();
    assert!(seen.contains("idempotency-key: key-1") && seen.contains("content-type: application/json"), "{seen}");
    assert!(seen.ends_with(r#"{"n":12345678901234567890}"#), "{seen}");

    let outcome = fetch(json!({"url": url("/json")})).await;
    let report = outcome.structured_content.as_ref().unwrap().text();
    assert!(report.contains(r#""json":{"n": 12345678901234567890}"#) && !report.contains("cookie"), "{report}");
    let outcome = fetch(json!({"url": url("/binary")})).await;
    assert_eq!((text(&outcome), &structured(&outcome)["binary"]), ("\0\u{fffd}\u{fffd}\u{fffd}", &json!(true)));
    let kept = &outcome.exact[0];
    assert_eq!((&kept.bytes[..], kept.media_type.as_str()), (&[0, 159, 146, 150][..], "application/octet-stream"));
    assert!(!kept.is_text);
    assert!(text(&fetch(json!({"url": url("/redirect")})).await).starts_with("GET /echo "));
}

#[tokio::test]
async fn failures_of_the_server_are_told_apart() {
    let server = server().await;
    let url = |path: &str| json!({"url": format!("http://ok.test:{}{path}", server.address.port())});
    let outcome = fetch(url("/status/404")).await;
    assert_eq!((failure(&outcome), text(&outcome)), (("execution_failed", "http.status"), "nope"));
    let outcome = fetch(url("/status/503")).await;
    assert_eq!(outcome.error.unwrap().retry_after_ms, Some(7000));
    let outcome = fetch(json!({"url": "http://127.0.0.77:1/?key=SECRET"})).await;
    assert_eq!(failure(&outcome), ("dependency_unavailable", "http.unreachable"));
    assert!(!outcome.error.unwrap().message.contains("SECRET"));
    assert_eq!(failure(&fetch(json!({"url": "http://gone.test/"})).await).0, "dependency_unavailable");
    let outcome = fetch(url("/flood")).await;
    assert_eq!((outcome.status, failure(&outcome).0), (ResultStatus::TooLarge, "result_too_large"));
    assert_eq!(structured(&outcome)["body_bytes"], json!(1024 * 1024));
    let outcome = fetch_with(allowed(), url("/drip"), Duration::from_millis(400)).await;
    assert_eq!(failure(&outcome), ("timeout", "exec.timeout"));
}

#[tokio::test]
async fn nothing_but_what_is_allowed_is_connected_to() {
    let canary = Server::start("127.0.0.1", String::new()).await;
    let port = canary.address.port();
    let server = Server::start("127.0.0.77", format!("http://127.0.0.1:{port}/")).await;
    let own = server.address.port();
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://rebound.test:{port}/"),
        format!("http://mixed.test:{port}/"),
        format!("http://ok.test:{own}/redirect-out"),
        format!("http://ok.test:{own}/redirect-file"),
        format!("http://ok.test:{own}/loop"),
        format!("http://ok.test@127.0.0.1:{port}/"),
        format!("http://user:secret@ok.test:{own}/echo"),
    ] {
        let outcome = fetch(json!({ "url": url })).await;
        assert_eq!(failure(&outcome), ("sandbox_violation", "http.egress_denied"), "{url}");
    }
    assert_eq!(canary.connections(), 0);
    let outcome = fetch(json!({"url": format!("http://ok.test:{own}/echo"), "method": "DELETE"})).await;
    assert_eq!(failure(&outcome), ("sandbox_violation", "http.egress_denied"));
}

/// A secret may have any name: what goes to another origin is a list of what is known to hold none.
#[tokio::test]
async fn nothing_that_may_be_secret_follows_a_redirect_to_another_origin() {
    let other = server().await;
    let elsewhere = format!("http://ok.test:{}/echo", other.address.port());
    let server = Server::start("127.0.0.77", elsewhere).await;
    let url = |path: &str| format!("http://ok.test:{}{path}", server.address.port());
    let headers = json!({
        "X-Api-Key": "SECRET", "X-Auth-Token": "SECRET", "Private-Token": "SECRET", "Api-Key": "SECRET", "X-Trace": "SECRET",
        "Referer": "https://a.test/?SECRET", "Content-Type": "text/SECRET", "Accept": "text/plain", "User-Agent": "mine",
    });
    for path in ["/redirect-out", "/moved-out"] {
        let outcome = fetch(json!({"url": url(path), "headers": headers})).await;
        let seen = text(&outcome).to_ascii_lowercase();
        assert!(seen.starts_with("get /echo ") && !seen.contains("secret"), "{path}: {seen}");
        assert!(seen.contains("accept: text/plain") && seen.contains("user-agent: mine"), "{path}: {seen}");
    }
    let stayed = fetch(json!({"url": url("/redirect"), "headers": headers})).await;
    assert!(text(&stayed).to_ascii_lowercase().contains("x-api-key: secret"), "the origin is the same");

    // A body, or a request that does something, was meant for the first origin.
    let mut binding = allowed();
    binding.allowed_methods = ["GET", "POST", "DELETE"].map(str::to_owned).to_vec();
    let send = async |input| fetch_with(binding.clone(), input, Duration::from_secs(30)).await;
    let before = other.connections();
    for input in [
        json!({"url": url("/moved-out"), "method": "POST", "body": "SECRET"}),
        json!({"url": url("/moved-out"), "method": "DELETE"}),
        json!({"url": url("/redirect-out"), "method": "DELETE"}),
        json!({"url": url("/moved-out"), "body": "SECRET"}),
    ] {
        let outcome = send(input.clone()).await;
        assert_eq!(failure(&outcome), ("sandbox_violation", "http.egress_denied"), "{input}");
        let effects = if input["method"].is_null() { "none" } else { "unknown" };
        let error = outcome.error.unwrap();
        assert_eq!(error.side_effects.as_deref(), Some(effects), "the first server had the request: {input}");
        assert!(!error.message.contains("SECRET"));
    }
    assert_eq!(other.connections(), before);
    let seen = send(json!({"url": url("/moved"), "method": "POST", "body": "data"})).await;
    assert!(text(&seen).starts_with("POST /echo ") && text(&seen).ends_with("data"), "{}", text(&seen));
    let turned = send(json!({"url": url("/redirect-out"), "method": "POST", "body": "SECRET"})).await;
    let seen = text(&turned).to_ascii_lowercase();
    assert!(seen.starts_with("get /echo ") && !seen.contains("secret") && !seen.contains("idempotency"), "{seen}");
}

#[tokio::test]
async fn headers_that_are_not_for_callers_are_refused() {
    for name in [
        "Host",
        "Authorization",
        "Cookie",
        "Connection",
        "Content-Length",
        "Proxy-Authorization",
        "X-Forwarded-For",
        "bad name",
    ] {
        let outcome = fetch(json!({"url": "http://ok.test/", "headers": {name: "x"}})).await;
        assert_eq!(failure(&outcome).0, "invalid_arguments", "{name}");
    }
    let outcome = fetch(json!({"url": "http://ok.test/", "headers": {"X-A": "a\r\nHost: evil"}})).await;
    assert_eq!(failure(&outcome).0, "invalid_arguments");
    assert_eq!(failure(&fetch(json!({"url": "not a url"})).await).0, "invalid_arguments");
}

/// A body goes to a file as it comes, and what is kept of it is what came.
#[tokio::test]
async fn a_large_body_is_in_a_file_and_not_in_memory() {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    let large = crate::server::large();
    let run = async |most: u64| {
        let mut options = ToolboxOptions::new(folder.path());
        options.outputs = Some(folder.path().join("outputs"));
        let toolbox = toolbox_with(options, Arc::new(Names)).await;
        let url = format!("http://ok.test:{}/large", server.address.port());
        let binding = HttpBinding { max_response_bytes: Some(most), ..allowed() };
        execute(&toolbox, &call(ExecutionBinding::Http(binding), json!({ "url": url }))).await
    };
    let outcome = run(16 << 20).await;
    assert!(outcome.is_success(), "{outcome:?}");
    let kept = &outcome.exact[0];
    assert!(kept.bytes.len() <= 64 * 1024 && text(&outcome).len() <= 64 * 1024, "its beginning alone is held");
    let file = kept.file.as_ref().unwrap();
    assert!(std::fs::read(file.path()).unwrap() == large.as_bytes());
    assert_eq!((kept.total_bytes, kept.media_type.as_str()), (large.len() as u64, "text/csv"));
    assert_eq!(structured(&outcome)["body_bytes"], json!(large.len()));
    // What is declared as the most is the most.
    let cut = run(2 << 20).await;
    assert_eq!(failure(&cut).1, "exec.output_limit");
    assert_eq!(cut.exact[0].file.as_ref().unwrap().size_bytes(), 2 << 20);
    drop((outcome, cut));
    assert_eq!(std::fs::read_dir(folder.path().join("outputs")).unwrap().count(), 0);
}
