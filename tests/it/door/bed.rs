//! A cluster with a front door and the tools that clients are tried with, and the smallest client there is.

use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use toolplane_testkit::process::Process;
use toolplane_testkit::tools::registration;
use toolplane_testkit::{Cluster, Options, binary, ports};

use crate::bed::{PATIENCE, register};

const FIXTURE: &str = include_str!("fixture.py");

pub(crate) const RULES: &str = r#"
[executor]
slots = 32

[[permission.rules]]
behavior = "allow"
tool = "conf.*"
reason = "the server is a small one"
"#;

/// The names of the tools of the fixture, and the schemas of those that have one.
fn tools() -> Vec<(String, Value)> {
    let program =
        format!("{}\nprint(json.dumps(listed()))", FIXTURE.split("for line in sys.stdin").next().unwrap_or_default());
    let said = Command::new("python3").args(["-c", &program]).output().unwrap();
    let listed: Value = serde_json::from_slice(&said.stdout).unwrap();
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["inputSchema"].clone())).collect()
}

pub(crate) fn declared(tool: &str, schema: &Value) -> Value {
    // Programs that ask or wait have a session of their own, so that what they ask is surely about their one call.
    let alone =
        ["elicit", "confirm", "tampered", "request_state", "wait", "slow"].iter().any(|part| tool.contains(part));
    let id = format!("tool_conf_{tool}");
    json!({
        "declaration": {
            "tool_id": id, "namespace": "conf", "name": tool, "title": tool, "description": format!("Fixture {tool}"),
            "lifecycle": "available", "tool_kind": "mcp_tool", "input_contract": { "model_input_schema": schema },
        },
        "interface": {
            "interface_id": format!("iface_{tool}"), "tool_id": id, "is_read_only": true, "is_concurrency_safe": true,
            "is_destructive": false, "is_open_world": false, "is_idempotent": true, "interrupt_behavior": "cancel",
        },
        "execution_profile": {
            "execution_profile_id": format!("exec_{tool}"), "execution_kind": "mcp_server", "supports_progress": true,
            "supports_cancel": true, "sandboxed": true, "timeout_ms": 60_000,
            "binding": {
                "type": "mcp", "provider_id": "conf", "tool": tool, "sharing": if alone { "call" } else { "tenant" },
                "server": { "transport": "stdio", "argv": ["/usr/bin/python3", "-c", FIXTURE] },
            },
        },
        "permission_profile": { "permission_profile_id": format!("perm_{tool}"), "risk_level": "low" },
    })
}

/// A cluster with a front door, and more doors to it in processes of their own.
pub(crate) struct Doors {
    pub(crate) cluster: Cluster,
    pub(crate) url: String,
}

impl Doors {
    /// A cluster with these rules, whose door has these settings.
    pub(crate) async fn open(rules: &str, mcp: &str) -> Self {
        Self::with(rules, mcp, None).await
    }

    pub(crate) async fn with(rules: &str, mcp: &str, token: Option<&str>) -> Self {
        let mut options = Self::options(rules, mcp);
        options.token = token.map(str::to_owned);
        Self::of(options).await
    }

    /// What a cluster with these rules is started with, whose door has these settings.
    pub(crate) fn options(rules: &str, mcp: &str) -> Options {
        Options::new(format!("{rules}\n[gateway]\nlisten = \"127.0.0.1:0\"\n[mcp]\n{mcp}\n"))
    }

    pub(crate) async fn of(options: Options) -> Self {
        let cluster = Cluster::start(options).await.unwrap();
        let all =
            tools().iter().map(|(name, schema)| registration(&declared(name, schema).to_string()).unwrap()).collect();
        register(cluster.clients(), all).await;
        let log = std::fs::read_to_string(cluster.log_file()).unwrap();
        let address =
            log.lines().find_map(|line| line.strip_prefix("http on ")).unwrap_or_else(|| panic!("no door: {log}"));
        let url = format!("http://{address}/mcp");
        Self { cluster, url }
    }

    /// One more door, in a process of its own.
    pub(crate) async fn another(&self, name: &str, mcp: &str) -> (Process, String) {
        let (port, own) = (ports::free(), ports::free());
        let endpoint = self.cluster.endpoint();
        let file = self.cluster.folder().join(format!("{name}.toml"));
        let config = format!(
            "[server]\nlisten = \"127.0.0.1:{own}\"\n[peers]\nsurface = {endpoint:?}\npermission = {endpoint:?}\n\
             scheduler = {endpoint:?}\n[gateway]\nlisten = \"127.0.0.1:{port}\"\n[mcp]\n{mcp}\n"
        );
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new(binary::toolplane().unwrap());
        command.args(["serve", "--role", "gateway", "--config"]).arg(&file);
        command.env("TOOLPLANE__SERVER__DATA_DIR", self.cluster.folder().join(name));
        let log = self.cluster.folder().join(format!("{name}.log"));
        let mut process = Process::start(name, &mut command, &log).unwrap();
        let start = Instant::now();
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            process.expect_running().unwrap();
            assert!(start.elapsed() < PATIENCE, "the door does not open: {}", process.log());
            toolplane_wait::look_again().await;
        }
        (process, format!("http://127.0.0.1:{port}/mcp"))
    }
}

/// The smallest client of MCP: it says what it is told to say, and reads what comes.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    headers: Vec<(String, String)>,
}

/// What came as the answer of a request, message by message.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    response: reqwest::Response,
    read: String,
    /// The id of the last event that had one.
    pub(crate) last_event: Option<String>,
}

impl Client {
    pub(crate) fn new() -> Self {
        let http = reqwest::Client::builder().timeout(PATIENCE).build().unwrap();
        let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { http, headers: headers.to_vec() }
    }

    /// The same with a header more.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A client in a session of 2025-11-25 that can show forms.
    pub(crate) async fn begin(self, url: &str) -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer =
            self.post(url, &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
        self.header("mcp-session-id", &session)
    }

    /// The id of the session it is in.
    pub(crate) fn session(&self) -> Option<String> {
        self.headers.iter().find(|(name, _)| name == "mcp-session-id").map(|(_, value)| value.clone())
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let request = self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Answer { status, headers, response, read: String::new(), last_event: None }
    }

    pub(crate) async fn post(&self, url: &str, message: &Value) -> Answer {
        self.send(self.http.post(url).body(message.to_string())).await
    }

    pub(crate) async fn get(&self, url: &str) -> Answer {
        self.send(self.http.get(url)).await
    }

    pub(crate) async fn delete(&self, url: &str) -> Answer {
        self.send(self.http.delete(url)).await
    }

    /// Calls a tool within a session.
    pub(crate) async fn call(&self, url: &str, id: i64, tool: &str, arguments: Value) -> Answer {
        let params = json!({ "name": tool, "arguments": arguments });
        self.post(url, &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).await
    }

    /// Asks by the version without sessions, as a client that can do this.
    pub(crate) async fn ask(&self, url: &str, method: &str, mut params: Value, can: Value) -> Answer {
        let name = [&params["name"], &params["taskId"], &params["uri"]].into_iter().find_map(Value::as_str);
        let named = name.map(str::to_owned);
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": can,
        });
        let client = self.clone().header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
        let client = named.map_or(client.clone(), |name| client.header("mcp-name", &name));
        client.post(url, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await
    }
}

impl Answer {
    /// The next message; nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let events = self.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        loop {
            while let Some((event, rest)) = self.read.split_once("\n\n").filter(|_| events) {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.read = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                self.last_event = field("id: ").or(self.last_event.take());
                if let Some(data) = field("data: ").filter(|data| !data.is_empty()) {
                    return Some(serde_json::from_str(&data).unwrap());
                }
            }
            match self.response.chunk().await.ok().flatten() {
                Some(chunk) => self.read.push_str(std::str::from_utf8(&chunk).unwrap()),
                None if events || self.read.is_empty() => return None,
                None => return serde_json::from_str(&std::mem::take(&mut self.read)).ok(),
            }
        }
    }

    /// Reads to the end, which has to be a proper one, and without an answer: its client goes on elsewhere.
    pub(crate) async fn ends_unanswered(mut self) {
        while let Some(chunk) = self.response.chunk().await.unwrap() {
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        let answered = ["\"result\":", "\"error\":"].iter().any(|member| self.read.contains(member));
        assert!(!answered, "{}", self.read);
    }

    /// Reads on to the id of an event, so that the stream can be gone on with elsewhere.
    pub(crate) async fn until_event(&mut self) -> String {
        while self.last_event.is_none() {
            let chunk = self.response.chunk().await.unwrap().expect("an event");
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
            let id = self.read.lines().find_map(|line| line.strip_prefix("id: ")).map(str::to_owned);
            self.last_event = id.filter(|_| self.read.contains("\n\n"));
        }
        self.last_event.clone().unwrap()
    }

    /// The last message: the answer itself.
    pub(crate) async fn last(mut self) -> Value {
        let mut last = Value::Null;
        while let Some(message) = self.next().await {
            last = message;
        }
        last
    }
}

/// The text of a result.
pub(crate) fn text(message: &Value) -> String {
    let contents = message["result"]["content"].as_array().unwrap_or_else(|| panic!("no contents: {message}"));
    contents.iter().filter_map(|content| content["text"].as_str()).collect()
}

/// What is readable in something sealed.
pub(crate) fn unsealed(sealed: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(sealed).unwrap()[16..]).unwrap()
}

/// A pause that a test needs between two looks at something that has no event.
pub(crate) async fn again(start: Instant, what: &str) {
    assert!(start.elapsed() < Duration::from_secs(60), "{what}");
    toolplane_wait::look_again().await;
}
