//! What the README says one can type, typed.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use toolplane_testkit::{Cluster, Options, binary, tools};

use crate::bed::RULES;

/// The fenced block that follows `<!-- run: NAME -->` in the README.
#[track_caller]
pub(crate) fn block(name: &str) -> String {
    let text = std::fs::read_to_string(binary::root().join("README.md")).unwrap();
    let mark = format!("<!-- run: {name} -->");
    let (_, after) = text.split_once(&mark).unwrap_or_else(|| panic!("the README has no `{mark}`"));
    let mut lines = after.lines().skip_while(|line| !line.starts_with("```")).skip(1);
    let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
    assert!(!block.is_empty(), "nothing follows `{mark}`");
    block.join("\n")
}

/// A cluster as the README has it by then: the example tools, and a file to count.
pub(crate) async fn cluster() -> Cluster {
    let files: Vec<String> =
        tools::example_files().unwrap().iter().map(|file| format!("{:?}", file.display().to_string())).collect();
    let config = format!("[surface]\ndeclarations = [{}]\n{RULES}", files.join(", "));
    let cluster = Cluster::start(Options::new(config).http()).await.unwrap();
    std::fs::write(cluster.workspace().join("words.txt"), "one two three\n").unwrap();
    cluster
}

/// Runs a block with bash, on this cluster in place of the one that is named.
pub(crate) fn run(name: &str, cluster: &Cluster) -> Output {
    let script = block(name).replace("http://localhost:7480", &cluster.http().unwrap());
    let script = script.replace("localhost:7480", cluster.http().unwrap().trim_start_matches("http://"));
    let folder: PathBuf = cluster.folder().to_owned();
    Command::new("bash").args(["-euo", "pipefail", "-c", &script]).current_dir(folder).output().unwrap()
}

#[tokio::test]
async fn the_first_call_with_curl() {
    let lines = block("curl");
    assert!(lines.lines().count() <= 6, "{lines}");
    let cluster = cluster().await;
    let output = run("curl", &cluster);
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    let answer: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    assert_eq!(answer["result"]["status"], "succeeded", "{answer}");
    assert!(said.contains("one two three") || said.contains("3 14 words.txt"), "{said}");
}
