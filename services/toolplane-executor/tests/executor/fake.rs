//! A scheduler that does what a test tells it, over real gRPC.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Request, Response, Status, Streaming};
use toolplane_proto::v1::upload_payload_request::Part;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::worker_service_server::{WorkerService, WorkerServiceServer};
use toolplane_proto::v1::{
    DoneAcknowledged, ExecutionDone, ExecutionOutcome, HeartbeatRequest, HeartbeatResponse, LeaseRef, PayloadRef,
    UploadPayloadRequest, UploadPayloadResponse, Welcome, WorkRequest, WorkResponse, WorkerCommand, WorkerHello,
};
use toolplane_records::payload::Digest;

/// How long a test waits for something that must happen. Long, because machines are slow and busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);
pub(crate) const HEARTBEAT_MS: u32 = 50;
pub(crate) const MAX_INLINE: u64 = 4096;
/// Usual terms.
pub(crate) const TERMS: Welcome = Welcome { heartbeat_ms: HEARTBEAT_MS, lease_ms: 900, max_inline_bytes: MAX_INLINE };

type Commands = mpsc::UnboundedSender<Result<WorkResponse, Status>>;

/// What was uploaded, and how many uploads are to fail first.
#[derive(Default)]
pub(crate) struct Uploads {
    pub(crate) kept: Mutex<HashMap<String, Bytes>>,
    pub(crate) failures: AtomicU32,
    pub(crate) refuse: AtomicBool,
    /// Uploads are taken and never answered.
    pub(crate) hang: AtomicBool,
    /// Rings when one begins.
    pub(crate) begun: Notify,
}

/// The heartbeats that were heard, and how they are answered.
#[derive(Default)]
pub(crate) struct Beats {
    pub(crate) heard: Mutex<Vec<HeartbeatRequest>>,
    /// What the next ones are answered.
    pub(crate) answer: Mutex<HeartbeatResponse>,
    /// None is answered.
    pub(crate) away: AtomicBool,
    /// No part of this fake knows heartbeats.
    pub(crate) unknown: AtomicBool,
    rung: Notify,
}

impl Beats {
    fn take(&self, request: HeartbeatRequest) -> Result<HeartbeatResponse, Status> {
        if self.away.load(Ordering::SeqCst) {
            return Err(Status::unavailable("not now"));
        }
        if self.unknown.load(Ordering::SeqCst) {
            return Err(Status::unimplemented("what?"));
        }
        self.heard.lock().unwrap().push(request);
        self.rung.notify_waiters();
        Ok(self.answer.lock().unwrap().clone())
    }

    /// Waits for a heartbeat, later than now, whose leases are as wanted.
    async fn next(&self, what: &str, wanted: impl Fn(&[LeaseRef]) -> bool) {
        let from = self.heard.lock().unwrap().len();
        let search = async {
            loop {
                let rung = self.rung.notified();
                if self.heard.lock().unwrap()[from..].iter().any(|beat| wanted(&beat.leases)) {
                    return;
                }
                rung.await;
            }
        };
        tokio::time::timeout(PATIENCE, search).await.unwrap_or_else(|_| panic!("no heartbeat {what}"));
    }

    pub(crate) async fn renews(&self, lease: &LeaseRef) {
        self.next("renews the lease", |leases| leases.contains(lease)).await;
    }

    pub(crate) async fn renews_only(&self, lease: &LeaseRef) {
        self.next("renews this lease alone", |leases| leases == std::slice::from_ref(lease)).await;
    }

    /// Waits until there has been nothing to renew for several heartbeats.
    pub(crate) async fn rest(&self) {
        let quiet = Duration::from_millis(u64::from(HEARTBEAT_MS) * 8);
        let heard = || self.heard.lock().unwrap().len();
        let rest = async {
            let mut before = heard();
            loop {
                toolplane_wait::pause(quiet, "silence is heard by nobody: it lasts").await;
                if heard() == before {
                    return;
                }
                before = heard();
            }
        };
        tokio::time::timeout(PATIENCE, rest).await.expect("the heartbeats rest");
    }
}

pub(crate) struct Fake {
    pub(crate) url: String,
    pub(crate) uploads: Arc<Uploads>,
    pub(crate) beats: Arc<Beats>,
    server: tokio::task::AbortHandle,
    connections: mpsc::UnboundedReceiver<Connection>,
}

/// One stream of the worker; dropping it breaks the stream.
pub(crate) struct Connection {
    pub(crate) hello: WorkerHello,
    reports: mpsc::UnboundedReceiver<Report>,
    commands: Commands,
}

struct Service {
    connections: mpsc::UnboundedSender<Connection>,
    uploads: Arc<Uploads>,
    beats: Arc<Beats>,
    terms: Welcome,
}

impl Fake {
    pub(crate) async fn start() -> Self {
        Self::start_with(TERMS).await
    }

    pub(crate) async fn start_with(terms: Welcome) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, connections) = mpsc::unbounded_channel();
        let (uploads, beats) = (Arc::new(Uploads::default()), Arc::new(Beats::default()));
        let service = Service { connections: sender, uploads: uploads.clone(), beats: beats.clone(), terms };
        let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
        let service = WorkerServiceServer::new(service);
        let server = tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming);
        Self { url, uploads, beats, server: tokio::spawn(server).abort_handle(), connections }
    }

    /// This address is not listened on any more; open connections stay.
    pub(crate) fn close(&self) {
        self.server.abort();
    }

    /// The next stream of the worker.
    pub(crate) async fn connection(&mut self) -> Connection {
        tokio::time::timeout(PATIENCE, self.connections.recv()).await.expect("the worker connects").unwrap()
    }
}

impl Connection {
    pub(crate) fn send(&self, command: Command) {
        let command = WorkerCommand { command: Some(command) };
        let _ = self.commands.send(Ok(WorkResponse { commands: vec![command] }));
    }

    /// Every report from now on that `wanted` wants, until the first one; all others are dropped.
    pub(crate) async fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(&Report) -> Option<T>) -> T {
        let search = async {
            while let Some(report) = self.reports.recv().await {
                if let Some(found) = wanted(&report) {
                    return found;
                }
            }
            panic!("the stream ended while waiting for {what}");
        };
        tokio::time::timeout(PATIENCE, search).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
    }

    /// The end of a call, not acknowledged.
    pub(crate) async fn done(&mut self, lease: &LeaseRef) -> ExecutionOutcome {
        let found = self.until("a done", |report| match report {
            Report::Done(ExecutionDone { lease: Some(of), outcome }) if of == lease => Some(outcome.clone()),
            _ => None,
        });
        *found.await.expect("a done has an outcome")
    }

    pub(crate) fn acknowledge(&self, lease: &LeaseRef) {
        self.send(Command::DoneAcknowledged(DoneAcknowledged { lease: Some(lease.clone()) }));
    }

    /// Everything said within `time`.
    pub(crate) async fn listen(&mut self, time: Duration) -> Vec<Report> {
        let mut heard = Vec::new();
        let _ = tokio::time::timeout(time, async {
            while let Some(report) = self.reports.recv().await {
                heard.push(report);
            }
        })
        .await;
        heard
    }

    /// Waits for the worker to end the stream.
    pub(crate) async fn closed(&mut self) {
        let end = async { while self.reports.recv().await.is_some() {} };
        tokio::time::timeout(PATIENCE, end).await.expect("the worker ends the stream");
    }
}

#[tonic::async_trait]
impl WorkerService for Service {
    type WorkStream = UnboundedReceiverStream<Result<WorkResponse, Status>>;

    async fn work(&self, request: Request<Streaming<WorkRequest>>) -> Result<Response<Self::WorkStream>, Status> {
        let mut stream = request.into_inner();
        let first = stream.message().await?.ok_or_else(|| Status::invalid_argument("no hello"))?;
        let mut first = first.reports.into_iter().filter_map(|report| report.report);
        let Some(Report::Hello(hello)) = first.next() else { return Err(Status::invalid_argument("no hello first")) };
        let (commands, out) = mpsc::unbounded_channel();
        let (heard, reports) = mpsc::unbounded_channel();
        let connection = Connection { hello, reports, commands };
        connection.send(Command::Welcome(self.terms));
        first.for_each(|report| drop(heard.send(report)));
        tokio::spawn(async move {
            while let Ok(Some(request)) = stream.message().await {
                for report in request.reports.into_iter().filter_map(|report| report.report) {
                    if heard.send(report).is_err() {
                        return;
                    }
                }
            }
        });
        let _ = self.connections.send(connection);
        Ok(Response::new(UnboundedReceiverStream::new(out)))
    }

    async fn heartbeat(&self, request: Request<HeartbeatRequest>) -> Result<Response<HeartbeatResponse>, Status> {
        self.beats.take(request.into_inner()).map(Response::new)
    }

    async fn upload_payload(
        &self,
        request: Request<Streaming<UploadPayloadRequest>>,
    ) -> Result<Response<UploadPayloadResponse>, Status> {
        self.uploads.begun.notify_one();
        if self.uploads.hang.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.uploads.refuse.load(Ordering::SeqCst) {
            return Err(Status::failed_precondition("the object store is full"));
        }
        let mut stream = request.into_inner();
        let Some(Part::Header(header)) = stream.message().await?.and_then(|first| first.part) else {
            return Err(Status::invalid_argument("no header first"));
        };
        let mut bytes = BytesMut::new();
        while let Some(part) = stream.message().await? {
            let Some(Part::Chunk(chunk)) = part.part else { return Err(Status::invalid_argument("not a chunk")) };
            assert!(chunk.len() <= 256 * 1024, "a chunk of {} bytes", chunk.len());
            bytes.extend_from_slice(&chunk);
        }
        if self.uploads.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            return Err(Status::unavailable("not now"));
        }
        let bytes = bytes.freeze();
        let payload = PayloadRef {
            uri: format!("toolplane://payloads/{}", header.name),
            media_type: header.media_type,
            digest: Digest::of(&bytes).to_string(),
            size_bytes: bytes.len() as u64,
        };
        self.uploads.kept.lock().unwrap().insert(header.name, bytes);
        Ok(Response::new(UploadPayloadResponse { payload: Some(payload) }))
    }
}
