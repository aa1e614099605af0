//! A question outlives everything: every process dies twice, and the call that waits for its answer is still the same.

use std::time::Instant;

use serde_json::Value;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::layout::Store;
use toolplane_testkit::{Cluster, Layout, Options, Processes, tools};

use crate::bed::{PATIENCE, RULES, register, surface};
use crate::shell::Shell;

const COMMAND: &str = r#"{"command":"echo once >> parked.txt; cat parked.txt"}"#;

/// A call that waits for a person.
async fn park(clients: &Clients) -> String {
    register(clients, tools::examples().unwrap()).await;
    let spec = v1::InvocationSpec {
        surface_id: surface(clients).await,
        tool_name: "shell.exec".to_owned(),
        model_input: Some(payload(COMMAND)),
        ..Default::default()
    };
    let request = v1::SubmitInvocationRequest { spec: Some(spec) };
    let call = clients.invocations().submit_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    call.invocation_id
}

/// The one open question, as the command line lists it.
#[track_caller]
fn question(permissions: &Shell) -> Value {
    let listed = permissions.says(0, &["-o", "json", "approvals", "ls"]);
    let mut lines = listed.lines();
    let first = serde_json::from_str(lines.next().expect("nothing waits for an answer")).unwrap();
    assert_eq!(lines.next(), None, "more than one question: {listed}");
    first
}

/// Approves at the command line and follows the same call to its result there.
#[track_caller]
fn approve_and_follow(permissions: &Shell, invocations: &Shell, invocation_id: &str, asked: &Value) {
    let now = question(permissions);
    for member in ["approval_id", "invocation_id", "input_digest", "declaration_digest", "created_at", "expires_at"] {
        assert_eq!(now[member], asked[member], "`{member}` changed while everything was away");
    }
    assert_eq!(now["invocation_id"], invocation_id);
    let approval = now["approval_id"].as_str().unwrap();
    let said = permissions.says(0, &["approvals", "approve", approval, "--feedback", "after all that", "--as", "ann"]);
    assert!(said.contains("approved"), "{said}");
    invocations.says(0, &["watch", invocation_id]);
    let result = invocations.json(0, &["get", "result", invocation_id]);
    assert_eq!((&result["invocation_id"], &result["status"]), (&invocation_id.into(), &"succeeded".into()));
    permissions.complains(2, &["approvals", "reject", approval]);
}

fn ran(workspace: &std::path::Path) -> String {
    std::fs::read_to_string(workspace.join("parked.txt")).unwrap_or_default()
}

/// Waits until the call shows that it waits for a person.
async fn until_parked(clients: &Clients, invocation_id: &str) {
    let begin = Instant::now();
    loop {
        let request = v1::GetInvocationRequest { invocation_id: invocation_id.to_owned(), ..Default::default() };
        let call = clients.invocations().get_invocation(request).await;
        let status = call.map(|answer| answer.into_inner().invocation.unwrap().status_code());
        if matches!(status, Ok(v1::InvocationStatus::AwaitingApproval)) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{status:?}");
        toolplane_wait::look_again().await;
    }
}

#[tokio::test]
async fn one_process_on_its_own_store() {
    let mut cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let id = park(&cluster.clients().clone()).await;
    until_parked(cluster.clients(), &id).await;
    let asked = question(&shell);

    cluster.kill();
    cluster.start_again().await.unwrap();
    until_parked(cluster.clients(), &id).await;
    assert!(cluster.stop().await.unwrap().success(), "it drains although a call waits");
    cluster.start_again().await.unwrap();
    until_parked(cluster.clients(), &id).await;
    assert_eq!(ran(&cluster.workspace()), "", "it ran before it was approved");

    approve_and_follow(&shell, &shell, &id, &asked);
    assert_eq!(ran(&cluster.workspace()), "once\n");
}

#[tokio::test]
async fn many_processes_on_redis() {
    let mut processes = Processes::start(Layout::new(2, 1, RULES).on(Store::Redis)).await.unwrap();
    let endpoint = |processes: &Processes, name: &str| processes.member(name).unwrap().endpoint().unwrap();
    let permissions = Shell::at(endpoint(&processes, "permission"));
    let other = Shell::at(endpoint(&processes, "scheduler-2"));
    let clients = processes.clients().unwrap().clone();
    let id = park(&clients).await;
    until_parked(&clients, &id).await;
    let asked = question(&permissions);

    for name in processes.names() {
        processes.kill(&name).unwrap();
    }
    processes.redis().unwrap().kill();
    processes.redis().unwrap().restart().await.unwrap();
    processes.launch_all().unwrap();
    processes.ready().await.unwrap();
    until_parked(&clients, &id).await;

    for name in processes.names() {
        assert!(processes.stop(&name).await.unwrap().success(), "{name} drains although a call waits");
    }
    processes.redis().unwrap().restart().await.unwrap();
    processes.launch_all().unwrap();
    processes.ready().await.unwrap();
    until_parked(&clients, &id).await;
    assert_eq!(ran(&processes.workspace()), "", "it ran before it was approved");

    approve_and_follow(&permissions, &other, &id, &asked);
    assert_eq!(ran(&processes.workspace()), "once\n");
}
