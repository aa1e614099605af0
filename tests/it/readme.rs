//! What the README says one can type, typed.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use toolplane_proto::v1;
use toolplane_testkit::clients::payload;
use toolplane_testkit::process::Process;
use toolplane_testkit::{Cluster, Options, binary, polyglot, tools};

use crate::bed::{PATIENCE, RULES};

/// Most lines a first call, or a first tool, may take.
const MOST_LINES: usize = 12;

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

/// The first command of all. The program is built with the others (`cargo build --workspace --bins`).
#[test]
fn the_demo_shows_a_job_from_its_tools_to_its_trace() {
    let program = binary::toolplane().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Command::new(program.with_file_name("xtask-cluster"));
    demo.arg("demo").arg("--folder").arg(folder.path().join("demo")).env(binary::VARIABLE, &program);
    let said = printed(&demo.output().unwrap());
    for shown in ["schemas loaded", "denied", "execute_tool local.shell.exec", "drained and ended in order"] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
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

fn printed(output: &Output) -> String {
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    said.into_owned()
}

/// The block as a program in a folder of its own, where the package is installed, for this cluster.
fn program(name: &str, cluster: &Cluster) -> Command {
    let text = block(name);
    assert!(text.lines().count() <= MOST_LINES, "{text}");
    let folder = cluster.folder().join(name.replace(' ', "-"));
    std::fs::create_dir_all(folder.join("node_modules")).unwrap();
    let mut command = if name.starts_with("python") {
        let file = folder.join("program.py");
        std::fs::write(&file, text).unwrap();
        let mut python = Command::new(polyglot::python().unwrap());
        python.arg(file).env("PYTHONPATH", binary::root().join("sdk/python/src"));
        python
    } else {
        let (file, package) = (folder.join("program.mjs"), binary::root().join("sdk/typescript"));
        std::fs::write(&file, text).unwrap();
        std::os::unix::fs::symlink(&package, folder.join("node_modules/toolplane")).unwrap();
        std::os::unix::fs::symlink(package.join("node_modules/zod"), folder.join("node_modules/zod")).unwrap();
        let mut node = Command::new("node");
        node.arg(file);
        node
    };
    // Workers keep their name and what they have not reported in the folder of their user.
    command.env("TOOLPLANE_ENDPOINT", cluster.endpoint()).env("HOME", &folder).env("XDG_STATE_HOME", &folder);
    command.current_dir(&folder);
    command
}

#[tokio::test]
async fn the_first_call_in_python_and_in_typescript() {
    let cluster = cluster().await;
    for name in ["python", "typescript"] {
        let said = printed(&program(name, &cluster).output().unwrap());
        assert!(said.contains('3') && said.contains("words.txt"), "{name}: {said}");
    }
}

/// As a client reads the file: the program is found in the path, and is told where the cluster is.
#[tokio::test]
async fn the_first_call_of_an_mcp_client() {
    const CLIENT: &str = r#"
import asyncio, json, sys
from fastmcp import Client

async def main():
    async with Client(json.loads(sys.argv[1])) as client:
        print((await client.call_tool("text__word_count", {"path": "words.txt"})).content[0].text)

asyncio.run(main())
"#;
    let cluster = cluster().await;
    let mut config: Value = serde_json::from_str(&block("mcp")).unwrap();
    let server = &mut config["mcpServers"]["toolplane"];
    assert_eq!(server["command"], "toolplane");
    server["command"] = binary::toolplane().unwrap().display().to_string().into();
    server["env"] = serde_json::json!({ "TOOLPLANE_ENDPOINT": cluster.endpoint() });
    let mut client = Command::new(binary::target().join("venv-mcp/bin/python"));
    let said = printed(&client.args(["-c", CLIENT, &config.to_string()]).output().unwrap());
    assert!(said.contains('3') && said.contains("words.txt"), "{said}");
}

#[tokio::test]
async fn a_tool_of_ones_own_in_python_and_in_typescript() {
    for name in ["python tool", "typescript tool"] {
        let cluster = cluster().await;
        let log = cluster.folder().join("worker.log");
        let mut worker = Process::start(name, &mut program(name, &cluster), &log).unwrap();
        let start = std::time::Instant::now();
        let value = loop {
            let spec = v1::InvocationSpec {
                tool_name: "acme.shout".to_owned(),
                model_input: Some(payload(r#"{"text":"hey"}"#)),
                ..Default::default()
            };
            let request = v1::CallRequest { spec: Some(spec), wait_ms: 30_000, ..Default::default() };
            let answer = cluster.clients().invocations().call(request).await.unwrap().into_inner();
            let result = answer.result.unwrap();
            // Until the worker has told what its tool is, there is none.
            if !result.is_error {
                let texts = result.content.into_iter().filter_map(|content| match content.block {
                    Some(v1::content_block::Block::Text(text)) => Some(text.text),
                    _ => None,
                });
                break texts.collect::<String>();
            }
            worker.expect_running().unwrap();
            assert!(start.elapsed() < PATIENCE, "{name}: {result:?}\n{}", worker.log_tail());
            toolplane_wait::look_again().await;
        };
        assert!(value.contains("HEY"), "{name}: {value}");
        assert!(worker.terminate(PATIENCE).await.unwrap().success(), "{name}: {}", worker.log_tail());
    }
}
