//! The same program as four processes, what it refuses to start with, and who may call it.

use std::io::Write as _;
use std::process::{Command, Output};

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use toolplane_proto::v1;
use toolplane_testkit::clients::payload;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::trace::AgentTrace;
use toolplane_testkit::{Layout, Processes, binary, tools};

use crate::bed::{PATIENCE, RULES, register, surface};

pub(crate) mod callers;
mod providers;
mod secrets;
mod table;
mod tenants;
pub(crate) mod tokens;

/// Four processes that know each other only by address do what one process does.
#[tokio::test]
async fn four_processes_are_one_cluster() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let layout = Layout::new(1, 1, RULES).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let mut processes = Processes::prepare(layout).await.unwrap();
    // The one that asks comes first: no process needs the others to be there already.
    for name in processes.names().iter().rev() {
        processes.launch(name).unwrap();
    }
    processes.ready().await.unwrap();
    let clients = processes.clients().unwrap();

    register(clients, tools::examples().unwrap()).await;
    let surface_id = surface(clients).await;
    std::fs::write(processes.workspace().join("a.txt"), "x y\n").unwrap();
    let agent = AgentTrace::start();
    let spec = v1::InvocationSpec {
        surface_id,
        tool_name: "text.word_count".to_owned(),
        model_input: Some(payload(r#"{"path":"a.txt"}"#)),
        ..Default::default()
    };
    let request = agent.request(v1::InvokeRequest { spec: Some(spec), ..Default::default() });
    let mut stream = clients.invocations().invoke(request).await.unwrap().into_inner();
    let mut result = None;
    while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
        result = message.result.or(result);
    }
    let result = result.unwrap();
    assert!(!result.is_error, "{:?}", result.error);

    let complete = |trace: &toolplane_testkit::trace::Trace| {
        [
            "execute_tool",
            "toolplane.v1.InvocationService/Invoke",
            "toolplane.v1.SurfaceService/",
            "toolplane.v1.PermissionService/",
        ]
        .iter()
        .all(|name| trace.named(name).iter().any(|span| span.kind != SpanKind::Client))
    };
    let trace = receiver.wait_for(agent.trace_id(), PATIENCE, complete).await.unwrap();
    let service = |name: &str, kind| {
        let spans = trace.named(name);
        spans.iter().find(|span| span.kind == kind).map(|span| span.service.clone()).unwrap_or_default()
    };
    assert_eq!(service("toolplane.v1.InvocationService/Invoke", SpanKind::Server), "toolplane-scheduler");
    assert_eq!(service("toolplane.v1.SurfaceService/ResolveTool", SpanKind::Server), "toolplane-surface");
    assert_eq!(service("toolplane.v1.PermissionService/Decide", SpanKind::Server), "toolplane-permission");
    assert_eq!(service("execute_tool", SpanKind::Internal), "toolplane-executor");
    assert_eq!(trace.roots().len(), 1, "more than one tree:\n{}", trace.render());
}

fn check_config(role: Option<&str>, config: &str) -> Output {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(config.as_bytes()).unwrap();
    let mut command = Command::new(binary::toolplane().unwrap());
    command.args(["serve", "--check-config", "--config"]).arg(file.path());
    if let Some(role) = role {
        command.args(["--role", role]);
    }
    command.output().unwrap()
}

#[track_caller]
fn refused(role: Option<&str>, config: &str, words: &[&str]) {
    let output = check_config(role, config);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{config}: {said}");
    for word in words {
        assert!(said.contains(word), "`{word}` is not in: {said}");
    }
}

#[test]
fn wrong_configurations_are_refused_with_their_place() {
    const PEERS: &str = "[peers]\nsurface = \"http://127.0.0.1:7421\"\npermission = \"http://127.0.0.1:7422\"\n\
                         scheduler = \"http://127.0.0.1:7423\"\n";
    refused(Some("scheduler"), "", &["peers.surface"]);
    for role in [None, Some("surface"), Some("permission"), Some("scheduler"), Some("executor")] {
        let alone = matches!(role, None | Some("surface" | "permission"));
        let enough = if alone { "" } else { PEERS };
        assert_eq!(check_config(role, enough).status.code(), Some(0), "{role:?}: the rest are defaults");
        refused(role, "[server]\ndata_dri = \"x\"\n", &["data_dri", "2"]);
        refused(role, "\n\n[sheduler]\n", &["sheduler", "3"]);
        refused(role, "[server]\nlisten = \"0.0.0.0:7420\"\n", &["server.listen", "server.tls", "server.auth"]);
        refused(role, "[scheduler]\nlease_ms = 3000\nheartbeat_ms = 2000\n", &["scheduler.heartbeat_ms"]);
        refused(role, "[server]\nlisten = 7420\n", &["server.listen", "2"]);
    }
    refused(Some("permission"), "[[permission.rules]]\nbehavior = \"alow\"\ntool = \"*\"\n", &["permission.rules"]);
    refused(None, "[[permission.rules]]\nbehaviour = \"allow\"\ntool = \"*\"\n", &["permission.rules", "behaviour"]);
    refused(Some("executor"), "[executor]\nworker_id = \"no spaces please\"\n", &["executor.worker_id"]);
}

/// One program under four more names.
#[test]
fn a_link_with_the_name_of_a_role_runs_that_role() {
    let folder = tempfile::tempdir().unwrap();
    // What is refused shows which role it is: those that ask others have to know where those are.
    for (role, lacks) in [
        ("surface", ""),
        ("permission", ""),
        ("scheduler", "peers.surface"),
        ("executor", "peers.scheduler"),
        ("gateway", "`gateway`"),
    ] {
        let link = folder.path().join(format!("toolplane-{role}"));
        std::os::unix::fs::symlink(binary::toolplane().unwrap(), &link).unwrap();
        let output = Command::new(&link).arg("--check-config").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(if lacks.is_empty() { 0 } else { 2 }), "{role}: {said}");
        assert!(said.contains(lacks), "{role}: {said}");
    }
}

/// The same rule holds when the process is really started.
#[test]
fn an_open_listener_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(binary::toolplane().unwrap())
        .arg("serve")
        .current_dir(folder.path())
        .env("TOOLPLANE__SERVER__LISTEN", "0.0.0.0:0")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let untouched = std::fs::read_dir(folder.path()).unwrap().next().is_none();
    assert!(untouched, "a refused process left something behind");
}

/// SIGTERM: the process ends by itself, in order, with code 0, and what it knew is there afterwards.
#[tokio::test]
async fn a_stopped_cluster_ends_in_order() {
    let mut bed = crate::bed::Bed::start().await;
    let result = bed.call("native.echo", r#"{"x":1}"#).await;
    let status = bed.cluster.stop().await.unwrap();
    assert!(status.success(), "{status}");
    bed.cluster.start_again().await.unwrap();
    let (_, again) = bed.replay(&result.invocation_id, 1).await;
    assert_eq!(again, result);
}
