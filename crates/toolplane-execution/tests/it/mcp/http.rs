//! Calls of tools of a server over HTTP.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use toolplane_execution::{CredentialSource, McpOptions};
use toolplane_records::credential::{CredentialPlacement, CredentialUse};
use toolplane_records::mcp::{McpHttpServer, McpServer};

use super::bed::{Bed, SERVER, binding, call, call_of, effects, evidence, pairs};
use crate::credentials::{broker, configured, secret};
use crate::support::{failure, structured, text};

/// The small server, as a process of its own on a loopback address. It ends with its input, and so with the test.
pub(crate) struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    pub(crate) fn start() -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", SERVER, "--http", "127.0.0.77"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }

    pub(crate) fn at(&self, host: &str, path: &str) -> McpHttpServer {
        McpHttpServer { url: format!("http://{host}:{}{path}", self.port), ..McpHttpServer::default() }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_over_http_is_asked_like_any_other() {
    let (bed, server) = (Bed::new().await, Listening::start());
    let at = server.at("127.0.0.77", "/mcp");
    let of = |tool, input| call_of(McpServer::Http(at.clone()), tool, input);
    let outcome = bed.run(of("echo", json!({"text": "hello"}))).await;
    assert_eq!((text(&outcome), structured(&outcome)), ("hello", json!({"said": "hello"})), "{outcome:?}");
    assert_eq!(evidence(&outcome)["session_id"], "session-1");
    let outcome = bed.run(of("steps", json!({}))).await;
    assert_eq!((text(&outcome), &evidence(&outcome)["progress"]), ("stepped", &json!(4)));
    let outcome = bed.run(call(binding(McpServer::Http(at.clone()), None), json!({}))).await;
    assert_eq!(text(&outcome), "15 tools, 1 refused");
    let mut with = at.clone();
    with.headers = pairs([("X-Team", "blue")]);
    let outcome = bed.run(call_of(McpServer::Http(with), "header", json!({"name": "X-Team"}))).await;
    assert_eq!(text(&outcome), "blue");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_that_is_refused_is_got_anew_and_tried_once_more() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Listening::start());
    let argv = ["/usr/bin/cat".to_owned(), folder.path().join("token").display().to_string()];
    let small = json!({"name": "small-token", "kind": "bearer", "source": {"command": {"argv": argv}},
        "tenants": ["default"]});
    secret(folder.path(), "token", "the-first-secret");
    let broker = Arc::new(broker(vec![configured(small)]));
    broker.load().await;
    let bed = Bed::with_credentials(McpOptions::default(), Arc::new(CredentialSource::new(broker))).await;
    let mut at = server.at("127.0.0.77", "/renewed");
    at.credentials = pairs([("Authorization", "small-token")]);
    let asked = async || bed.run(call_of(McpServer::Http(at.clone()), "echo", json!({"text": "x"}))).await;
    let outcome = asked().await;
    assert_eq!((failure(&outcome), effects(&outcome)), (("credential_missing", "http.status"), "none"), "{outcome:?}");
    // The program that gives it would not be asked for minutes.
    secret(folder.path(), "token", "the-second-secret");
    let outcome = asked().await;
    assert_eq!(text(&outcome), "x", "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_go_to_their_places_in_every_request() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Listening::start());
    let key = json!({"name": "key", "kind": "api_key", "source": {"file": folder.path().join("key")}, "tools": ["*"]});
    secret(folder.path(), "key", "small-placed-secret");
    let broker = Arc::new(broker(vec![configured(key)]));
    let bed = Bed::with_credentials(McpOptions::default(), Arc::new(CredentialSource::new(broker))).await;
    let mut at = server.at("127.0.0.77", "/keyed?team=1&apiKey=another");
    let (cookie, query) = ("session".to_owned(), "apiKey".to_owned());
    at.placed_credentials = vec![
        CredentialUse::whole("key", CredentialPlacement::Query { name: query }),
        CredentialUse::whole("key", CredentialPlacement::Cookie { name: cookie }),
        CredentialUse::whole(
            "key",
            CredentialPlacement::Header { name: "X-Key".to_owned(), prefix: Some("Token ".to_owned()) },
        ),
    ];
    let outcome = bed.run(call_of(McpServer::Http(at.clone()), "echo", json!({"text": "x"}))).await;
    assert_eq!(text(&outcome), "x", "{outcome:?}");
    at.placed_credentials.pop();
    let outcome = bed.run(call_of(McpServer::Http(at), "echo", json!({"text": "x"}))).await;
    assert_eq!(failure(&outcome), ("credential_missing", "http.status"), "{outcome:?}");
    assert!(!format!("{outcome:?}").contains("small-placed-secret"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_asked_at_its_own_place_alone() {
    let (bed, server) = (Bed::new().await, Listening::start());
    let asked = async |at: McpHttpServer| bed.run(call_of(McpServer::Http(at), "echo", json!({"text": "x"}))).await;
    // Names that stand for what they may not.
    for host in ["rebound.test", "metadata.test", "mixed.test"] {
        let outcome = asked(server.at(host, "/mcp")).await;
        assert_eq!((failure(&outcome), effects(&outcome)), (("sandbox_violation", "http.egress_denied"), "none"));
    }
    // A redirect is not followed.
    let outcome = asked(server.at("127.0.0.77", "/redirect")).await;
    assert_eq!((failure(&outcome).1, effects(&outcome)), ("http.status", "none"), "{outcome:?}");
    assert!(outcome.error.unwrap().message.contains("302"));
    // A server that wants to know who asks.
    let outcome = asked(server.at("127.0.0.77", "/secret")).await;
    assert_eq!((failure(&outcome), effects(&outcome)), (("credential_missing", "http.status"), "none"), "{outcome:?}");
    let mut named = server.at("127.0.0.77", "/secret");
    named.credentials = pairs([("Authorization", "token")]);
    assert_eq!(failure(&asked(named).await).1, "credential.missing");
    // Nobody there any more: what cannot be sent is tried once with a new session, and was not done.
    let (url, gone) = (server.at("127.0.0.77", "/mcp"), server);
    assert!(asked(url.clone()).await.is_success());
    drop(gone);
    let mut outcome = asked(url.clone()).await;
    if failure(&outcome).1 == "mcp.no_answer" {
        // It left on the connection that was kept, before anybody saw its end: what became of it is not known.
        assert_eq!(effects(&outcome), "unknown", "{outcome:?}");
        outcome = asked(url).await;
    }
    assert_eq!((failure(&outcome).1, effects(&outcome)), ("mcp.not_started", "none"), "{outcome:?}");
}
