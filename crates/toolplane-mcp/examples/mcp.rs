//! Looks at a server: its tools, and one call.
//!
//! ```text
//! cargo run -p toolplane-mcp --example mcp -- stdio PROGRAM [ARGUMENT...] [-- TOOL ARGUMENTS]
//! cargo run -p toolplane-mcp --example mcp -- http URL [-- TOOL ARGUMENTS]
//! ```
//!
//! The server is started as it is, without a sandbox. `MCP_OLD_FIRST=1` tries `initialize` first, `MCP_CANCEL_AFTER_MS=N` cancels the
//! call, `MCP_LISTEN_MS=N` listens for changes so long, and `MCP_ANSWER=JSON` answers what the server asks.
#![expect(clippy::disallowed_methods, reason = "an example spawns where it wants to")]

use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use http::{Request, Response};
use tokio_util::sync::CancellationToken;
use toolplane_mcp::{
    Body, Content, HttpEndpoint, HttpSend, Order, Progress, Question, Reply, SendError, Session, SessionOptions,
    ToolCall, TraceContext, Transport, Watch,
};
use toolplane_records::payload::JsonPayload;

/// Sends with an ordinary client.
#[derive(Debug)]
struct Plain(reqwest::Client);

impl HttpSend for Plain {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, SendError>> {
        let client = self.0.clone();
        async move {
            let request = reqwest::Request::try_from(request.map(reqwest::Body::from))
                .map_err(|error| SendError::NotSent(error.to_string()))?;
            let response = client.execute(request).await.map_err(|error| match error.is_connect() {
                true => SendError::NotSent(error.to_string()),
                false => SendError::MayBeSent(error.to_string()),
            })?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = response.bytes_stream().map_err(|error| error.to_string()).boxed();
            let mut answer = Response::new(body);
            (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
            Ok(answer)
        }
        .boxed()
    }
}

/// Prints what it is told.
struct Printed(Instant);

impl Watch for Printed {
    fn request(&self, id: u64) {
        println!("  {:>6.0?} request {id}", self.0.elapsed());
    }

    fn progress(&self, progress: Progress) {
        println!("  {:>6.0?} {progress:?}", self.0.elapsed());
    }

    fn answers(&self) -> bool {
        std::env::var("MCP_ANSWER").is_ok()
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        println!("  {:>6.0?} asked: {question:?}", self.0.elapsed());
        let content = std::env::var("MCP_ANSWER").ok().map(JsonPayload::from_checked);
        std::future::ready(Reply::Accept { content }).boxed()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let all: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = all.splitn(2, |argument| argument == "--");
    let (server, call) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut process = None;
    let transport = match server {
        [kind, program, arguments @ ..] if kind == "stdio" => {
            let mut command = tokio::process::Command::new(program);
            command
                .args(arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .kill_on_drop(true);
            let mut child = command.spawn()?;
            let (read, write) = child.stdout.take().zip(child.stdin.take()).ok_or("no pipes")?;
            process = Some(child);
            Transport::pipes(read, write)
        }
        [kind, url] if kind == "http" => {
            let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build()?;
            Transport::Http(HttpEndpoint { url: url.clone(), headers: Vec::new(), send: Arc::new(Plain(client)) })
        }
        _ => return Err("usage: mcp stdio PROGRAM [ARGUMENT...] | http URL  [-- TOOL ARGUMENTS]".into()),
    };
    let order = if std::env::var("MCP_OLD_FIRST").is_ok() { Order::OldFirst } else { Order::NewFirst };
    let answers = std::env::var("MCP_ANSWER").is_ok();
    let began = Instant::now();
    let session = Session::start(transport, SessionOptions { order, answers, ..SessionOptions::default() }).await?;
    println!("{:?} after {:.0?}, session {:?}", session.server(), began.elapsed(), session.session_id());
    let changes = session.changes();
    let list = session.list_tools(&CancellationToken::new()).await?;
    for tool in &list.tools {
        println!("  {} {:?} {:?}", tool.name, tool.annotations, tool.notes);
    }
    println!("{} tools, {} refused {:?}, notes {:?}", list.tools.len(), list.refused.len(), list.refused, list.notes);
    if let [tool, arguments] = call {
        one_call(&session, tool, arguments, &list).await;
    }
    if let Some(listen) = number("MCP_LISTEN_MS") {
        tokio::time::sleep(Duration::from_millis(listen)).await;
    }
    println!("changes {}, garbage {:?}, over {:?}", *changes.borrow(), session.garbage(), session.over());
    session.close().await;
    if let Some(mut process) = process {
        let ended = tokio::time::timeout(Duration::from_secs(5), process.wait()).await;
        println!("the process ended by itself: {ended:?}");
    }
    Ok(())
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

async fn one_call(session: &Session, tool: &str, arguments: &str, list: &toolplane_mcp::ToolList) {
    let (cancel, arguments) = (CancellationToken::new(), JsonPayload::from_checked(arguments.to_owned()));
    if let Some(after) = number("MCP_CANCEL_AFTER_MS") {
        let cancel = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(after)).await;
            cancel.cancel();
        });
    }
    let began = Instant::now();
    let headers = list.tools.iter().find(|known| known.name == tool).map(|tool| tool.headers.as_slice());
    let call = ToolCall {
        tool,
        arguments: &arguments,
        headers: headers.unwrap_or_default(),
        deadline: Some(tokio::time::Instant::now() + Duration::from_secs(60)),
        cancel: &cancel,
        watch: &Printed(began),
        trace: &TraceContext::default(),
    };
    match session.call_tool(call).await {
        Ok(answer) => {
            for part in &answer.content {
                match part {
                    Content::Text(text) => println!("  text {:?}", text.chars().take(200).collect::<String>()),
                    Content::Image { media_type, bytes } => println!("  image {media_type}, {} bytes", bytes.len()),
                    other => println!("  {other:?}"),
                }
            }
            let structured = answer.structured.as_ref().map(JsonPayload::text);
            println!(
                "  {:.0?} error {} structured {structured:?} notes {:?}",
                began.elapsed(),
                answer.is_error,
                answer.notes
            );
        }
        Err(failure) => println!("  {:.0?} {failure}; may have run: {}", began.elapsed(), failure.may_have_run()),
    }
}
