//! The least a gRPC call can cost here: a unary method that answers with its request, in a process of its own.

use std::convert::Infallible;
use std::future::Ready;
use std::net::Ipv4Addr;
use std::process::Command;
use std::task::{Context, Poll};
use std::time::Duration;

use http::uri::PathAndQuery;
use tonic::body::Body;
use tonic::server::{NamedService, UnaryService};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use toolplane_proto::v1::JsonPayload;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::process::Process;
use toolplane_testkit::{Problem, binary, ports};

/// The one method.
const METHOD: &str = "/bench.Echo/Call";

/// A running echo server.
#[derive(Debug)]
pub(crate) struct Server {
    clients: Clients,
    process: Process,
}

/// Calls an echo server.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    channel: Channel,
}

impl Server {
    /// Starts this program again as the server, and waits until it answers.
    pub(crate) async fn start() -> Result<Self, Problem> {
        let port = ports::free();
        let program =
            std::env::current_exe().map_err(|source| Problem::File { path: "this program".into(), source })?;
        let folder = binary::target().join("bench");
        std::fs::create_dir_all(&folder).map_err(|source| Problem::File { path: folder.clone(), source })?;
        let mut command = Command::new(program);
        command.arg("echo-server").arg(port.to_string());
        let mut process = Process::start("the echo server", &mut command, &folder.join("echo.log"))?;
        let clients = Clients::of(&format!("http://127.0.0.1:{port}"))?;
        let caller = Caller { channel: clients.channel() };
        for _ in 0..200 {
            process.expect_running()?;
            if caller.clone().call(b"{}").await.is_ok() {
                return Ok(Self { clients, process });
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        Err(Problem::Missing(format!("an echo server that answers: {}", process.log_tail())))
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// A caller on the one connection.
    pub(crate) fn caller(&self) -> Caller {
        Caller { channel: self.clients.channel() }
    }
}

impl Caller {
    /// One call; the answer must be the request.
    pub(crate) async fn call(self, input: &'static [u8]) -> Result<(), Problem> {
        let mut client = tonic::client::Grpc::new(self.channel);
        client.ready().await?;
        let sent = payload(input);
        let path = PathAndQuery::from_static(METHOD);
        let codec = ProstCodec::<JsonPayload, JsonPayload>::default();
        let answer = client.unary(Request::new(sent.clone()), path, codec).await?;
        if answer.get_ref() == &sent { Ok(()) } else { Err(Problem::Missing("the same bytes back".to_owned())) }
    }
}

/// Serves until the process is killed.
pub(crate) async fn serve(port: u16) -> Result<(), Problem> {
    toolplane_allocations::answer().map_err(|error| Problem::Program {
        what: "answering how often the echo allocates".to_owned(),
        said: error.to_string(),
    })?;
    let address = (Ipv4Addr::LOCALHOST, port).into();
    tonic::transport::Server::builder().tcp_nodelay(true).add_service(Echo).serve(address).await?;
    Ok(())
}

#[derive(Clone, Debug)]
struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "bench.Echo";
}

impl UnaryService<JsonPayload> for Echo {
    type Response = JsonPayload;
    type Future = Ready<Result<Response<JsonPayload>, Status>>;

    fn call(&mut self, request: Request<JsonPayload>) -> Self::Future {
        std::future::ready(Ok(Response::new(request.into_inner())))
    }
}

type Answer = std::pin::Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

impl tower::Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Answer {
        Box::pin(async move {
            let codec = ProstCodec::<JsonPayload, JsonPayload>::default();
            Ok(tonic::server::Grpc::new(codec).unary(Self, request).await)
        })
    }
}
