//! Calls of tools of a server that is a program.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolplane_execution::{Answer, Asker, InputQuestion, McpOptions, ProgressSink, ProgressUpdate, TraceContext};
use toolplane_mcp::ToolList;
use toolplane_records::decision::DeniedPaths;
use toolplane_records::mcp::{McpServer, McpSharing, McpStdioServer, McpWorkspace};
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;

use super::bed::{Bed, binding, call, call_of, effects, evidence, pairs, program};
use crate::server::Server;
use crate::support::{context, failure, structured, text};

#[tokio::test]
async fn an_answer_is_an_outcome() {
    let bed = Bed::new().await;
    let outcome = bed.call("echo", json!({"text": "hello"})).await;
    assert_eq!((text(&outcome), structured(&outcome)), ("hello", json!({"said": "hello"})), "{outcome:?}");
    let told = evidence(&outcome);
    assert_eq!((&told["server"]["name"], &told["server"]["version"]), (&json!("small"), &json!("1.2")));
    assert_eq!((&told["era"], told["request_ids"].as_array().unwrap().len()), (&json!("initialized"), 1));

    let outcome = bed.call("image", json!({"times": 2})).await;
    let texts: Vec<_> = outcome.content.iter().map(|block| format!("{block:?}")).collect();
    assert!(texts.len() == 3 && texts[1].contains("[image: image/png, 512 bytes]"), "{texts:?}");
    let kinds: Vec<_> = outcome.exact.iter().map(|exact| (exact.media_type.as_str(), exact.bytes.len())).collect();
    let plain = "text/plain; charset=utf-8";
    assert_eq!(kinds, [(plain, 6), ("image/png", 512), (plain, 5)]);

    let outcome = bed.call("link", json!({})).await;
    assert!(matches!(&outcome.content[0], ContentBlock::ResourceLink { resource } if resource.uri == "file:///a"));

    let outcome = bed.call("fail", json!({})).await;
    assert_eq!((failure(&outcome), text(&outcome)), (("execution_failed", "mcp.tool_failed"), "it is broken"));
    let outcome = bed.call("nothing", json!({})).await;
    assert_eq!(failure(&outcome), ("execution_failed", "mcp.refused"));
    assert!(outcome.error.unwrap().message.contains("unknown tool"));
    let outcome = bed.call("echo", json!(["text"])).await;
    assert_eq!((failure(&outcome), effects(&outcome)), (("invalid_arguments", "input.invalid"), "none"));
}

#[tokio::test]
async fn without_a_tool_a_call_says_what_there_is() {
    let bed = Bed::new().await;
    let outcome = bed.run(call(binding(McpServer::Stdio(program()), None), json!({}))).await;
    assert_eq!(text(&outcome), "15 tools, 1 refused", "{outcome:?}");
    let list: ToolList = serde_json::from_slice(outcome.structured_content.unwrap().bytes()).unwrap();
    assert_eq!((list.server.name.as_str(), list.tools[0].name.as_str()), ("small", "echo"));
    assert_eq!(list.tools[0].input_schema.text(), r#"{"type": "object", "b": 100.0}"#);
    assert_eq!((list.refused[0].name.as_deref(), list.cut), (Some("bad"), false));
}

#[tokio::test]
async fn a_server_that_says_that_its_tools_have_changed_is_told_of() {
    let bed = Bed::new().await;
    let changes = bed.toolbox.provider_changes();
    assert_eq!(text(&bed.call("grow", json!({})).await), "grown");
    let changed = changes.next().await;
    assert_eq!((&*changed.tenant, &*changed.provider_id), ("default", "small"));
    let mut alone = binding(McpServer::Stdio(program()), Some("grow"));
    alone.sharing = McpSharing::Call;
    assert!(bed.run(call(alone, json!({}))).await.is_success());
    assert!(changes.next().now_or_never().is_none(), "a session of one call is not heard");
}

#[tokio::test]
async fn progress_and_the_place_in_a_trace_are_passed_on() {
    let bed = Bed::new().await;
    let (mut context, seen) = context();
    context.trace = TraceContext { traceparent: Some("00-1-2-01".to_owned()), tracestate: None };
    let of = |tool| call_of(McpServer::Stdio(program()), tool, json!({}));
    let outcome = bed.toolbox.execute(&of("steps"), &context).await;
    assert_eq!((text(&outcome), &evidence(&outcome)["progress"]), ("stepped", &json!(4)));
    let last = seen.0.lock().unwrap().last().cloned().unwrap();
    assert_eq!((last.percent, last.message.as_str()), (Some(100.0), "step 4"));
    let outcome = bed.toolbox.execute(&of("meta"), &context).await;
    let meta: Value = serde_json::from_str(text(&outcome)).unwrap();
    assert_eq!(meta["traceparent"], "00-1-2-01");
}

/// Cancels when the tool tells of progress.
struct OnProgress(Notify);

impl ProgressSink for OnProgress {
    fn report(&self, update: ProgressUpdate) {
        if update.status == toolplane_records::vocabulary::ProgressStatus::Running {
            self.0.notify_one();
        }
    }
}

#[tokio::test]
async fn a_canceled_call_is_canceled_at_the_server_which_goes_on() {
    let bed = Bed::new().await;
    let (mut context, _) = context();
    let begun = Arc::new(OnProgress(Notify::new()));
    context.progress = Arc::clone(&begun) as _;
    let waits = call_of(McpServer::Stdio(program()), "wait", json!({}));
    let canceled = async {
        begun.0.notified().await;
        context.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(bed.toolbox.execute(&waits, &context), canceled);
    assert_eq!((failure(&outcome), effects(&outcome)), (("canceled", "exec.canceled"), "unknown"));
    let outcome = bed.call("who", json!({})).await;
    let told = structured(&outcome);
    assert_eq!((told["cancelled"].as_array().unwrap().len(), &told["calls"]), (1, &json!(1)), "{told}");
}

#[tokio::test]
async fn a_call_without_an_answer_ends_with_its_time() {
    let bed = Bed::new().await;
    assert!(bed.call("who", json!({})).await.is_success());
    let mut waits = call_of(McpServer::Stdio(program()), "wait", json!({}));
    waits.limits.timeout = Some(Duration::from_millis(200));
    let outcome = bed.run(waits).await;
    assert_eq!((failure(&outcome), effects(&outcome)), (("timeout", "exec.timeout"), "unknown"));
}

/// Answers every question in the same way.
struct Says(Answer, Mutex<Vec<InputQuestion>>);

impl Asker for Says {
    fn ask(&self, question: InputQuestion) -> BoxFuture<'_, Answer> {
        self.1.lock().unwrap().push(question);
        Box::pin(std::future::ready(self.0.clone()))
    }
}

#[tokio::test]
async fn questions_of_a_server_are_put_to_a_person() {
    let bed = Bed::new().await;
    let asks = call_of(McpServer::Stdio(program()), "ask", json!({}));
    let color = Answer::Provided(JsonPayload::from_checked(r#"{"color":"red"}"#));
    for (answer, said) in [(color, "accept red"), (Answer::Declined, "decline None"), (Answer::Expired, "cancel None")]
    {
        let (mut context, _) = context();
        let person = Arc::new(Says(answer, Mutex::default()));
        context.asker = Arc::clone(&person) as _;
        let outcome = bed.toolbox.execute(&asks, &context).await;
        assert_eq!((text(&outcome), &evidence(&outcome)["questions"]), (said, &json!(1)), "{outcome:?}");
        let asked = person.1.lock().unwrap().clone();
        assert_eq!(asked[0].prompt, "Which color?");
        assert!(asked[0].schema.as_ref().unwrap().text().contains("color"));
    }
    // Nobody to ask.
    let outcome = bed.run(asks).await;
    assert_eq!(text(&outcome), "cancel None", "{outcome:?}");
}

#[tokio::test]
async fn a_server_is_given_nothing_that_was_not_allowed() {
    let bed = Bed::new().await;
    let with = |change: fn(&mut McpStdioServer)| {
        let mut server = program();
        change(&mut server);
        call_of(McpServer::Stdio(server), "echo", json!({"text": "x"}))
    };
    for (call, code) in [
        (with(|server| server.env_names.push("PATH".to_owned())), "mcp.not_allowed"),
        (with(|server| server.sandbox.read_paths.push("/opt".to_owned())), "mcp.not_allowed"),
        (with(|server| server.credentials = pairs([("TOKEN", "token")])), "credential.missing"),
        (with(|server| server.argv = vec!["/no/such/program".to_owned()]), "exec.binding_invalid"),
    ] {
        let outcome = bed.run(call).await;
        assert_eq!((failure(&outcome).1, effects(&outcome)), (code, "none"), "{outcome:?}");
    }
    let mut other = with(|_| {});
    other.place.sandbox_profile = Some("workspace_write".to_owned());
    assert_eq!(failure(&bed.run(other).await).1, "exec.binding_invalid");

    // The variable of the worker is there in every test; what is declared is handed on.
    let options = McpOptions { env_names: vec!["CARGO_PKG_NAME".to_owned()], ..McpOptions::default() };
    let bed = Bed::with(options).await;
    let mut server = program();
    server.env_names.push("CARGO_PKG_NAME".to_owned());
    server.env = pairs([("PLAIN", "yes")]);
    for (name, value) in [("CARGO_PKG_NAME", "toolplane-execution"), ("PLAIN", "yes"), ("CARGO", "-")] {
        let outcome = bed.run(call_of(McpServer::Stdio(server.clone()), "env", json!({"name": name}))).await;
        assert_eq!(text(&outcome), value, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_reaches_the_hosts_it_was_granted() {
    let (bed, there) = (Bed::new().await, Server::start("127.0.0.77", String::new()).await);
    let port = there.address.port();
    let mut server = program();
    let to = |server: &McpStdioServer, host: &str| {
        call_of(McpServer::Stdio(server.clone()), "fetch", json!({"place": format!("{host}:{port}")}))
    };
    let said = async |server: &McpStdioServer, host: &str| text(&bed.run(to(server, host)).await).to_owned();
    assert_eq!(said(&server, "ok.test").await, "[Errno 1] Operation not permitted");
    // What a name leads to has to be granted as well where it is not public.
    server.sandbox.allowed_hosts = ["ok.test", "127.0.0.77"].map(str::to_owned).to_vec();
    server.sandbox.allowed_ports = vec![port];
    assert_eq!(said(&server, "ok.test").await, "HTTP/1.1 200 Connection established");
    assert_eq!(said(&server, "allowed.test").await, "HTTP/1.1 403 Forbidden");
}

#[tokio::test]
async fn a_server_sees_of_the_workspace_what_its_call_may_see() {
    let bed = Bed::new().await;
    std::fs::write(bed.workspace.path().join("a.txt"), "open").unwrap();
    std::fs::write(bed.workspace.path().join("key.pem"), "secret").unwrap();
    let on = |access, tool: &str, path: &str| {
        let mut server = program();
        server.sandbox.workspace = access;
        let mut call = call_of(McpServer::Stdio(server), tool, json!({"path": path}));
        call.place.denied = DeniedPaths { read: vec!["*.pem".to_owned()], write: Vec::new() };
        call
    };
    let denied = |outcome| failure(&outcome).1 == "mcp.tool_failed";
    assert!(denied(bed.run(on(McpWorkspace::None, "read", "/workspace/a.txt")).await));
    assert_eq!(text(&bed.run(on(McpWorkspace::Read, "read", "/workspace/a.txt")).await), "open");
    assert!(denied(bed.run(on(McpWorkspace::Read, "read", "/workspace/key.pem")).await));
    assert!(denied(bed.run(on(McpWorkspace::Read, "write", "/workspace/b.txt")).await));
    // What comes later is kept from a server that runs already as well.
    std::fs::write(bed.workspace.path().join("later.pem"), "secret").unwrap();
    assert!(denied(bed.run(on(McpWorkspace::Read, "read", "/workspace/later.pem")).await));
    assert_eq!(text(&bed.run(on(McpWorkspace::Write, "write", "/workspace/b.txt")).await), "done");
    assert_eq!(std::fs::read_to_string(bed.workspace.path().join("b.txt")).unwrap(), "written");
}
