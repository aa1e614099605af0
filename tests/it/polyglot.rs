//! Agents in other languages do the whole demo path with stubs made from the protos as they are.

use std::process::{Command, Output};

use toolplane_testkit::{Cluster, Options, binary, polyglot};

use crate::bed::RULES;

/// A cluster that knows the example tools from its start, as an operator would set it up.
async fn cluster() -> Cluster {
    let files = toolplane_testkit::tools::example_files().unwrap();
    let files: Vec<String> = files.iter().map(|file| format!("{:?}", file.display().to_string())).collect();
    let config = format!("[surface]\ndeclarations = [{}]\n{RULES}", files.join(", "));
    Cluster::start(Options::new(config)).await.unwrap()
}

fn check(name: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the {name} agent failed:\n{said}\n{complained}");
    let steps = [
        "declared", "surface", "searched", "loaded", "invoked", "approved", "called", "fetched", "replayed", "refused",
        "done",
    ];
    for step in steps {
        let there = said.lines().any(|line| line.starts_with(step));
        assert!(there, "the {name} agent says nothing about `{step}`:\n{said}\n{complained}");
    }
}

#[tokio::test]
async fn a_python_agent_does_the_whole_path() {
    let cluster = cluster().await;
    let output = Command::new(polyglot::python().unwrap())
        .arg(binary::root().join("tests/polyglot/agent.py"))
        .args([cluster.endpoint().trim_start_matches("http://")])
        .arg(binary::root().join("proto"))
        .output()
        .unwrap();
    check("Python", &output);
}

#[tokio::test]
async fn a_node_agent_does_the_whole_path() {
    let cluster = cluster().await;
    let output = Command::new("node")
        .arg(binary::root().join("tests/polyglot/agent.mjs"))
        .args([cluster.endpoint().trim_start_matches("http://")])
        .arg(binary::root().join("proto"))
        .env("NODE_FOLDER", polyglot::node().unwrap())
        .output()
        .unwrap();
    check("Node", &output);
}
