//! An operation of an API behind a credential, from the declaration to the result; and the secret, looked for everywhere afterwards.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use toolplane_proto::v1;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::trace::AgentTrace;
use toolplane_testkit::{Options, clients, tools};

use crate::bed::{Bed, PATIENCE, register, surface};
use crate::hooks::{context, text};
use crate::shell::Shell;

const SECRET: &str = "canary-swordfish-7c1f";
const ROTATED: &str = "canary-halibut-99e2";

/// Gives back what it was sent, in the body and in a header; its status says whether the key was one of ours.
pub(crate) async fn api() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    address
}

async fn answer(mut stream: TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    while !bytes.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let request = String::from_utf8_lossy(&bytes).into_owned();
    let first = request.lines().next()?.to_owned();
    let key = request.lines().find_map(|line| line.strip_prefix("x-key: ")).unwrap_or_default().to_owned();
    let which = ["none", "the first", "the second"][usize::from(key == SECRET) + 2 * usize::from(key == ROTATED)];
    let body = json!({ "asked": first, "which": which, "echo": request }).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Echo: {key}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

fn lookup(api: SocketAddr, name: &str, credential: &str) -> v1::ToolRegistration {
    let id = format!("tool_{name}");
    let document = json!({
        "declaration": {
            "tool_id": id, "namespace": "pets", "name": format!("pets.{name}"), "description": "Looks up a pet.",
            "lifecycle": "available", "tool_kind": "function",
            "input_contract": { "strict": true, "model_input_schema": {
                "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"], "additionalProperties": false } },
        },
        "interface": {
            "interface_id": format!("iface_{id}"), "tool_id": id, "is_read_only": true, "is_concurrency_safe": true,
            "is_destructive": false, "is_open_world": false, "is_idempotent": true, "interrupt_behavior": "cancel",
        },
        "execution_profile": {
            "execution_profile_id": format!("exec_{id}"), "execution_kind": "http_api", "supports_cancel": true,
            "supports_retries": true, "timeout_ms": 20_000,
            "binding": {
                "type": "operation", "operation": "getPet", "method": "GET", "server": format!("http://{api}/v1"),
                "path": "/pets/{id}", "allowed_host": "127.0.0.1", "allowed_port": api.port(), "idempotent": true,
                "parameters": [{ "place": "path", "name": "id", "input": ["id"], "required": true, "style": "simple" }],
                "credentials": [[{ "scheme": "key", "credential": credential,
                    "placement": { "in": "header", "name": "x-key" } }]],
            },
        },
        "permission_profile": { "permission_profile_id": format!("perm_{id}"), "risk_level": "low" },
    });
    tools::registration(&document.to_string()).unwrap()
}

/// Puts a secret into a file that nobody else may read, in one step.
pub(crate) fn keep(path: &Path, secret: &str) {
    let aside = path.with_extension("new");
    std::fs::write(&aside, secret).unwrap();
    std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::rename(&aside, path).unwrap();
}

/// Every file below `folder` that holds one of the secrets.
pub(crate) fn holding(folder: &Path, secrets: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(holding(&entry.path(), secrets));
        } else if let Ok(bytes) = std::fs::read(entry.path()) {
            let has = |secret: &&str| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            if secrets.iter().any(has) {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

fn structured(result: &v1::ToolResult) -> Value {
    serde_json::from_slice(&clients::payload_bytes(result.structured_content.as_ref())).unwrap()
}

#[tokio::test]
async fn a_credential_reaches_the_api_and_nothing_else() {
    let (secrets, api) = (tempfile::tempdir().unwrap(), api().await);
    let file = secrets.path().join("pets");
    keep(&file, SECRET);
    let config = |more: &str| {
        format!(
            "[log]\nfilter = \"debug\"\n\n[executor.http]\nallow = [\"{api}\"]\n\n[[permission.rules]]\nbehavior = \"allow\"\n\
             tool = \"*\"\nfacts = [\"read_only\"]\n\n[[credentials]]\nname = \"pets\"\nkind = \"api_key\"\n\
             source = {{ file = \"{}\" }}\ntools = [\"pets.lookup\", \"pets.other\"]\ntenants = [\"default\"]\n{more}",
            file.display()
        )
    };
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(config("")).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let mut bed = Bed::with(options.env("TOOLPLANE__TELEMETRY__CAPTURE_CONTENT", "true")).await;
    let tools = vec![lookup(api, "lookup", "pets"), lookup(api, "foreign", "pets"), lookup(api, "other", "later")];
    register(&bed.clients, tools).await;
    bed.surface_id = surface(&bed.clients).await;

    let agent = AgentTrace::start();
    let spec = bed.spec("pets.lookup", r#"{"id":"a b"}"#);
    let request = agent.request(v1::SubmitInvocationRequest { spec: Some(spec) });
    let call = bed.clients.invocations().submit_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    let (events, result) = bed.replay(&call.invocation_id, 1).await;
    assert!(!result.is_error, "{:?}", result.error);
    let answer = structured(&result);
    assert_eq!((&answer["which"], &answer["asked"]), (&json!("the first"), &json!("GET /v1/pets/a%20b HTTP/1.1")));
    assert!(text(&result).contains("[credential pets]"), "{}", text(&result));

    // Rotated without a restart; another tool of the same key, and a key that is not there, ask for nothing.
    keep(&file, ROTATED);
    let rotated = bed.call("pets.lookup", r#"{"id":"b"}"#).await;
    assert_eq!(structured(&rotated)["which"], "the second");
    for (tool, code) in [("pets.foreign", "credential.out_of_scope"), ("pets.other", "credential.missing")] {
        let refused = bed.call(tool, r#"{"id":"c"}"#).await;
        assert_eq!(refused.error.unwrap().error_code, code);
    }
    // A credential is added to the configuration of the running worker.
    let other = secrets.path().join("later");
    keep(&other, "another-secret");
    let later = "\n[[credentials]]\nname = \"later\"\nkind = \"api_key\"\ntools = [\"*\"]\n";
    let later = format!("{later}source = {{ file = \"{}\" }}\n", other.display());
    std::fs::write(bed.cluster.folder().join("toolplane.toml"), config(&later)).unwrap();
    let start = std::time::Instant::now();
    while bed.call("pets.other", r#"{"id":"d"}"#).await.is_error {
        assert!(start.elapsed() < PATIENCE, "the configuration is not read again");
        toolplane_wait::look_again().await;
    }

    let shell = Shell::at(bed.cluster.endpoint());
    let id = &call.invocation_id;
    let trace = receiver.wait_for(agent.trace_id(), PATIENCE, |trace| !trace.named("execute_tool").is_empty()).await;
    let file = bed.cluster.folder().join("toolplane.toml").display().to_string();
    let seen = [
        ("events", context(&events)),
        ("the result", format!("{result:?} {rotated:?}")),
        ("the record", shell.says(0, &["-o", "json", "get", id, "--inputs"])),
        ("events at the command line", shell.says(0, &["-o", "json", "watch", id])),
        ("decisions", shell.says(0, &["-o", "json", "get", "decision", id])),
        ("the tool", shell.says(0, &["-o", "json", "tools", "show", "pets.lookup"])),
        ("workers", shell.says(0, &["-o", "json", "workers"])),
        ("spans", format!("{:?}", trace.unwrap())),
        ("credentials", shell.says(0, &["credentials", "ls", "--config", &file])),
        ("credentials as JSON", shell.says(0, &["-o", "json", "credentials", "ls", "--config", &file])),
        ("the test of one", shell.says(0, &["credentials", "test", "pets", "--config", &file])),
    ];
    for (what, text) in &seen {
        assert!(!text.contains(SECRET) && !text.contains(ROTATED), "the secret is in {what}: {text}");
    }
    let listed = &seen[8].1;
    assert!(listed.contains("api_key") && listed.contains("tool pets.lookup,pets.other; tenant default"), "{listed}");
    assert!(!listed.contains(&secrets.path().display().to_string()), "no path: {listed}");
    bed.cluster.stop().await.unwrap();
    let found = holding(bed.cluster.folder(), &[SECRET, ROTATED]);
    assert_eq!(found, Vec::<String>::new(), "store, log, objects, journal, configuration");
}
