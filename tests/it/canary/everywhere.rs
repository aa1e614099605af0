//! A secret for each way one gets in, looked for in each place things get out, after one cluster has seen them all.
//!
//! What callers send is kept for the tool that runs, by promise: those places are in the table with a word, and are not looked through.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::{Cluster, Options, ports, tools};

use super::{Listening, document, spelled};
use crate::bed::{PATIENCE, register};
use crate::credentials::{api, keep};
use crate::http::Http;
use crate::providers::SERVER;
use crate::roles::callers::new_key;
use crate::shell::Shell;

/// What every secret has somewhere in it: how far one is kept or shown in part.
const CORE: usize = 12;

/// Tokens of the right form that nobody was ever given.
const ARGUMENT: &str = "ghp_u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8d";
const RESULT: &str = "ghp_KLzdocJ2isAjIhKtJ0RlgLKOmxgJTeKdNnFR";
/// No part of it is in the command.
const RESULT_SAYS: &str = "printf 'tuc_XYmqbpW2vfNwVuXgW0EytYXBzktWGrXqAaSE' | tr 'A-Za-z' 'N-ZA-Mn-za-m'";
const FILE: &str = "ghp_IBXuDL7DxtpYlSXpfKtHF4vUCsMehGAkWvj7";
/// What workers put in: known by their exact bytes, whatever they look like.
const ENVIRONMENT: &str = "canary-environment/7c+44";
const HEADER: &str = "canary-header/9d+55";
const BEARER: &str = "canary-bearer/3e+66";

/// What is looked through, and what was found there.
struct Sink {
    name: &'static str,
    texts: Vec<Vec<u8>>,
}

/// Where a secret came in.
struct Source {
    name: &'static str,
    secret: String,
    /// Where it is kept by promise.
    kept: &'static [&'static str],
}

struct World {
    cluster: Cluster,
    shell: Shell,
    http: Http,
    receiver: OtlpReceiver,
    metrics: String,
    key: String,
    folder: tempfile::TempDir,
    _web: Listening,
}

fn config(folder: &Path, keys: &Path, places: &[String; 2]) -> String {
    let file = |name: &str| format!("{{ file = {:?} }}", folder.join(name).display().to_string());
    let [http, mcp] = places;
    format!(
        "[log]\nfilter = \"debug\"\n\n[permission]\nallow_self_approval = true\n\n[server.auth]\napi_key_file = {:?}\n\n[executor.http]\nallow = [\"{http}\"]\n\n\
         [executor.mcp]\nallow = [\"{mcp}\", \"{http}\"]\n\n\
         [[permission.rules]]\nbehavior = \"ask\"\ntool = \"native.echo\"\nreason = \"looked at\"\n\n\
         [[permission.rules]]\nbehavior = \"allow\"\ntool = \"*\"\nreason = \"all is known here\"\n\n\
         [[credentials]]\nname = \"small-key\"\nkind = \"api_key\"\nsource = {{ env = \"CANARY_OF_WORKERS\" }}\n\
         providers = [\"small\"]\n\n[[credentials]]\nname = \"pets-key\"\nkind = \"api_key\"\nsource = {}\n\
         providers = [\"pets\"]\n\n[[credentials]]\nname = \"web-key\"\nkind = \"bearer\"\nsource = {}\nproviders = [\"web\"]\n",
        keys.display().to_string(),
        file("pets"),
        file("web"),
    )
}

impl World {
    async fn start() -> Self {
        let (folder, api, web) = (tempfile::tempdir().unwrap(), api().await, Listening::start());
        keep(&folder.path().join("pets"), HEADER);
        keep(&folder.path().join("web"), BEARER);
        let keys = folder.path().join("keys.toml");
        let key = new_key(&keys, "canary", "default", &["agent", "approver", "operator", "auditor"]);
        let receiver = OtlpReceiver::start().await.unwrap();
        let metrics = format!("127.0.0.1:{}", ports::free());
        let config = config(folder.path(), &keys, &[api.to_string(), format!("127.0.0.1:{}", web.1)]);
        let options = Options::new(config)
            .http()
            .token(&key)
            .env("CANARY_OF_WORKERS", ENVIRONMENT)
            .env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint())
            .env("TOOLPLANE__TELEMETRY__METRICS_INTERVAL_MS", "200")
            .env("TOOLPLANE__TELEMETRY__METRICS_LISTEN", &metrics)
            .env("TOOLPLANE__TELEMETRY__CAPTURE_CONTENT", "true");
        let cluster = Cluster::start(options).await.unwrap();
        register(cluster.clients(), tools::examples().unwrap()).await;
        let workspace = cluster.workspace();
        std::fs::write(workspace.join("server.py"), SERVER).unwrap();
        let lines = "an ordinary line of a file\n".repeat(4_000);
        std::fs::write(workspace.join("large.txt"), format!("{lines}token {FILE}\n{lines}")).unwrap();
        std::fs::write(workspace.join("small.txt"), format!("token {FILE}\n")).unwrap();
        std::fs::write(folder.path().join("pets.json"), document(api).to_string()).unwrap();
        let shell = Shell::at(cluster.endpoint()).with(&key);
        let http = Http::of(&cluster.http().unwrap());
        Self { cluster, shell, http, receiver, metrics, key, folder, _web: web }
    }

    /// Has everything come in that there is a secret for; what the command line said, and the calls that were made.
    async fn happen(&self) -> (Vec<String>, Vec<String>) {
        let web = format!("http://127.0.0.1:{}/mcp", self._web.1);
        let pets = self.folder.path().join("pets.json").display().to_string();
        let add = |name: &str, more: &[&str]| {
            self.shell.says(0, &[&["providers", "add", name, "--trust", "all"][..], more].concat())
        };
        let program = ["--stdio", "--workspace", "read", "--", "/usr/bin/python3", "/workspace/server.py"];
        let mut shown = vec![
            add("small", &[&["--credential", "env:TOKEN=small-key"][..], &program].concat()),
            add("web", &["--credential", "authorization=web-key", "--mcp", &web]),
            add("pets", &["--credential", "scheme:key=pets-key", "--openapi", &pets]),
        ];
        let said = |command: &str| json!({ "command": format!("t=$({RESULT_SAYS}); {command}") }).to_string();
        let printed = said("echo \"out $t\"; echo \"err $t\" >&2; env");
        let large = said("seq 1 60000; echo \"in the middle: $t\"; seq 1 60000");
        let failed = said("echo \"failed $t\" >&2; exit 3");
        let calls = [
            ("small.leak", r#"{"pad":100000}"#, 0),
            ("web.leak", "{}", 0),
            ("pets.get_pets", "{}", 0),
            ("local.shell.exec", &printed, 0),
            ("local.shell.exec", &large, 0),
            ("local.shell.exec", &failed, 1),
            ("files.read_file", r#"{"path":"small.txt"}"#, 0),
            ("local.shell.exec", r#"{"command":"cat large.txt"}"#, 0),
        ];
        let mut ids = Vec::new();
        for (tool, input, code) in calls {
            let result = self.shell.json(code, &["invoke", tool, "--session", "canary", "-i", input]);
            ids.push(result["invocation_id"].as_str().unwrap().to_owned());
            shown.push(result.to_string());
        }
        // What a caller sends: asked about, and answered by a person. Once over HTTP with a key in a header of its own.
        let asked = json!({ "n": format!("an echo of {ARGUMENT}") });
        let body = json!({ "spec": { "tool_name": "native.echo", "model_input": asked } });
        let request = self.http.request("submit-invocation").header("x-api-key", &self.key).body(body.to_string());
        let waiting: Value = serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap();
        let waiting = &waiting["invocation"];
        let approval = waiting["approval_request_ref"].as_str().unwrap_or_else(|| panic!("{waiting}"));
        shown.extend([
            self.shell.says(0, &["approvals", "show", approval]),
            self.shell.says(0, &["-o", "json", "approvals", "ls"]),
            self.shell.says(0, &["approvals", "approve", approval]),
        ]);
        let id = waiting["invocation_id"].as_str().unwrap().to_owned();
        shown.push(self.shell.says(0, &["watch", &id]));
        ids.push(id);
        // A key that is none, and one where none belongs, are in no log.
        for wrong in [format!("{}x", self.key), format!("Basic {HEADER}")] {
            let refused =
                self.http.request("list-invocations").header("authorization", &wrong).header("cookie", HEADER);
            let status = refused.header("x-api-key", &wrong).body("{}").send().await.unwrap().status().as_u16();
            assert_eq!(status, 401);
        }
        (shown, ids)
    }

    /// What each of the places has of it.
    async fn sinks(&mut self) -> Vec<Sink> {
        let (cli, ids) = self.happen().await;
        let http = self.http.with(&self.key);
        let (mut records, mut events, mut previews, mut shown) = (Vec::new(), Vec::new(), Vec::new(), cli);
        for id in &ids {
            let of = json!({ "invocation_id": id });
            records.push(
                http.good("get-invocation", json!({ "invocation_id": id, "include_trail": true })).await.to_string(),
            );
            for method in ["get-result", "list-decisions", "list-mutations", "get-persistence"] {
                records.push(http.good(method, of.clone()).await.to_string());
            }
            let result: Value = http.good("get-result", json!({ "invocation_id": id })).await;
            previews.push(texts(&result["result"]));
            events.push(http.text("watch-invocation", &json!({ "invocation_id": id, "from_seq": 1 })).await.1);
            let said = |arguments: &[&str]| {
                let out = self.shell.run(arguments);
                [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
            };
            shown.extend([said(&["get", "invocation", id]), said(&["explain", id]), said(&["watch", id])]);
            shown.extend([said(&["-o", "json", "watch", id]), said(&["fetch", id]), said(&["get", "result", id])]);
        }
        for method in ["list-invocations", "list-workers", "list-providers", "list-approvals", "list-tools"] {
            records.push(http.good(method, json!({})).await.to_string());
        }
        let export = self.export();
        let page = reqwest::get(format!("http://{}/metrics", self.metrics)).await.unwrap().text().await.unwrap();
        let counted = self.receiver.metrics_of("toolplane", PATIENCE, |metrics| !metrics.is_empty()).await;
        let metrics = vec![page, format!("{:?}", counted.unwrap())];
        self.cluster.stop().await.unwrap();
        let spans = self.receiver.spans().iter().map(|span| format!("{span:?}")).collect();
        let data = self.cluster.data_dir();
        let objects = files(&data.join("objects"), &[]);
        let stored = files(&data, &[data.join("objects"), data.join("workspace")]);
        let log = vec![std::fs::read(self.cluster.log_file()).unwrap()];
        let of = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect();
        let sinks: [(&'static str, Vec<Vec<u8>>); 10] = [
            ("records", of(records)),
            ("events", of(events)),
            ("log", log),
            ("spans", of(spans)),
            ("metrics", of(metrics)),
            ("previews", of(previews)),
            ("objects", objects),
            ("export", of(vec![export])),
            ("command line", of(shown)),
            ("store", stored),
        ];
        sinks.map(|(name, texts)| Sink { name, texts }).into()
    }

    /// What an auditor takes away.
    fn export(&self) -> String {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        self.shell.says(0, &["keys", "signing", "--file", &at("audit.key")]);
        let file = at("calls.jsonl");
        self.shell
            .complains(0, &["export", "--key", &at("audit.key"), "--file", &file, "--to", "2100-01-01T00:00:00Z"]);
        std::fs::read_to_string(file).unwrap()
    }
}

/// Every text that a result shows.
fn texts(result: &Value) -> String {
    let blocks = |name: &str| result[name].as_array().cloned().unwrap_or_default();
    let all = [blocks("content"), blocks("model_facing_content")].concat();
    let summary = [result["ui_facing_summary"].to_string(), result["summary"].to_string()];
    all.iter().map(ToString::to_string).chain(summary).collect()
}

/// Every file below `folder`, but for what is below one of `without`.
fn files(folder: &Path, without: &[PathBuf]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true if without.contains(&path) => {}
            true => found.extend(files(&path, without)),
            false => found.extend(std::fs::read(&path).ok()),
        }
    }
    found
}

/// A piece of each end: a secret that is cut leaves one of them.
fn parts(secret: &str) -> [String; 2] {
    [secret[4..4 + CORE].to_owned(), secret[secret.len() - CORE..].to_owned()]
}

/// In how many texts a secret is, in any way it may be written, whole or in part.
fn holding(sink: &Sink, secret: &str) -> usize {
    let mut wanted = parts(secret).to_vec();
    wanted.extend(spelled(secret));
    let finders: Vec<_> = wanted.iter().map(|text| memchr::memmem::Finder::new(text.as_bytes()).into_owned()).collect();
    sink.texts.iter().filter(|text| finders.iter().any(|finder| finder.find(text).is_some())).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_gets_out_anywhere_whichever_way_it_got_in() {
    let mut world = World::start().await;
    let key = world.key.clone();
    let sinks = world.sinks().await;
    let source = |name, secret: &str, kept| Source { name, secret: secret.to_owned(), kept };
    let sources = [
        source("arguments", ARGUMENT, &["store"]),
        source("environment", ENVIRONMENT, &[]),
        source("headers of tools", HEADER, &[]),
        source("bearer of tools", BEARER, &[]),
        source("headers of callers", &key, &[]),
        source("results", RESULT, &[]),
        source("files and objects", FILE, &[]),
    ];
    let mut leaks = Vec::new();
    print!("{:20}", "");
    sinks.iter().for_each(|sink| print!("{:>14}", sink.name));
    println!("\n{:20}{}", "texts", sinks.iter().map(|sink| format!("{:>14}", sink.texts.len())).collect::<String>());
    for source in &sources {
        print!("{:20}", source.name);
        for sink in &sinks {
            let found = holding(sink, &source.secret);
            if source.kept.contains(&sink.name) {
                print!("{:>14}", if found > 0 { "kept" } else { "?" });
                continue;
            }
            print!("{found:>14}");
            let shows = || {
                let texts = sink.texts.iter().map(|text| String::from_utf8_lossy(text).into_owned());
                let parts = parts(&source.secret);
                let at = |text: String| parts.iter().find_map(|part| text.find(part)).map(|at| around(&text, at));
                texts.filter_map(at).take(2).collect::<Vec<_>>()
            };
            if found > 0 {
                leaks.push((source.name, sink.name, shows()));
            }
        }
        println!();
    }
    assert!(sinks.iter().all(|sink| sink.texts.iter().any(|text| text.len() > 40)), "every place is looked through");
    assert_eq!(leaks, Vec::new());
}

/// What stands around a place in a text.
fn around(text: &str, at: usize) -> String {
    let begin = text[..at].char_indices().rev().take(300).last().map_or(at, |(place, _)| place);
    text[begin..].chars().take(400).collect()
}
