//! Providers as people add them: asked by a worker, looked at, called, and away.

mod worker;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolplane_testkit::{Cluster, Layout, Options, Processes};
use toolplane_wait::eventually;

use crate::bed::PATIENCE;
use crate::shell::Shell;

pub(crate) const SERVER: &str = include_str!("../../crates/toolplane-execution/tests/it/mcp/server.py");

/// Everything may run that somebody has looked at, also what the platform asks about by itself.
fn config(api: &str) -> String {
    format!(
        "[executor.http]\nallow = [\"{api}\"]\n\n[[permission.rules]]\nbehavior = \"allow\"\ntool = \"*\"\nreason = \"all is known here\"\n"
    )
}

/// An API that answers every request with one pet, at the address that is given back.
async fn api() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut asked = [0; 4096];
                let read = stream.read(&mut asked).await.unwrap_or_default();
                let line = String::from_utf8_lossy(&asked[..read]).lines().next().unwrap_or_default().to_owned();
                let body = json!({ "name": "Rex", "asked": line }).to_string();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
                let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    address
}

/// A document of two operations, one of which cannot be a tool.
fn document(folder: &std::path::Path, api: &str) -> String {
    let pet = json!({
        "operationId": "getPet", "summary": "One pet.",
        "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
        "responses": { "200": { "description": "it", "content": { "application/json": { "schema": { "type": "object" } } } } },
    });
    let elsewhere =
        json!({ "operationId": "lost", "servers": [{ "url": "/" }], "responses": { "200": { "description": "it" } } });
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "servers": [{ "url": format!("http://{api}") }],
        "paths": { "/pets/{id}": { "get": pet }, "/lost": { "get": elsewhere } },
    });
    let path = folder.join("pets.json");
    std::fs::write(&path, document.to_string()).unwrap();
    path.display().to_string()
}

/// The same way on one process and on many: what is added is listed, waits, is approved, and is called.
fn walk(providers: &Shell, calls: Option<&Shell>, document: &str) {
    let program = ["--stdio", "--workspace", "read", "--", "/usr/bin/python3", "/workspace/server.py"];
    let stdio = [&["providers", "add", "small"][..], &program].concat();
    let said = providers.says(0, &[&["providers", "add", "small", "--dry-run"][..], &program].concat());
    assert!(said.contains("would be created") && said.contains("15 added") && said.contains("1 refused"), "{said}");
    assert!(!providers.says(0, &["providers", "ls"]).contains("small"), "nothing is made");
    let said = providers.says(0, &["providers", "add", "pets", "--dry-run", "--openapi", document]);
    assert!(said.contains("getPet  new") && said.contains("1 refused"), "{said}");
    let said = providers.says(0, &stdio);
    assert!(said.contains("provider:small/echo  new"), "{said}");
    let said = providers.says(0, &["providers", "add", "pets", "--openapi", document]);
    assert!(said.contains("getPet  new") && said.contains("1 refused"), "{said}");

    if let Some(calls) = calls {
        let waits = calls.complains(1, &["invoke", "small.echo", "-i", r#"{"text":"a"}"#]);
        assert!(waits.contains("unknown_tool") || waits.contains("provider.tool_waits"), "{waits}");
    }
    let looked = providers.says(0, &["providers", "review", "small", "echo"]);
    assert!(looked.contains("small.echo"), "{looked}");
    assert!(providers.says(0, &["providers", "review", "small", "echo", "--approve"]).contains("approved"));
    providers.says(0, &["providers", "review", "pets", "--approve"]);
}

/// The result of a call of a tool that nobody vouches for: no rule spares a person the question.
async fn approved(cluster: &Cluster, call: [&'static str; 3]) -> Value {
    let endpoint = cluster.endpoint();
    let (shell, caller) = (Shell::at(&endpoint), Shell::at(&endpoint));
    let arguments = [&["invoke", "--wait", "20s"][..], &call].concat();
    let called = tokio::task::spawn_blocking(move || caller.json(0, &arguments));
    let asked = async || shell.run(&["-o", "json", "approvals", "ls"]).stdout;
    let waiting = async || serde_json::from_slice::<Value>(asked().await.split(|byte| *byte == b'\n').next()?).ok();
    let approval = eventually("a person is asked", PATIENCE, waiting).await;
    shell.says(0, &["approvals", "approve", approval["approval_id"].as_str().unwrap()]);
    called.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_added_is_asked_looked_at_and_called() {
    let api = api().await;
    let cluster = Cluster::start(Options::new(config(&api))).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(cluster.workspace().join("server.py"), SERVER).unwrap();
    walk(&shell, Some(&shell), &document(folder.path(), &api));

    let result = approved(&cluster, ["small.echo", "-i", r#"{"text":"hello"}"#]).await;
    assert_eq!(result["structured_content"]["said"], "hello", "{result}");
    let result = shell.json(0, &["invoke", "pets.getPet", "-i", r#"{"id":7}"#]);
    assert!(result.to_string().contains("GET /pets/7 HTTP/1.1"), "{result}");
    let wrong = shell.complains(1, &["invoke", "pets.getPet", "-i", r#"{"id":"seven"}"#]);
    assert!(wrong.contains("/id"), "{wrong}");
    let unseen = shell.complains(1, &["invoke", "small.fail", "-i", "{}"]);
    assert!(unseen.contains("unknown_tool") || unseen.contains("provider.tool_waits"), "{unseen}");

    let listed = shell.says(0, &["providers", "ls"]);
    assert!(listed.contains("small") && listed.contains("mcp_stdio") && listed.contains("ready"), "{listed}");
    assert!(shell.says(0, &["providers", "refresh", "small", "--dry-run"]).contains("0 added, 0 changed"));
    shell.says(0, &["providers", "test", "small"]);
    shell.says(0, &["providers", "remove", "small"]);
    let gone = shell.complains(1, &["invoke", "small.echo", "-i", r#"{"text":"a"}"#]);
    assert!(gone.contains("provider.retired"), "{gone}");
}

/// The file a client of MCP has already: what can be taken is, no secret of it is, and each other server says why it is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_a_clients_configuration_are_taken_without_their_secrets() {
    let cluster = Cluster::start(Options::new(config("127.0.0.1:9"))).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".mcp.json");
    std::fs::write(cluster.workspace().join("server.py"), SERVER).unwrap();
    let python = "/usr/bin/python3";
    let file = json!({ "mcpServers": {
        "Small Server": { "command": python, "args": ["/workspace/server.py"], "env": { "TZ": "UTC" } },
        "secret": { "command": python, "args": ["/workspace/server.py"], "env": { "API_KEY": "sk-canary-0123456789" } },
        "old": { "type": "sse", "url": "http://127.0.0.1:9/sse" },
    } });
    std::fs::write(&path, file.to_string()).unwrap();
    let import = ["providers", "import", path.to_str().unwrap(), "--workspace", "read"];
    let told = |arguments: &[&str]| {
        let output = shell.run(arguments);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        (output.status.code(), text)
    };
    let (code, said) = told(&[&import[..], &["--dry-run"]].concat());
    assert!(code == Some(1) && said.contains("Small-Server  would be created") && said.contains(" added, "), "{said}");
    assert!(!shell.says(0, &["providers", "ls"]).contains("Small"), "nothing is made");
    let (code, said) = told(&import);
    assert!(code == Some(1) && said.contains("provider:Small-Server/echo  new"), "{said}");
    assert!(said.contains("`API_KEY` looks like a secret") && said.contains("`sse`"), "{said}");
    assert!(!said.contains("canary"), "{said}");
    let listed = shell.says(0, &["providers", "ls"]);
    assert!(listed.contains("Small-Server") && !listed.contains("secret") && !listed.contains("old"), "{listed}");
    // With a credential in the place of its secret it is made, and asked as soon as a worker has that credential.
    let given = ["--only", "secret", "--credential", "env:API_KEY=vault", "--no-wait"];
    assert_eq!(told(&[&import[..], &given].concat()).0, Some(0));
    assert!(shell.says(0, &["providers", "show", "secret"]).contains("vault in variable API_KEY"));
    assert!(shell.complains(2, &[&import[..], &["--only", "none"]].concat()).contains("no server `none`"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_cannot_be_asked_says_why_and_takes_nothing_with_it() {
    let cluster = Cluster::start(Options::new(config("127.0.0.1:9"))).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let broken = ["providers", "add", "broken", "--stdio", "--", "/usr/bin/python3", "-c", "import nothing_like_it"];
    let said = shell.run(&broken);
    let said = format!("{}{}", String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    assert!(said.contains("No module named"), "{said}");
    let away = shell.run(&["providers", "add", "away", "--mcp", "http://127.0.0.1:9/mcp"]);
    assert!(String::from_utf8_lossy(&away.stdout).contains("away"), "{away:?}");
    let listed = shell.says(0, &["providers", "ls"]);
    assert!(listed.contains("broken") && listed.contains("failed") && listed.contains("asked again"), "{listed}");
    assert!(shell.complains(2, &["providers", "add", "a b", "--mcp", "http://127.0.0.1:9/"]).contains("provider_id"));
    assert!(shell.complains(2, &["providers", "add", "ftp", "--mcp", "ftp://127.0.0.1/"]).contains("url"));
}

/// What is heard of a provider while its tools are called shows without a refresh: tools that have changed, and a server that is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_its_servers_say_and_how_its_calls_end_is_heard() {
    let cluster = Cluster::start(Options::new(config("127.0.0.1:9"))).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    std::fs::write(cluster.workspace().join("server.py"), SERVER).unwrap();
    let program = ["--stdio", "--workspace", "read", "--", "/usr/bin/python3", "/workspace/server.py"];
    shell.says(0, &[&["providers", "add", "small", "--trust", "all"][..], &program].concat());
    // Nothing but the server says that there is a new one: a provider is asked again by itself after many minutes.
    std::fs::write(cluster.workspace().join("grown"), "").unwrap();
    shell.says(0, &["invoke", "small.grow", "-i", "{}"]);
    let has_grown = async || shell.says(0, &["providers", "tools", "small"]).contains("small/grown").then_some(());
    eventually("the new tool is known", PATIENCE, has_grown).await;

    // Calls that lose the server are counted against it, and then it is left alone: whoever reads a surface is told so.
    let surface = shell.json(0, &["surface", "create", "--load", "small.die"])["surface_id"].clone();
    let shown = || shell.says(0, &["surface", "show", surface.as_str().unwrap()]);
    assert!(!shown().contains("is away"));
    let is_away = async || {
        let is_refused = shell.complains(1, &["invoke", "small.die", "-i", "{}"]).contains("provider.away");
        (is_refused && shown().contains("is away")).then_some(())
    };
    eventually("its calls are counted", PATIENCE, is_away).await;
    let listed = shell.says(0, &["providers", "ls"]);
    assert!(listed.contains("degraded") && listed.contains("circuit"), "{listed}");
    // When it is asked again and answers, calls are let through again.
    let is_back = async || (shell.run(&["invoke", "small.grow", "-i", "{}"]).status.code() == Some(0)).then_some(());
    eventually("it is back", PATIENCE, is_back).await;
}

/// The surface role alone has no worker: it asks the scheduler, as any caller does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_surface_role_of_its_own_asks_by_way_of_the_scheduler() {
    let api = api().await;
    let processes = Processes::start(Layout::new(1, 1, config(&api))).await.unwrap();
    let surface = Shell::at(processes.member("surface").unwrap().endpoint().unwrap());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(processes.workspace().join("server.py"), SERVER).unwrap();
    walk(&surface, None, &document(folder.path(), &api));
}
