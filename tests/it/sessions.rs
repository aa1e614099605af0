//! A thousand MCP sessions over two processes of the gateway, one of which is killed: no session notices more than a retry.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use toolplane_proto::v1;
use toolplane_testkit::process::Process;
use toolplane_testkit::{Cluster, Options, binary, ports, tools};

use crate::bed::{PATIENCE, register};

const SESSIONS: usize = 1_000;
const CALLS: usize = 2;
/// Sessions that are open at a time.
const AT_ONCE: usize = 64;
/// How many sessions have ended when a process is killed.
const KILLED_AFTER: usize = SESSIONS / 3;

const CONFIG: &str = r#"
[[permission.rules]]
behavior = "allow"
tool = "native.echo"
reason = "made for this"
"#;

/// The processes that answer MCP; a request goes to any of them.
struct Doors {
    client: reqwest::Client,
    urls: [String; 2],
    next: AtomicUsize,
    retries: AtomicUsize,
}

/// What came back: the answer's `mcp-session-id`, and its JSON.
type Answer = (Option<String>, Value);

impl Doors {
    /// One request to any process, and once more to the other one when the first cannot be reached or breaks off.
    async fn post(&self, session: Option<&str>, body: &Value) -> Answer {
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        if let Ok(answer) = self.ask(first, session, body).await {
            return answer;
        }
        self.retries.fetch_add(1, Ordering::Relaxed);
        self.ask(first + 1, session, body).await.expect("one of them lives")
    }

    async fn ask(&self, which: usize, session: Option<&str>, body: &Value) -> Result<Answer, reqwest::Error> {
        let mut request = self.client.post(&self.urls[which % 2]).header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(session) = session {
            request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
        }
        let answer = request.body(body.to_string()).timeout(PATIENCE).send().await?;
        assert!(answer.status().is_success(), "{body} is answered with {}", answer.status());
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (id, streamed) = (header("mcp-session-id"), header("content-type"));
        let text = answer.text().await?;
        let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let messages: Vec<Value> = match streamed.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            true => events.filter_map(|data| serde_json::from_str(data).ok()).collect(),
            false => serde_json::from_str(&text).into_iter().collect(),
        };
        let own = messages.into_iter().find(|message| message["id"] == body["id"]);
        Ok((id, own.unwrap_or(Value::Null)))
    }
}

/// One session, from `initialize` to its last call.
async fn session(doors: &Doors, number: usize) {
    let client = json!({ "name": "crowd", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let (id, answer) = doors.post(None, &begin).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    let id = id.expect("a session has an id");
    doors.post(Some(&id), &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let (_, answer) = doors.post(Some(&id), &list).await;
    let tools = answer["result"]["tools"].as_array().expect("a list of tools");
    assert!(tools.iter().any(|tool| tool["name"] == "native__echo"), "{answer}");
    for call in 0..CALLS {
        let said = json!({ "session": number, "call": call });
        let params = json!({ "name": "native__echo", "arguments": said });
        let request = json!({ "jsonrpc": "2.0", "id": 2 + call, "method": "tools/call", "params": params });
        let (_, answer) = doors.post(Some(&id), &request).await;
        assert_eq!(answer["result"]["structuredContent"], said, "{answer}");
    }
}

/// A process that only answers HTTP, for the cluster at `endpoint`.
fn gateway(cluster: &Cluster, number: usize) -> (Process, String) {
    let (port, endpoint) = (ports::free(), cluster.endpoint());
    let config = format!(
        "[server]\ndata_dir = {:?}\n[peers]\nsurface = {endpoint:?}\npermission = {endpoint:?}\nscheduler = {endpoint:?}\n\
         [gateway]\nlisten = \"127.0.0.1:{port}\"\n[mcp]\n",
        cluster.folder().join(format!("gateway-{number}")),
    );
    let file = cluster.folder().join(format!("gateway-{number}.toml"));
    std::fs::write(&file, config).unwrap();
    let mut command = Command::new(binary::toolplane().unwrap());
    command.args(["serve", "--role", "gateway", "--config"]).arg(&file);
    let log = cluster.folder().join(format!("gateway-{number}.log"));
    (Process::start("a gateway", &mut command, &log).unwrap(), format!("http://127.0.0.1:{port}/mcp"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_sessions_survive_one_of_two_processes() {
    let cluster = Cluster::start(Options::new(CONFIG)).await.unwrap();
    let echo = tools::examples()
        .unwrap()
        .into_iter()
        .filter(|tool| tool.declaration.as_ref().is_some_and(|declaration| declaration.name == "native.echo"));
    register(cluster.clients(), echo.collect()).await;
    let ((mut first, one), (mut second, two)) = (gateway(&cluster, 0), gateway(&cluster, 1));
    let client = reqwest::Client::new();
    let (next, retries) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let doors = Arc::new(Doors { client, urls: [one, two], next, retries });
    for (url, process) in doors.urls.iter().zip([&mut first, &mut second]) {
        while doors.client.get(url).send().await.is_err() {
            process.expect_running().unwrap();
            toolplane_wait::look_again().await;
        }
    }

    let (ended, places) = (watch::Sender::new(0_usize), Arc::new(Semaphore::new(AT_ONCE)));
    let mut news = ended.subscribe();
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (doors, places, ended) = (doors.clone(), places.clone(), ended.clone());
            tokio::spawn(async move {
                let _place = places.acquire_owned().await.unwrap();
                session(&doors, number).await;
                ended.send_modify(|ended| *ended += 1);
            })
        })
        .collect();
    let in_time = tokio::time::timeout(3 * PATIENCE, news.wait_for(|ended| *ended >= KILLED_AFTER)).await.is_ok();
    assert!(in_time, "{} sessions have ended\n{}", *ended.borrow(), first.log_tail());
    first.kill();
    for session in sessions {
        tokio::time::timeout(5 * PATIENCE, session).await.expect("no session waits for ever").unwrap();
    }
    assert!(doors.retries.load(Ordering::Relaxed) > 0, "nobody noticed the kill: it came too late");
    assert_eq!(
        calls(&cluster).await,
        SESSIONS * CALLS,
        "each call was made once, also where its request was sent again"
    );
}

/// How many calls there were.
async fn calls(cluster: &Cluster) -> usize {
    let mut request = v1::ListInvocationsRequest { page_size: 1_000, ..Default::default() };
    let mut count = 0;
    loop {
        let page = cluster.clients().invocations().list_invocations(request.clone()).await.unwrap().into_inner();
        count += page.invocations.len();
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return count;
        }
    }
}
