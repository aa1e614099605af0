//! Servers over HTTP, as a script of answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use toolplane_records::mcp::McpHeaderParameter;
use toolplane_records::payload::JsonPayload;

use super::script::{Calling, Seen, discovered, initialized, options};
use crate::{
    Body, CloseReason, Era, Failure, HttpEndpoint, HttpSend, Limits, SendError, Session, StartError, ToolCall,
    TraceContext, Transport,
};

/// One request as the server sees it, and how to answer it.
struct Received {
    method: Method,
    headers: http::HeaderMap,
    body: Value,
    raw: Bytes,
    answer: oneshot::Sender<Result<Response<Body>, SendError>>,
}

#[derive(Debug)]
struct Wire(mpsc::UnboundedSender<Received>);

impl std::fmt::Debug for Received {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.body)
    }
}

impl HttpSend for Wire {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, SendError>> {
        let (answer, answered) = oneshot::channel();
        let (parts, raw) = request.into_parts();
        let body = serde_json::from_slice(&raw).unwrap_or(Value::Null);
        let seen = Received { method: parts.method, headers: parts.headers, body, raw, answer };
        let sent = self.0.send(seen);
        async move {
            sent.map_err(|_| SendError::NotSent("nobody listens".to_owned()))?;
            answered.await.unwrap_or_else(|_| Err(SendError::MayBeSent("reset".to_owned())))
        }
        .boxed()
    }
}

impl Received {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn id(&self) -> Value {
        self.body["id"].clone()
    }

    fn reply(self, status: u16, headers: &[(&'static str, &str)], body: Body) {
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        for (name, value) in headers {
            response.headers_mut().insert(*name, value.parse().unwrap());
        }
        let _ = self.answer.send(Ok(response));
    }

    fn text(self, status: u16, headers: &[(&'static str, &str)], text: String) {
        self.reply(status, headers, futures_util::stream::iter([Ok(Bytes::from(text))]).boxed());
    }

    fn result(self, headers: &[(&'static str, &str)], result: Value) {
        let message = json!({"jsonrpc": "2.0", "id": self.id(), "result": result});
        let mut all = vec![("content-type", "application/json")];
        all.extend_from_slice(headers);
        self.text(200, &all, message.to_string());
    }

    fn done(self) {
        self.result(&[], done());
    }

    /// A stream of events that goes on for as long as its sender is kept.
    fn events(self) -> mpsc::UnboundedSender<String> {
        let (send, events) = mpsc::unbounded_channel();
        let body = stream_of(events);
        self.reply(200, &[("content-type", "text/event-stream; charset=utf-8")], body);
        send
    }
}

fn stream_of(events: mpsc::UnboundedReceiver<String>) -> Body {
    futures_util::stream::unfold(events, |mut events| async {
        let event = events.recv().await?;
        Some((Ok(Bytes::from(event)), events))
    })
    .boxed()
}

fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

struct Server(mpsc::UnboundedReceiver<Received>);

impl Server {
    async fn next(&mut self) -> Received {
        self.0.recv().await.expect("the client asks more")
    }

    async fn expect(&mut self, method: &str) -> Received {
        let request = self.next().await;
        assert_eq!(request.body["method"], method, "{request:?}");
        request
    }

    /// The beginning of a session of before 2026-07-28.
    async fn begin_old(&mut self, session: &str) {
        let request = self.expect("server/discover").await;
        assert_eq!(request.header("mcp-session-id"), None);
        request.text(400, &[], "Bad Request: No valid session ID provided".to_owned());
        self.begin_again(session).await;
    }

    async fn begin_again(&mut self, session: &str) {
        let request = self.expect("initialize").await;
        assert_eq!((request.header("mcp-session-id"), request.header("mcp-protocol-version")), (None, None));
        request.result(&[("mcp-session-id", session)], initialized("2025-06-18"));
        let notice = self.expect("notifications/initialized").await;
        assert_eq!(notice.header("mcp-session-id"), Some(session));
        notice.text(202, &[], String::new());
    }

    async fn begin_new(&mut self) {
        self.expect("server/discover").await.result(&[], discovered(&["2026-07-28"]));
    }
}

fn web() -> (Transport, Server) {
    let (send, seen) = mpsc::unbounded_channel();
    let headers = [("x-team", "a"), ("Mcp-Session-Id", "stolen"), ("Accept", "x")];
    let endpoint = HttpEndpoint {
        url: "https://tools.example.org/mcp".to_owned(),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        send: Arc::new(Wire(send)),
    };
    (Transport::Http(endpoint), Server(seen))
}

async fn new(limits: Limits) -> (Session, Server) {
    let (transport, mut server) = web();
    let (session, ()) = tokio::join!(Session::start(transport, options(limits)), server.begin_new());
    (session.unwrap(), server)
}

async fn old() -> (Session, Server) {
    let (transport, mut server) = web();
    let start = Session::start(transport, options(Limits::default()));
    let (session, ()) = tokio::join!(start, server.begin_old("s1"));
    (session.unwrap(), server)
}

/// One call while the server does what it likes.
async fn during<T, F: Future<Output = T>>(session: &Session, serve: F) -> (Result<crate::ToolAnswer, Failure>, T) {
    let calling = Calling::default();
    tokio::join!(calling.on(session), serve)
}

#[tokio::test(start_paused = true)]
async fn requests_of_2026_say_in_headers_what_they_are() {
    let (session, mut server) = new(Limits::default()).await;
    assert_eq!((session.server().era, session.session_id()), (Era::Stateless, None));
    let (arguments, cancel) = (JsonPayload::from_checked("{\"b\":1.0,\n\"region\": \"süd\"}"), Default::default());
    let headers = [McpHeaderParameter { path: vec!["region".to_owned()], header: "Region".to_owned() }];
    let (watch, trace) = (Seen::default(), TraceContext::default());
    let call = ToolCall {
        tool: "räume",
        arguments: &arguments,
        headers: &headers,
        deadline: None,
        cancel: &cancel,
        watch: &watch,
        trace: &trace,
    };
    let (answer, ()) = tokio::join!(session.call_tool(call), async {
        let request = server.expect("tools/call").await;
        for (name, value) in [
            ("mcp-protocol-version", Some("2026-07-28")),
            ("mcp-method", Some("tools/call")),
            ("mcp-name", Some("=?base64?csOkdW1l?=")),
            ("mcp-param-region", Some("=?base64?c8O8ZA==?=")),
            ("mcp-session-id", None),
            ("x-team", Some("a")),
            ("origin", None),
            ("accept", Some("application/json, text/event-stream")),
            ("content-type", Some("application/json")),
        ] {
            assert_eq!(request.header(name), value, "{name}");
        }
        let sent = String::from_utf8(request.raw.to_vec()).unwrap();
        assert!(sent.contains("\"arguments\":{\"b\":1.0,\n\"region\": \"süd\"}"), "byte for byte: {sent}");
        request.done();
    });
    answer.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_of_before_is_named_in_each_request_and_renewed_when_it_is_gone() {
    let (session, mut server) = old().await;
    assert_eq!((session.server().version.as_str(), session.session_id().as_deref()), ("2025-06-18", Some("s1")));
    let (answer, ()) = during(&session, async {
        let request = server.expect("tools/call").await;
        assert_eq!(request.header("mcp-session-id"), Some("s1"));
        assert_eq!((request.header("mcp-protocol-version"), request.header("mcp-method")), (Some("2025-06-18"), None));
        let first = request.id();
        request.text(404, &[], "Session not found".to_owned());
        server.begin_again("s2").await;
        let again = server.expect("tools/call").await;
        assert_eq!(again.header("mcp-session-id"), Some("s2"));
        assert_ne!(again.id(), first);
        again.done();
    })
    .await;
    answer.unwrap();
    assert_eq!(session.session_id().as_deref(), Some("s2"));
    // A server that forgets at once has not run the call.
    let (ended, ()) = during(&session, async {
        server.expect("tools/call").await.text(404, &[], String::new());
        server.begin_again("s3").await;
        server.expect("tools/call").await.text(404, &[], String::new());
    })
    .await;
    let failure = ended.unwrap_err();
    assert!(matches!(&failure, Failure::NotSent(_)) && !failure.may_have_run(), "{failure}");
    // The end is told.
    let ((), request) = tokio::join!(session.close(), async {
        let request = server.next().await;
        let seen = (request.method.clone(), request.header("mcp-session-id").map(str::to_owned));
        request.text(405, &[], String::new());
        seen
    });
    assert_eq!(request, (Method::DELETE, Some("s3".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_be_a_stream_with_progress_and_questions() {
    let (session, mut server) = old().await;
    let calling = Calling {
        seen: Seen { thinks: Some(Duration::from_secs(60)), ..Seen::default() },
        deadline: Some(Instant::now() + Duration::from_secs(5)),
        ..Calling::default()
    };
    let other = Calling::default();
    let serve = async {
        let (request, second) = (server.expect("tools/call").await, server.expect("tools/call").await);
        let id = request.id();
        let events = request.events();
        let params = json!({"progressToken": id, "progress": 1, "message": "half"});
        events.send(event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))).unwrap();
        // Which call asks is known by the stream, however many run.
        let params = json!({"message": "who?", "requestedSchema": {"type": "object"}});
        events
            .send(event(&json!({"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": params})))
            .unwrap();
        events.send(event(&json!({"jsonrpc": "2.0", "id": 10, "method": "ping"}))).unwrap();
        let pong = server.next().await;
        assert_eq!(pong.body, json!({"jsonrpc": "2.0", "id": 10, "result": {}}));
        pong.text(202, &[], String::new());
        let reply = server.next().await;
        assert_eq!((&reply.body["id"], &reply.body["result"]["action"]), (&json!(9), &json!("accept")));
        reply.text(202, &[], String::new());
        second.done();
        let answer = event(&json!({"jsonrpc": "2.0", "id": id, "result": done()}));
        for part in answer.as_bytes().chunks(7) {
            events.send(String::from_utf8(part.to_vec()).unwrap()).unwrap();
        }
        events.closed().await;
    };
    let (answer, second, ()) = tokio::join!(calling.on(&session), other.on(&session), serve);
    answer.unwrap();
    second.unwrap();
    assert_eq!((calling.seen.progress.lock().len(), calling.seen.questions.lock().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_is_canceled_is_closed_and_told_where_closing_says_nothing() {
    let (session, mut server) = new(Limits::default()).await;
    let calling = Calling::default();
    let (ended, ()) = tokio::join!(calling.on(&session), async {
        let events = server.expect("tools/call").await.events();
        calling.cancel.cancel();
        events.closed().await;
    });
    assert_eq!(ended.unwrap_err(), Failure::Canceled { sent: true });
    let (session, mut server) = old().await;
    let calling = Calling::default();
    let (ended, ()) = tokio::join!(calling.on(&session), async {
        let request = server.expect("tools/call").await;
        let id = request.id();
        let events = request.events();
        calling.cancel.cancel();
        events.closed().await;
        let notice = server.expect("notifications/cancelled").await;
        assert_eq!((&notice.body["params"]["requestId"], notice.header("mcp-session-id")), (&id, Some("s1")));
    });
    assert_eq!(ended.unwrap_err(), Failure::Canceled { sent: true });
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_before_that_breaks_off_is_taken_up_again() {
    let (session, mut server) = old().await;
    let began = Instant::now();
    let (answer, ()) = during(&session, async {
        let request = server.expect("tools/call").await;
        let id = request.id();
        let events = request.events();
        events.send("id: e1\nretry: 2500\ndata:\n\n".to_owned()).unwrap();
        drop(events);
        for round in 1..=2 {
            let again = server.next().await;
            assert_eq!((&again.method, again.header("last-event-id")), (&Method::GET, Some("e1")));
            let events = again.events();
            if round == 2 {
                events.send(event(&json!({"jsonrpc": "2.0", "id": id, "result": done()}))).unwrap();
            }
        }
    })
    .await;
    answer.unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(2_500 + 1_000));
    // By the newer protocol it is lost.
    let (session, mut server) = new(Limits::default()).await;
    let (ended, ()) = during(&session, async {
        server.expect("tools/call").await.events().send("id: e1\ndata:\n\n".to_owned()).unwrap();
    })
    .await;
    assert_eq!(ended.unwrap_err(), Failure::Lost(CloseReason::Ended));
    assert_eq!(session.over(), None, "other calls go on");
}

#[tokio::test(start_paused = true)]
async fn what_is_known_of_a_call_without_an_answer_is_told() {
    let (session, mut server) = new(Limits::default()).await;
    let (ended, ()) = during(&session, async {
        let refused = server.expect("tools/call").await;
        let _ = refused.answer.send(Err(SendError::NotSent("not an allowed host".to_owned())));
    })
    .await;
    assert_eq!(ended.unwrap_err(), Failure::NotSent("not an allowed host".to_owned()));
    let (ended, ()) = during(&session, async { drop(server.expect("tools/call").await) }).await;
    assert_eq!(ended.unwrap_err(), Failure::Lost(CloseReason::Broken("reset".to_owned())));
    for (status, may_have_run) in [(401, false), (403, false), (429, false), (302, false), (500, true), (503, true)] {
        let (ended, ()) = during(&session, async {
            let challenge = [("www-authenticate", "Bearer scope=\"x\"")];
            server.expect("tools/call").await.text(status, &challenge, "<h1>no</h1>".to_owned());
        })
        .await;
        let failure = ended.unwrap_err();
        assert_eq!(failure.may_have_run(), may_have_run, "{failure}");
        let Failure::Status { status: told, challenge, text } = failure else { panic!("a status") };
        let challenge = challenge.as_deref();
        assert_eq!((told, challenge, text.as_str()), (status, Some("Bearer scope=\"x\""), "<h1>no</h1>"));
    }
    // An error of the protocol says more than its status.
    let (ended, ()) = during(&session, async {
        let request = server.expect("tools/call").await;
        let error = json!({"jsonrpc": "2.0", "id": request.id(), "error": {"code": -32_020, "message": "header"}});
        request.text(400, &[], error.to_string());
    })
    .await;
    assert!(matches!(ended.unwrap_err(), Failure::Refused(error) if error.code == -32_020));
    for (body, kind) in [("<html>", "text/html"), ("{}", "application/json"), ("", "application/json")] {
        let (ended, ()) = during(&session, async {
            server.expect("tools/call").await.text(200, &[("content-type", kind)], body.to_owned());
        })
        .await;
        assert!(matches!(ended.unwrap_err(), Failure::Unreadable(_)), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn hostile_servers_are_bounded_over_http_too() {
    let limits = Limits { message_bytes: 4_096, unasked_burst: 50, unasked_per_second: 1, ..Limits::default() };
    let (session, mut server) = new(limits.clone()).await;
    let (ended, ()) = during(&session, async {
        let body = futures_util::stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; 1_000]))).boxed();
        server.expect("tools/call").await.reply(200, &[("content-type", "application/json")], body);
    })
    .await;
    assert_eq!(ended.unwrap_err(), Failure::Lost(CloseReason::MessageTooLong(4_096)));
    let (ended, events) = during(&session, async {
        let events = server.expect("tools/call").await.events();
        for _ in 0..60 {
            let _ = events.send(event(&json!({"jsonrpc": "2.0", "method": "notifications/message"})));
        }
        events
    })
    .await;
    assert_eq!((ended.unwrap_err(), session.over()), (Failure::Lost(CloseReason::Flood), Some(CloseReason::Flood)));
    events.closed().await;
    // A body without an end that never is a line.
    let (session, mut server) = new(limits).await;
    let (ended, ()) = during(&session, async {
        let body = futures_util::stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; 1_000]))).boxed();
        server.expect("tools/call").await.reply(200, &[("content-type", "text/event-stream")], body);
    })
    .await;
    assert_eq!(ended.unwrap_err(), Failure::Lost(CloseReason::MessageTooLong(4_096)));
}

#[tokio::test(start_paused = true)]
async fn who_may_not_ask_is_told_so_and_not_asked_in_another_way() {
    let (transport, mut server) = web();
    let (ended, ()) = tokio::join!(Session::start(transport, options(Limits::default())), async {
        let challenge = [("www-authenticate", "Bearer resource_metadata=\"https://x\"")];
        server.expect("server/discover").await.text(401, &challenge, String::new());
    });
    let StartError::Failed(Failure::Status { status: 401, challenge: Some(challenge), .. }) = ended.unwrap_err() else {
        panic!("401")
    };
    assert!(challenge.starts_with("Bearer"));
    let (transport, server) = web();
    drop(server);
    let ended = Session::start(transport, options(Limits::default())).await;
    assert_eq!(ended.unwrap_err(), StartError::Failed(Failure::NotSent("nobody listens".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn changes_are_heard_over_http_in_both_ways() {
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let (session, mut server) = old().await;
    let mut changes = session.changes();
    let request = server.next().await;
    let accept = request.header("accept").map(str::to_owned);
    assert_eq!((&request.method, accept.as_deref()), (&Method::GET, Some("text/event-stream")));
    let events = request.events();
    events.send(event(&changed)).unwrap();
    changes.changed().await.unwrap();
    assert_eq!(*changes.borrow_and_update(), 1);
    drop(events);
    // It is listened to again, as something may have been missed, until the server says that it has no such stream.
    drop(server.next().await.events());
    changes.changed().await.unwrap();
    server.next().await.text(405, &[], String::new());
    let (session, mut server) = new(Limits::default()).await;
    let mut changes = session.changes();
    let request = server.expect("subscriptions/listen").await;
    assert_eq!(request.header("mcp-method"), Some("subscriptions/listen"));
    let events = request.events();
    events.send(event(&changed)).unwrap();
    changes.changed().await.unwrap();
    drop(session);
    events.closed().await;
}
