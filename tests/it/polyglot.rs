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

/// Every step of the path is told.
fn check(name: &str, output: &Output) {
    let steps = [
        "declared", "surface", "searched", "loaded", "invoked", "approved", "called", "fetched", "replayed", "refused",
        "done",
    ];
    check_steps(name, output, &steps);
}

/// Also those that only the agents in compiled languages take.
fn check_compiled(name: &str, output: &Output) {
    check(name, output);
    check_steps(name, output, &["listed", "progress", "repeated", "failed"]);
}

fn check_steps(name: &str, output: &Output, steps: &[&str]) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the {name} agent failed:\n{said}\n{complained}");
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

#[tokio::test]
async fn an_agent_in_go_does_the_whole_path_without_a_surface_of_its_own() {
    let cluster = cluster().await;
    let output = compiled(&cluster, "go")
        .env("GO_FOLDER", polyglot::go().unwrap())
        .env("PYTHON", polyglot::python().unwrap())
        .output()
        .unwrap();
    check_compiled("Go", &output);
}

#[tokio::test]
async fn an_agent_in_java_does_the_whole_path_without_a_surface_of_its_own() {
    let cluster = cluster().await;
    let output = compiled(&cluster, "java").env("JAVA_FOLDER", polyglot::java().unwrap()).output().unwrap();
    check_compiled("Java", &output);
}

/// Makes the stubs of an agent, compiles it and runs it.
fn compiled(cluster: &Cluster, language: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .arg(binary::root().join("tests/polyglot").join(language).join("run.sh"))
        .arg(binary::root().join("proto"))
        .arg(cluster.endpoint().trim_start_matches("http://"));
    command
}
