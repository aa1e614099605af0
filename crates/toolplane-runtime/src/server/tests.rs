use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt};
use http::uri::PathAndQuery;
use prost::Message;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::server::{NamedService, ServerStreamingService, UnaryService};
use tonic::{Code, Request, Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::{HealthCheckRequest, health_check_response::ServingStatus as Serving};
use tonic_prost::ProstCodec;
use tower::Service;

use super::*;
use crate::caller::{Caller, Role};
use crate::client::{Backoff, Peer, PeerSettings, connect, own, own_url, retry};
use crate::config::AuthConfig;
use crate::status::{ApiError, reason};
use crate::telemetry::CarriedContext;
use crate::telemetry::tests::{Recorder, attribute_of};

mod ages;
mod callers;
mod crowds;
mod health;

const LIMIT: Duration = Duration::from_secs(20);

/// A service of strings that does what its method is called.
#[derive(Clone)]
pub(crate) struct Probe {
    method: String,
    entered: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

type Boxed<T> = Pin<Box<dyn Future<Output = Result<T, Status>> + Send>>;
type Strings = Pin<Box<dyn Stream<Item = Result<String, Status>> + Send>>;

impl NamedService for Probe {
    const NAME: &'static str = "test.v1.Probe";
}

impl UnaryService<String> for Probe {
    type Response = String;
    type Future = Boxed<Response<String>>;

    fn call(&mut self, request: Request<String>) -> Self::Future {
        let Self { method, entered, open } = self.clone();
        Box::pin(async move {
            match method.as_str() {
                "Echo" => Ok(Response::new(request.into_inner())),
                "Who" => Ok(Response::new(who(&Caller::of(&request)))),
                "Context" => Ok(Response::new(CarriedContext::current().traceparent)),
                "Wait" => {
                    entered.add_permits(1);
                    let _permit = open.acquire().await;
                    Ok(Response::new("waited".to_owned()))
                }
                "Write" => {
                    entered.add_permits(1);
                    let _permit = open.acquire().await;
                    entered.add_permits(1);
                    Ok(Response::new("written".to_owned()))
                }
                "Refuse" => Err(ApiError::not_found("thing", request.into_inner()).into()),
                _ => panic!("with a secret"),
            }
        })
    }
}

impl ServerStreamingService<String> for Probe {
    type Response = String;
    type ResponseStream = Strings;
    type Future = Boxed<Response<Strings>>;

    fn call(&mut self, request: Request<String>) -> Self::Future {
        let first = futures_util::stream::once(async { Ok("first".to_owned()) });
        let rest = match request.into_inner().as_str() {
            "panic" => futures_util::stream::once(async { panic!("in the stream") }).boxed(),
            _ => futures_util::stream::pending().boxed(),
        };
        Box::pin(async move { Ok(Response::new(first.chain(rest).boxed())) })
    }
}

impl Service<http::Request<Body>> for Probe {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let mut probe = self.clone();
        probe.method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        let mut grpc = tonic::server::Grpc::new(ProstCodec::<String, String>::default());
        grpc = grpc.max_decoding_message_size(1000);
        Box::pin(async move {
            Ok(match probe.method.as_str() {
                "Stream" => grpc.server_streaming(probe, request).await,
                _ => grpc.unary(probe, request).await,
            })
        })
    }
}

/// A caller in one line.
fn who(caller: &Caller) -> String {
    let actor = caller.actor.as_deref().unwrap_or("-");
    format!("{} {actor} {} {} {}", caller.tenant, caller.caller_ref, caller.roles.joined(), caller.authenticated)
}

fn descriptors() -> Vec<u8> {
    let method = |name: &str| prost_types::MethodDescriptorProto {
        name: Some(name.to_owned()),
        input_type: Some(".test.v1.Text".to_owned()),
        output_type: Some(".test.v1.Text".to_owned()),
        ..Default::default()
    };
    let file = prost_types::FileDescriptorProto {
        name: Some("test.proto".to_owned()),
        package: Some("test.v1".to_owned()),
        message_type: vec![prost_types::DescriptorProto { name: Some("Text".to_owned()), ..Default::default() }],
        service: vec![prost_types::ServiceDescriptorProto {
            name: Some("Probe".to_owned()),
            method: ["Echo", "Who", "Context", "Wait", "Write", "Refuse", "Panic", "Stream"].map(method).into(),
            ..Default::default()
        }],
        ..Default::default()
    };
    prost_types::FileDescriptorSet { file: vec![file] }.encode_to_vec()
}

/// A running server with a probe in it.
pub(crate) struct Running {
    pub(crate) url: String,
    pub(crate) shutdown: Shutdown,
    pub(crate) ended: JoinHandle<Result<Drain, ServerError>>,
    entered: Arc<Semaphore>,
    open: Arc<Semaphore>,
}

pub(crate) async fn start(address: &str, settings: ServerSettings) -> Running {
    start_with(address, settings, Inside::new()).await
}

/// The methods of the probe, and who may use them.
const ROWS: &[access::Row] = &[
    ("test.v1.Probe/Echo", &Role::ALL),
    ("test.v1.Probe/Who", &Role::ALL),
    ("test.v1.Probe/Context", &Role::ALL),
    ("test.v1.Probe/Wait", &Role::ALL),
    ("test.v1.Probe/Write", &Role::ALL),
    ("test.v1.Probe/Refuse", &[Role::Operator]),
    ("test.v1.Probe/Panic", &Role::ALL),
    ("test.v1.Probe/Stream", &Role::ALL),
];

fn with_tokens(text: &str) -> ServerSettings {
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), text).expect("tokens");
    let config = AuthConfig { token_file: Some(file.path().to_owned()), ..AuthConfig::default() };
    ServerSettings { auth: Some(Arc::new(Auth::from_config(&config).expect("auth"))), ..ServerSettings::default() }
}

async fn start_with(address: &str, settings: ServerSettings, inside: Inside) -> Running {
    let settings = ServerSettings { access: ROWS, ..settings };
    let bound = bind(address.parse().expect("address")).await.expect("bind");
    let (entered, open) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let shutdown = Shutdown::new();
    let probe = Probe { method: String::new(), entered: Arc::clone(&entered), open: Arc::clone(&open) };
    let services = Services::new(&descriptors()).expect("descriptors").with(probe);
    let url = own_url(bound.address(), settings.tls.is_some());
    let server = Server::new(bound, services, settings).expect("server").with_inside(inside);
    let ended = tokio::spawn(server.run(shutdown.clone()));
    Running { url, shutdown, ended, entered, open }
}

pub(crate) async fn call<T: Message + 'static>(peer: &Peer, method: &str, message: T) -> Result<String, Status> {
    send(peer, method, Request::new(message)).await
}

async fn send<T: Message + 'static>(peer: &Peer, method: &str, request: Request<T>) -> Result<String, Status> {
    let mut grpc = tonic::client::Grpc::new(peer.clone());
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::try_from(format!("/test.v1.Probe/{method}")).expect("path");
    grpc.unary(request, path, ProstCodec::<T, String>::default()).await.map(Response::into_inner)
}

async fn stream(peer: &Peer, message: &str) -> tonic::Streaming<String> {
    let mut grpc = tonic::client::Grpc::new(peer.clone());
    grpc.ready().await.expect("ready");
    let path = PathAndQuery::from_static("/test.v1.Probe/Stream");
    let codec = ProstCodec::<String, String>::default();
    grpc.server_streaming(Request::new(message.to_owned()), path, codec).await.expect("stream").into_inner()
}

async fn health(peer: &Peer, service: &str) -> Result<Serving, Code> {
    let request = HealthCheckRequest { service: service.to_owned() };
    let answer = HealthClient::new(peer.clone()).check(request).await;
    answer.map(|answer| answer.into_inner().status()).map_err(|status| status.code())
}

fn plain(url: &str) -> Peer {
    connect(url, &PeerSettings::default()).expect("peer")
}

#[tokio::test]
async fn health_and_reflection_are_served() {
    let server = start("127.0.0.1:0", ServerSettings::default()).await;
    let peer = plain(&server.url);
    assert_eq!(health(&peer, "").await, Ok(Serving::Serving));
    assert_eq!(health(&peer, "test.v1.Probe").await, Ok(Serving::Serving));
    assert_eq!(health(&peer, "test.v1.Other").await, Err(Code::NotFound));
    assert_eq!(call(&peer, "Echo", "hello".to_owned()).await.expect("echo"), "hello");

    use tonic_reflection::pb::v1::{ServerReflectionRequest, server_reflection_request, server_reflection_response};
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(server_reflection_request::MessageRequest::ListServices(String::new())),
    };
    let mut client = tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient::new(peer);
    let mut answers =
        client.server_reflection_info(tokio_stream::iter([request])).await.expect("reflection").into_inner();
    let answer = answers.message().await.expect("answer").expect("answer").message_response.expect("response");
    let server_reflection_response::MessageResponse::ListServicesResponse(list) = answer else { panic!("{answer:?}") };
    let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
    assert!(names.contains(&"test.v1.Probe") && names.contains(&"grpc.health.v1.Health"), "{names:?}");
}

#[tokio::test]
async fn tokens_are_asked_for_except_by_health() {
    let settings = with_tokens("# rotation\nold-token\n\nnew-token\n");
    let server = start("127.0.0.1:0", settings).await;
    let with = |token: &str| {
        connect(&server.url, &PeerSettings { token: Some(token.to_owned()), ..PeerSettings::default() }).expect("peer")
    };
    let refused = call(&plain(&server.url), "Echo", String::new()).await.expect_err("no token");
    assert_eq!((refused.code(), reason(&refused).as_deref()), (Code::Unauthenticated, Some("TOKEN_MISSING")));
    let refused = call(&with("new-toke"), "Echo", String::new()).await.expect_err("wrong token");
    assert_eq!((refused.code(), reason(&refused).as_deref()), (Code::Unauthenticated, Some("TOKEN_UNKNOWN")));
    for token in ["old-token", "new-token"] {
        call(&with(token), "Echo", String::new()).await.expect(token);
    }
    assert_eq!(health(&plain(&server.url), "").await, Ok(Serving::Serving));
}

#[tokio::test]
async fn mistakes_of_callers_and_faults_of_ours_are_told_apart() {
    let server = start("127.0.0.1:0", ServerSettings::default()).await;
    let peer = plain(&server.url);
    // A number where the method wants text: prost cannot read it.
    let undecodable = call(&peer, "Echo", 7_u64).await.expect_err("not text");
    assert_eq!(
        (undecodable.code(), reason(&undecodable).as_deref()),
        (Code::InvalidArgument, Some("INVALID_ARGUMENT"))
    );
    let large = call(&peer, "Echo", "x".repeat(2000)).await.expect_err("too large");
    assert_eq!((large.code(), reason(&large).as_deref()), (Code::ResourceExhausted, Some("MESSAGE_TOO_LARGE")));
    let refused = call(&peer, "Refuse", "t1".to_owned()).await.expect_err("refused");
    assert_eq!((refused.code(), refused.message()), (Code::NotFound, "thing `t1` does not exist"));
    let fault = call(&peer, "Panic", String::new()).await.expect_err("panic");
    assert_eq!(
        (fault.code(), fault.message(), reason(&fault).as_deref()),
        (Code::Internal, "internal error", Some("PANIC"))
    );
    let mut broken = stream(&peer, "panic").await;
    let end = loop {
        match broken.message().await {
            Ok(message) => assert_eq!(message.as_deref(), Some("first")),
            Err(end) => break end,
        }
    };
    assert_eq!(reason(&end).as_deref(), Some("PANIC"));
    assert_eq!(call(&peer, "Echo", "still here".to_owned()).await.expect("echo"), "still here");
}

#[tokio::test]
async fn client_and_server_spans_hang_together() {
    let (recorder, _guard) = Recorder::start();
    let server = start("127.0.0.1:0", ServerSettings::default()).await;
    let peer = plain(&server.url);
    let seen = call(&peer, "Context", String::new()).await.expect("context");
    let failed = call(&peer, "Refuse", String::new()).await.expect_err("refused");
    assert_eq!(failed.code(), Code::NotFound);
    health(&peer, "").await.expect("health");
    server.shutdown.request();
    drop(peer);
    server.ended.await.expect("server").expect("drained");

    let spans = recorder.spans();
    let of = |name: &str, kind: &str| {
        let found = spans.iter().find(|span| span.name == name && format!("{:?}", span.kind()) == kind);
        found.unwrap_or_else(|| panic!("no {kind} span `{name}`")).clone()
    };
    let (client, served) = (of("test.v1.Probe/Context", "Client"), of("test.v1.Probe/Context", "Server"));
    assert_eq!(served.parent_span_id, client.span_id);
    assert_eq!(served.flags & 0x300, 0x300, "its parent is of another process");
    assert!(seen.contains(&hex::encode(&served.span_id)), "{seen}");
    assert_eq!(attribute_of(&served, "rpc.status_code").as_deref(), Some("OK"));
    assert_eq!(attribute_of(&client, "server.address").as_deref(), Some("127.0.0.1"));
    let (client, served) = (of("test.v1.Probe/Refuse", "Client"), of("test.v1.Probe/Refuse", "Server"));
    assert_eq!(attribute_of(&served, "rpc.status_code").as_deref(), Some("NOT_FOUND"));
    assert_eq!(attribute_of(&served, "error.type"), None, "not a fault of the server");
    assert_eq!(attribute_of(&client, "error.type").as_deref(), Some("NOT_FOUND"));
    assert!(!spans.iter().any(|span| span.name.starts_with("grpc.health") && format!("{:?}", span.kind()) == "Server"));
}

#[tokio::test]
async fn context_passes_through_a_server_that_records_nothing() {
    use opentelemetry::context::FutureExt;
    let server = start("127.0.0.1:0", ServerSettings::default()).await;
    let sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let context = CarriedContext { traceparent: sent.to_owned(), tracestate: String::new() }.parent().expect("valid");
    let seen = call(&plain(&server.url), "Context", String::new()).with_context(context).await.expect("context");
    assert_eq!(seen, sent);
}

#[tokio::test]
async fn a_drain_tells_watchers_and_lets_calls_finish() {
    let server = start("127.0.0.1:0", ServerSettings { drain_timeout: LIMIT, ..ServerSettings::default() }).await;
    let peer = plain(&server.url);
    let request = HealthCheckRequest { service: "test.v1.Probe".to_owned() };
    let mut watch = HealthClient::new(peer.clone()).watch(request).await.expect("watch").into_inner();
    assert_eq!(watch.message().await.expect("first").expect("first").status(), Serving::Serving);
    let waiting = tokio::spawn({
        let peer = peer.clone();
        async move { call(&peer, "Wait", String::new()).await }
    });
    let _in_the_handler = server.entered.acquire().await.expect("entered");
    server.shutdown.request();
    assert_eq!(watch.message().await.expect("change").expect("change").status(), Serving::NotServing);
    let end = watch.message().await.expect_err("the watch ends with the server");
    assert_eq!((end.code(), reason(&end).as_deref()), (Code::Unavailable, Some("DRAINING")));
    server.open.add_permits(1);
    assert_eq!(waiting.await.expect("task").expect("finished within the drain"), "waited");
    assert_eq!(server.ended.await.expect("server"), Ok(Drain::Complete));
    let late = call(&plain(&server.url), "Echo", String::new()).await.expect_err("nobody listens");
    assert_eq!(late.code(), Code::Unavailable);
}

#[tokio::test]
async fn a_drain_has_an_end() {
    let settings = ServerSettings { drain_timeout: Duration::from_millis(50), ..ServerSettings::default() };
    let server = start("127.0.0.1:0", settings).await;
    let peer = plain(&server.url);
    let endless = tokio::spawn(async move { call(&peer, "Wait", String::new()).await });
    let _in_the_handler = server.entered.acquire().await.expect("entered");
    server.shutdown.request();
    let ended = tokio::time::timeout(LIMIT, server.ended).await.expect("in time").expect("server");
    assert_eq!(ended, Ok(Drain::Cut));
    let status = tokio::time::timeout(LIMIT, endless).await.expect("in time").expect("task").expect_err("cut");
    assert_eq!(status.code(), Code::Unavailable);
}

#[tokio::test]
async fn a_second_wish_ends_the_drain() {
    let server = start("127.0.0.1:0", ServerSettings { drain_timeout: LIMIT * 10, ..ServerSettings::default() }).await;
    let _endless = stream(&plain(&server.url), "").await;
    server.shutdown.request();
    server.shutdown.force();
    let ended = tokio::time::timeout(LIMIT, server.ended).await.expect("in time").expect("server");
    assert_eq!(ended, Ok(Drain::Cut));
}

#[tokio::test]
async fn tls_hides_and_names_both_sides() {
    let file = |name: &str| -> std::path::PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "src/server/testdata", name].iter().collect()
    };
    let read = |name: &str| std::fs::read(file(name)).expect("test certificate");
    let config = ServerConfig {
        tls: Some(crate::config::TlsConfig {
            cert_file: file("server.pem"),
            key_file: file("server.key"),
            client_ca_file: Some(file("ca.pem")),
        }),
        ..ServerConfig::default()
    };
    let server = start("127.0.0.1:0", ServerSettings::from_config(&config).expect("settings")).await;
    assert!(server.url.starts_with("https://127.0.0.1:"));
    let known = PeerSettings {
        ca: Some(read("ca.pem")),
        identity: Some((read("client.pem"), read("client.key"))),
        ..PeerSettings::default()
    };
    let named = PeerSettings { server_name: Some("toolplane.test".to_owned()), ..known.clone() };
    for settings in [&known, &named] {
        let peer = connect(&server.url, settings).expect("peer");
        assert_eq!(call(&peer, "Echo", "secret".to_owned()).await.expect("echo"), "secret");
    }
    let nameless = PeerSettings { identity: None, ..known.clone() };
    let impostor = PeerSettings { server_name: Some("elsewhere.test".to_owned()), ..known };
    for settings in [nameless, impostor] {
        let peer = connect(&server.url, &settings).expect("peer");
        assert!(call(&peer, "Echo", String::new()).await.is_err(), "{:?}", settings.server_name);
    }
    assert!(connect(&server.url, &PeerSettings::default()).is_err(), "no authority to trust");
}

#[tokio::test]
async fn an_open_door_is_refused() {
    let bound = bind("0.0.0.0:0".parse().expect("address")).await.expect("bind");
    let settings = with_tokens("t");
    let error = Server::new(bound, Services::default(), settings).expect_err("clear text to everyone");
    assert_eq!(error.code(), "SERVER_EXPOSED");
}

#[tokio::test]
async fn a_peer_that_comes_late_is_waited_for() {
    let address = bind("127.0.0.1:0".parse().expect("address")).await.expect("bind").address();
    let peer = plain(&own_url(address, false));
    let away = call(&peer, "Echo", String::new()).await.expect_err("nobody there");
    assert_eq!(away.code(), Code::Unavailable);
    let mut tries = 0;
    let backoff = Backoff { first: Duration::from_millis(20), most: Duration::from_millis(100), tries: 100 };
    let mut server = None;
    let answer = retry(backoff, || {
        tries += 1;
        if tries == 3 {
            server =
                Some(tokio::spawn(start(Box::leak(address.to_string().into_boxed_str()), ServerSettings::default())));
        }
        call(&peer, "Echo", "hello".to_owned())
    });
    assert_eq!(answer.await.expect("in the end"), "hello");
    assert!(tries >= 3);
}

fn own_peer(inside: &Inside, token: Option<&str>) -> Peer {
    let settings = PeerSettings { token: token.map(str::to_owned), ..PeerSettings::default() };
    own(inside.clone(), "127.0.0.1:1".parse().expect("address"), &settings).expect("peer")
}

#[tokio::test]
async fn the_way_inside_is_checked_and_served_like_any_other() {
    let inside = Inside::new();
    let (peer, stranger) = (own_peer(&inside, Some("token")), own_peer(&inside, Some("other")));
    let early = tokio::spawn({
        let peer = peer.clone();
        async move { call(&peer, "Echo", "early".to_owned()).await }
    });
    tokio::task::yield_now().await;
    assert!(!early.is_finished(), "nobody serves yet");
    let settings = with_tokens("token");
    let _server = start_with("127.0.0.1:0", settings, inside.clone()).await;
    assert_eq!(early.await.expect("join").expect("echo"), "early");

    for (peer, method, expected) in [
        (&peer, "Refuse", Code::NotFound),
        (&peer, "Panic", Code::Internal),
        (&stranger, "Echo", Code::Unauthenticated),
    ] {
        let refused = call(peer, method, "x".to_owned()).await.expect_err(method);
        assert_eq!(refused.code(), expected, "{method}: {refused:?}");
    }
    let large = call(&peer, "Echo", "x".repeat(2000)).await.expect_err("beyond the limit of a message");
    assert_eq!(large.code(), Code::ResourceExhausted, "{large:?}");
    assert_eq!(stream(&peer, "").await.message().await.expect("message").as_deref(), Some("first"));
}

#[tokio::test]
async fn the_way_inside_serves_at_home_and_ends_with_its_process() {
    let inside = Inside::new();
    let closing = inside.closing();
    let server = start_with("127.0.0.1:0", ServerSettings::default(), inside.clone()).await;
    let peer = own_peer(&inside, None);
    let (entered, open) = (Arc::clone(&server.entered), Arc::clone(&server.open));
    let foreign = std::thread::spawn({
        let peer = peer.clone();
        move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
            runtime.block_on(call(&peer, "Wait", String::new()))
        }
    });
    drop(entered.acquire().await.expect("entered"));
    // New calls are refused, what runs goes on.
    drop(closing);
    let refused = call(&peer, "Echo", String::new()).await.expect_err("closed");
    assert_eq!(reason(&refused).as_deref(), Some("STOPPING"), "{refused:?}");
    open.add_permits(1);
    let waited = tokio::task::spawn_blocking(|| foreign.join()).await.expect("join").expect("thread");
    assert_eq!(waited.expect("answer"), "waited");
}

/// What a flush leaves waiting is written although no flush follows.
#[tokio::test]
async fn a_connection_gathers_without_losing_anything() {
    let server = start("127.0.0.1:0", ServerSettings::default()).await;
    let peer = plain(&server.url);
    let calls = (0..200).map(|number| {
        let peer = peer.clone();
        async move {
            let text = format!("{number}:{}", "x".repeat(number * 4));
            assert_eq!(call(&peer, "Echo", text.clone()).await.expect("echo"), text);
        }
    });
    tokio::time::timeout(LIMIT, futures_util::future::join_all(calls)).await.expect("all are answered");
}
