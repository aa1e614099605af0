//! Tools that a worker of one's own brings along.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::execution_binding::Binding;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_testkit::clients::payload;
use toolplane_testkit::{Cluster, Options};
use toolplane_wait::eventually;

use super::{approved, config};
use crate::bed::PATIENCE;
use crate::shell::Shell;
use crate::worker::{Hand, request};

/// A worker that serves `acme.*`, until it is dropped.
struct Own {
    tools: Arc<Mutex<Value>>,
    reports: mpsc::Sender<v1::WorkRequest>,
    serving: JoinHandle<()>,
}

impl Own {
    async fn connect(cluster: &Cluster, incarnation: &str, tools: Value) -> Self {
        let hello = v1::WorkerHello {
            worker_id: "own".into(),
            incarnation: incarnation.into(),
            previous_incarnation_dead: true,
            native_tools: vec!["acme.*".into()],
            ..Default::default()
        };
        let hand = Hand::at(WorkerServiceClient::new(cluster.clients().channel()), hello).await;
        let (tools, reports) = (Arc::new(Mutex::new(tools)), hand.reports.clone());
        let serving = tokio::spawn(serve(hand, Arc::clone(&tools)));
        Self { tools, reports, serving }
    }

    /// Has other tools from now on, and says so of a provider.
    async fn change(&self, tools: Value) {
        *self.tools.lock().unwrap() = tools;
        self.says_so("own").await;
    }

    async fn says_so(&self, provider_id: &str) {
        let changed = v1::ProviderChanged { tenant: "default".into(), provider_id: provider_id.to_owned() };
        self.reports.send(request(Report::ProviderChanged(changed))).await.unwrap();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Answers every call: what there is, or which native tool was asked.
async fn serve(mut hand: Hand, tools: Arc<Mutex<Value>>) {
    let mut granted = std::collections::HashMap::new();
    while let Some(command) = hand.next().await {
        let (lease, dispatch) = match command {
            Command::Offer(v1::Offer { lease: Some(lease), dispatch: Some(dispatch) }) => {
                if dispatch.requires_start_grant {
                    hand.say(Report::StartRequested(v1::StartRequested { lease: Some(lease.clone()) })).await;
                    granted.insert(lease.lease_id, dispatch);
                    continue;
                }
                (lease, dispatch)
            }
            Command::StartGranted(v1::StartGranted { lease: Some(lease) }) => match granted.remove(&lease.lease_id) {
                Some(dispatch) => (lease, dispatch),
                None => continue,
            },
            _ => continue,
        };
        let Some(Binding::Native(native)) = dispatch.binding.and_then(|binding| binding.binding) else { continue };
        let outcome = match native.name.as_str() {
            "acme.list_tools" => v1::ExecutionOutcome {
                structured_content: Some(payload(json!({ "tools": *tools.lock().unwrap() }).to_string())),
                ..succeeded("what there is")
            },
            name => succeeded(&format!("run by {name}")),
        };
        hand.say(Report::Done(v1::ExecutionDone { lease: Some(lease), outcome: Some(Box::new(outcome)) })).await;
    }
}

fn succeeded(text: &str) -> v1::ExecutionOutcome {
    let text = Block::Text(v1::TextBlock { text: text.to_owned() });
    v1::ExecutionOutcome {
        status: "succeeded".into(),
        content: vec![v1::ContentBlock { block: Some(text) }],
        ..Default::default()
    }
}

/// A tool as a worker writes it down at its shortest.
fn tool(name: &str, description: &str) -> Value {
    json!({ "declaration": { "name": name, "description": description } })
}

/// A tool that another worker would have to run.
fn strange() -> Value {
    let mut strange = tool("strange", "Not its own.");
    strange["execution_profile"] = json!({ "binding": { "type": "native", "name": "other.tool" } });
    strange
}

const ADD: [&str; 5] = ["providers", "add", "own", "--worker", "acme."];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_worker_brings_along_is_asked_looked_at_called_and_changed() {
    let cluster = Cluster::start(Options::new(config("127.0.0.1:9"))).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    assert!(shell.complains(2, &["providers", "add", "own", "--worker", "acme"]).contains("native_prefix"));
    let nobody = shell.says(1, &[&ADD[..], &["--dry-run"]].concat());
    assert!(nobody.contains("no worker serves `acme.list_tools`"), "{nobody}");

    let own = Own::connect(&cluster, "first", json!([tool("translate", "Translates."), strange()])).await;
    let said = shell.says(0, &[&ADD[..], &["--dry-run"]].concat());
    assert!(said.contains("would be created") && said.contains("1 added") && said.contains("1 refused"), "{said}");
    let said = shell.says(0, &ADD);
    assert!(said.contains("provider:own/translate  new") && said.contains("other.tool"), "{said}");
    assert!(shell.complains(2, &["providers", "add", "more", "--worker", "acme.more."]).contains("overlaps"));
    let listed = shell.says(0, &["providers", "ls"]);
    assert!(listed.contains("worker") && listed.contains("ready"), "{listed}");
    assert!(shell.says(0, &["providers", "show", "own"]).contains("acme."));
    shell.says(0, &["providers", "test", "own"]);

    let looked = shell.says(0, &["providers", "review", "own", "translate"]);
    assert!(looked.contains("own.translate") && looked.contains("Translates."), "{looked}");
    shell.says(0, &["providers", "review", "own", "translate", "--approve"]);
    let result = approved(&cluster, ["own.translate", "-i", "{}"]).await;
    assert!(result.to_string().contains("run by acme.translate"), "{result}");

    // Nothing but the worker says that there is something else now: the provider is not asked again by itself.
    own.says_so("nobody").await;
    own.change(json!([tool("translate", "Translates, and keeps a copy."), tool("count", "Counts.")])).await;
    let tools = async || shell.says(0, &["providers", "tools", "own"]);
    let has_changed = async || tools().await.contains("changed").then_some(());
    eventually("the change is seen", PATIENCE, has_changed).await;
    assert!(tools().await.contains("provider:own/count"), "{}", tools().await);
    let waits = shell.complains(1, &["invoke", "own.translate", "-i", "{}"]);
    assert!(waits.contains("provider.tool_waits"), "{waits}");
    shell.says(0, &["providers", "review", "own", "translate", "--approve"]);

    // What it had stays while no worker has it, and one that comes and says so is asked at once.
    drop(own);
    let is_away = async || {
        let said = shell.run(&["providers", "refresh", "own"]);
        String::from_utf8_lossy(&said.stdout).contains("no worker serves `acme.list_tools`").then_some(())
    };
    eventually("nobody serves it", PATIENCE, is_away).await;
    assert!(tools().await.contains("approved"), "{}", tools().await);
    let own = Own::connect(&cluster, "second", json!([tool("translate", "Translates, and keeps a copy.")])).await;
    own.says_so("own").await;
    let is_back = async || shell.says(0, &["providers", "ls"]).contains("ready").then_some(());
    eventually("it is asked again", PATIENCE, is_back).await;
    let result = approved(&cluster, ["own.translate", "-i", "{}"]).await;
    assert!(result.to_string().contains("run by acme.translate"), "{result}");
    shell.says(0, &["providers", "remove", "own"]);
    assert!(shell.complains(1, &["invoke", "own.translate", "-i", "{}"]).contains("provider.retired"));
}

/// What does not fit into a result is kept elsewhere, and read from there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_list_is_read_whole() {
    let cluster = Cluster::start(Options::new(config("127.0.0.1:9"))).await.unwrap();
    let tools: Vec<Value> = (0..800).map(|n| tool(&format!("tool{n}"), &"Does it. ".repeat(60))).collect();
    let _own = Own::connect(&cluster, "first", Value::Array(tools)).await;
    let said = Shell::at(cluster.endpoint()).says(0, &ADD);
    assert!(said.contains("800 added"), "{said}");
}
