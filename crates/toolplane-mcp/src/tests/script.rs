//! A server that says what a test says.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_records::payload::JsonPayload;
use toolplane_wait::pause;

use crate::watch::{Progress, Question, Reply, Watch};
use crate::{Failure, Limits, Session, SessionOptions, StartError, ToolAnswer, ToolCall, TraceContext, Transport};

/// The server's end of a stream.
pub(crate) struct Script {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

/// A stream whose ends hold `bytes` that are not read yet.
pub(crate) fn pair(bytes: usize) -> (Transport, Script) {
    let (ours, theirs) = tokio::io::duplex(bytes);
    let (read, write) = tokio::io::split(ours);
    let (their_read, their_write) = tokio::io::split(theirs);
    let script = Script { lines: BufReader::new(their_read).lines(), write: their_write };
    (Transport::pipes(read, write), script)
}

impl Script {
    /// The next line of the client, as it was written.
    pub(crate) async fn line(&mut self) -> String {
        self.lines.next_line().await.unwrap().expect("the client says more")
    }

    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// The next message; nothing when the client has gone.
    pub(crate) async fn maybe_next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }

    /// The client has closed its end.
    pub(crate) async fn ended(&mut self) {
        assert_eq!(self.lines.next_line().await.unwrap(), None);
    }

    pub(crate) async fn raw(&mut self, text: &str) {
        // A client that has gone reads nothing.
        let _ = self.write.write_all(text.as_bytes()).await;
        let _ = self.write.write_all(b"\n").await;
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.raw(&message.to_string()).await;
    }

    /// The next message is a request of this method; its id.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        message["id"].clone()
    }

    pub(crate) async fn answer(&mut self, id: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    pub(crate) async fn refuse(&mut self, id: &Value, code: i64, data: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", "data": data}})).await;
    }

    /// The beginning of a server of before 2026-07-28.
    pub(crate) async fn begin_old(&mut self) {
        let id = self.expect("server/discover").await;
        self.refuse(&id, -32_601, Value::Null).await;
        let id = self.expect("initialize").await;
        self.answer(&id, initialized("2025-11-25")).await;
        self.expect("notifications/initialized").await;
    }

    /// The beginning of a server of 2026-07-28.
    pub(crate) async fn begin_new(&mut self) {
        let id = self.expect("server/discover").await;
        self.answer(&id, discovered(&["2026-07-28"])).await;
    }

    /// The next call of a tool; its id.
    pub(crate) async fn call(&mut self) -> Value {
        self.expect("tools/call").await
    }

    pub(crate) async fn done(&mut self, id: &Value) {
        self.answer(id, json!({"content": [{"type": "text", "text": "done"}]})).await;
    }

    pub(crate) async fn progress(&mut self, id: &Value, progress: f64) {
        let params = json!({"progressToken": id, "progress": progress});
        self.say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})).await;
    }

    pub(crate) async fn ask(&mut self, id: &str) {
        let params = json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})).await;
    }

    pub(crate) async fn end(self) {
        drop(self);
    }
}

pub(crate) fn initialized(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {"tools": {"listChanged": true}},
           "serverInfo": {"name": "scripted", "version": "1"}})
}

pub(crate) fn discovered(versions: &[&str]) -> Value {
    json!({"resultType": "complete", "supportedVersions": versions, "capabilities": {"tools": {"listChanged": true}},
           "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "2"}}})
}

/// A session with a server of before 2026-07-28.
pub(crate) async fn old(limits: Limits) -> (Session, Script) {
    let (transport, mut script) = pair(64 * 1024);
    let start = Session::start(transport, options(limits));
    let (session, ()) = tokio::join!(start, script.begin_old());
    (session.unwrap(), script)
}

/// A session with a server of 2026-07-28.
pub(crate) async fn new(limits: Limits) -> (Session, Script) {
    let (transport, mut script) = pair(64 * 1024);
    let start = Session::start(transport, options(limits));
    let (session, ()) = tokio::join!(start, script.begin_new());
    (session.unwrap(), script)
}

pub(crate) fn options(limits: Limits) -> SessionOptions {
    SessionOptions { limits, answers: true, ..SessionOptions::default() }
}

/// Starts a session against a script; both go on at once.
pub(crate) async fn start_with<F: Future<Output = ()>>(
    options: SessionOptions,
    script: impl FnOnce(Script) -> F,
) -> Result<Session, StartError> {
    let (transport, ours) = pair(64 * 1024);
    tokio::join!(Session::start(transport, options), script(ours)).0
}

/// What one call was told.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) progress: Arc<Mutex<Vec<f64>>>,
    pub(crate) left_out: Arc<Mutex<u64>>,
    pub(crate) questions: Arc<Mutex<Vec<Question>>>,
    pub(crate) requests: Arc<Mutex<Vec<u64>>>,
    /// How long a person thinks; nobody is there without.
    pub(crate) thinks: Option<std::time::Duration>,
}

impl Watch for Seen {
    fn request(&self, id: u64) {
        self.requests.lock().push(id);
    }

    fn progress(&self, progress: Progress) {
        self.progress.lock().push(progress.progress);
    }

    fn progress_left_out(&self, reports: u64) {
        *self.left_out.lock() = reports;
    }

    fn answers(&self) -> bool {
        self.thinks.is_some()
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        self.questions.lock().push(question);
        Box::pin(async {
            pause(self.thinks.unwrap_or_default(), "the clock is paused, and time is what this is about").await;
            Reply::Accept { content: Some(JsonPayload::from_checked(r#"{"name": "Ann"}"#)) }
        })
    }
}

/// One call of the tool `t`.
#[derive(Clone, Default)]
pub(crate) struct Calling {
    pub(crate) arguments: Option<&'static str>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) cancel: CancellationToken,
    pub(crate) seen: Seen,
    pub(crate) trace: TraceContext,
}

impl Calling {
    pub(crate) async fn on(&self, session: &Session) -> Result<ToolAnswer, Failure> {
        let arguments = JsonPayload::from_checked(self.arguments.unwrap_or("{}"));
        let call = ToolCall {
            tool: "t",
            arguments: &arguments,
            headers: &[],
            deadline: self.deadline,
            cancel: &self.cancel,
            watch: &self.seen,
            trace: &self.trace,
        };
        session.call_tool(call).await
    }
}
