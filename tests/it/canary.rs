//! A secret for each kind of provider, told by its server in every way it can, and looked for in everything that is kept or shown.

mod everywhere;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::{Cluster, Options};
use toolplane_wait::eventually;

use crate::bed::PATIENCE;
use crate::credentials::{api, holding, keep};
use crate::providers::SERVER;
use crate::shell::Shell;

/// A secret for each provider, with what has to be spelled otherwise in an address.
const SECRETS: [(&str, &str); 5] = [
    ("small", "canary-stdio/8a+31"),
    ("filed", "canary-file/4b+93"),
    ("proxied", "canary-proxy/6e+12"),
    ("web", "canary-http/5d+07"),
    ("pets", "canary-api/2c+94"),
];

/// The small server over HTTP. It ends with its input, and so with the test.
struct Listening(Child, u16);

impl Listening {
    fn start() -> Self {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", SERVER, "--http", "127.0.0.1"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, line.trim().parse().unwrap())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A secret in every way in which it may be written.
fn spelled(secret: &str) -> [String; 5] {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let coded = secret.replace('/', "%2F").replace('+', "%2B");
    let base64 = base64::engine::general_purpose::STANDARD.encode(secret);
    [secret.to_owned(), hex.to_uppercase(), hex, coded, base64]
}

fn document(api: std::net::SocketAddr) -> Value {
    json!({
        "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "servers": [{ "url": format!("http://{api}") }],
        "security": [{ "key": [] }],
        "paths": { "/pets": { "get": { "responses": { "200": { "description": "them" } } } } },
        "components": { "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "x-key" } } },
    })
}

fn config(folder: &std::path::Path, places: [String; 2]) -> String {
    let credentials = SECRETS.map(|(name, _)| {
        let (kind, file) = (if name == "web" { "bearer" } else { "api_key" }, folder.join(name));
        let source = format!("source = {{ file = \"{}\" }}", file.display());
        format!("[[credentials]]\nname = \"{name}-key\"\nkind = \"{kind}\"\n{source}\nproviders = [\"{name}\"]\n")
    });
    let [http, mcp] = places;
    let reached = format!("\"{mcp}\", \"{http}\"");
    format!(
        "[log]\nfilter = \"debug\"\n\n[executor.http]\nallow = [\"{http}\"]\n\n[executor.mcp]\nallow = [{reached}]\n\n\
         [[permission.rules]]\nbehavior = \"allow\"\ntool = \"*\"\nreason = \"all is known here\"\n\n{}",
        credentials.join("\n")
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_of_any_provider_is_kept_or_shown_anywhere() {
    let (secrets, api, web) = (tempfile::tempdir().unwrap(), api().await, Listening::start());
    SECRETS.iter().for_each(|(name, secret)| keep(&secrets.path().join(name), secret));
    let config = config(secrets.path(), [api.to_string(), format!("127.0.0.1:{}", web.1)]);
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(config).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let mut cluster = Cluster::start(options.env("TOOLPLANE__TELEMETRY__CAPTURE_CONTENT", "true")).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    std::fs::write(cluster.workspace().join("server.py"), SERVER).unwrap();
    let file = secrets.path().join("pets.json");
    std::fs::write(&file, document(api).to_string()).unwrap();
    let add =
        |name: &str, more: &[&str]| shell.says(0, &[&["providers", "add", name, "--trust", "all"][..], more].concat());
    let program = ["--", "/usr/bin/python3", "/workspace/server.py"];
    let of_small = ["--credential", "env:TOKEN=small-key", "--stdio", "--workspace", "read"];
    let of_filed = ["--credential", "file:token=filed-key", "--stdio", "--workspace", "read"];
    let (host, port) = (api.ip().to_string(), api.port().to_string());
    let put_in = format!("proxy:{host},x-key=proxied-key");
    let reach = ["--credential", &put_in, "--host", &host, "--port", &port, "--stdio", "--workspace", "read"];
    let mut shown = vec![
        add("small", &[&of_small[..], &program].concat()),
        add("filed", &[&of_filed[..], &program].concat()),
        add("proxied", &[&reach[..], &program].concat()),
        add("web", &["--credential", "authorization=web-key", "--mcp", &format!("http://127.0.0.1:{}/mcp", web.1)]),
        add("pets", &["--credential", "scheme:key=pets-key", "--openapi", &file.display().to_string()]),
    ];
    let ask = json!({ "request": format!("GET http://{api}/ HTTP/1.1\r\n\r\n"), "forward": true }).to_string();
    let calls = [
        ("small.leak", "{}", 0),
        ("small.leak", r#"{"fails":true}"#, 1),
        ("small.leak", r#"{"pad":200000}"#, 0),
        ("filed.leak", "{}", 0),
        ("filed.leak", r#"{"pad":200000}"#, 0),
        ("proxied.get", &ask, 0),
        ("web.leak", "{}", 0),
        ("web.leak", r#"{"fails":true}"#, 1),
        ("pets.get_pets", "{}", 0),
    ];
    for (tool, input, code) in calls {
        let result = shell.json(code, &["invoke", tool, "-i", input]);
        let id = result["invocation_id"].as_str().unwrap();
        let said = result.to_string();
        assert!(said.contains("[credential "), "it was given the secret, which is masked: {said}");
        shown.extend([said, shell.says(code, &["watch", id]), shell.says(0, &["-o", "json", "get", id, "--inputs"])]);
        shown.extend([
            shell.says(code, &["-o", "json", "watch", id]),
            shell.says(0, &["-o", "json", "get", "decision", id]),
        ]);
    }
    // A provider whose server is refused, and one whose server dies, tell it neither.
    keep(&secrets.path().join("web"), "canary-http/5d+07-other");
    let died = shell.run(&["invoke", "small.die", "-i", "{}"]);
    shown.extend([
        String::from_utf8_lossy(&died.stdout).into_owned(),
        String::from_utf8_lossy(&died.stderr).into_owned(),
    ]);
    for (name, _) in SECRETS {
        shown.extend([
            shell.says(0, &["-o", "json", "providers", "show", name]),
            shell.says(0, &["providers", "test", name]),
        ]);
    }
    shown.extend([shell.says(0, &["-o", "json", "workers"]), shell.says(0, &["-o", "json", "providers", "ls"])]);

    hidden_while_it_is_missing(&shell, &secrets.path().join("small")).await;
    cluster.stop().await.unwrap();
    let spans = format!("{:?}", receiver.spans());
    assert!(spans.contains("small.leak"), "spans are looked through");
    for (_, secret) in SECRETS {
        for spelled in spelled(secret) {
            for text in shown.iter().chain([&spans]) {
                assert!(!text.contains(&spelled), "`{spelled}` is in {text}");
            }
            assert_eq!(holding(cluster.folder(), &[&spelled]), Vec::<String>::new(), "store, log, objects, journal");
        }
    }
}

/// Tools of a provider whose credential no worker has are hidden, and shown again when it is back.
async fn hidden_while_it_is_missing(shell: &Shell, secret: &std::path::Path) {
    let kept = std::fs::read_to_string(secret).unwrap();
    let surface = shell.json(0, &["surface", "create", "--load", "small.leak"]);
    let surface = surface["surface_id"].as_str().unwrap().to_owned();
    let show = || shell.json(0, &["surface", "show", &surface])["blocked_tools"].to_string();
    assert!(!show().contains("credential_missing"), "{}", show());
    std::fs::remove_file(secret).unwrap();
    let is_hidden = async || show().contains("credential_missing").then_some(());
    eventually("its tools are hidden", PATIENCE, is_hidden).await;
    let refused = shell.complains(1, &["invoke", "--surface", &surface, "small.leak", "-i", "{}"]);
    assert!(refused.contains("credential.missing"), "{refused}");
    assert!(show().contains("small.leak") && !show().contains("pets.get_pets"), "{}", show());
    keep(secret, &kept);
    let is_back = async || (!show().contains("credential_missing")).then_some(());
    eventually("they are shown again", PATIENCE, is_back).await;
    shell.says(0, &["invoke", "--surface", &surface, "small.leak", "-i", "{}"]);
}
