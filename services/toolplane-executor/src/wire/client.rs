//! A connection to one scheduler, with methods that take and give what this crate thinks in.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use tokio_util::io::ReaderStream;
use tonic::{Code, Request, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::upload_payload_request::Part;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_records::payload::PayloadRef;
use toolplane_results::outputs::Body;
use toolplane_runtime::client::Peer;
use toolplane_runtime::status::describe;
use toolplane_runtime::telemetry::Instrument as _;
use toolplane_runtime::typed;

use super::fields::{ReadBounds, lease, lease_ref, lease_refs};
use super::{command, report};
use crate::messages::{Lease, SchedulerCommand, WorkerReport};
use crate::worker::{Identity, PREVIOUS_INCARNATION_DEAD};

/// Bytes of one chunk of an upload.
const CHUNK: usize = 256 * 1024;

/// Why a scheduler does not answer; for the log.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoAnswer(pub(crate) String);

impl From<&tonic::Status> for NoAnswer {
    fn from(status: &tonic::Status) -> Self {
        Self(describe(status).to_string())
    }
}

/// An upload that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    /// Nothing in the remaining time could change the answer.
    #[error("refused: {0}")]
    Refused(String),
    /// It was tried for as long as it may be.
    #[error("gave up: {0}")]
    GaveUp(String),
}

/// What happened to the leases a heartbeat named: those not named here are renewed.
#[derive(Debug, Default)]
pub(crate) struct Renewals {
    /// No longer this worker's.
    pub(crate) lost: Vec<Lease>,
    /// Neither renewed nor lost.
    pub(crate) unsure: Vec<Lease>,
    /// What else the scheduler wants.
    pub(crate) commands: Vec<SchedulerCommand>,
    /// How long a renewed lease lasts, when that is said.
    pub(crate) lease: Option<Duration>,
}

/// A scheduler's answer to a heartbeat.
#[derive(Debug)]
pub(crate) enum HeartbeatAnswer {
    /// It knows heartbeats of their own.
    Renewed(Renewals),
    /// It is of an older version: the heartbeats of the stream renew the leases.
    Unknown,
}

/// A client of one scheduler. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SchedulerClient {
    client: WorkerServiceClient<Peer>,
    /// The scheduler is in this process.
    inside: bool,
    bounds: ReadBounds,
}

impl SchedulerClient {
    pub(crate) fn new(peer: Peer, bounds: ReadBounds) -> Self {
        // One message may carry an offer for every slot, each with an input of its own.
        let max_bytes = bounds.max_input_bytes.saturating_mul(16);
        let inside = peer.is_inside();
        Self { client: WorkerServiceClient::new(peer).max_decoding_message_size(max_bytes), inside, bounds }
    }

    /// Opens the stream: `reports` out, commands in.
    pub(crate) async fn work(
        mut self,
        reports: impl Stream<Item = Vec<WorkerReport>> + Send + 'static,
    ) -> Result<CommandStream, NoAnswer> {
        let reports = reports.map(report::request);
        if !self.inside {
            let body = self.client.work(reports).await.map_err(|status| NoAnswer::from(&status))?.into_inner();
            return Ok(CommandStream { body, typed: None, bounds: self.bounds });
        }
        let mut request = Request::new(tokio_stream::pending());
        let commands = typed::offer(&mut request, Box::pin(reports.map(Ok)));
        let body = self.client.work(request).await.map_err(|status| NoAnswer::from(&status))?.into_inner();
        let typed = commands.said().await.ok_or_else(|| NoAnswer("it knows no typed streams".to_owned()))?;
        Ok(CommandStream { body, typed: Some(typed), bounds: self.bounds })
    }

    /// Renews `leases` of `worker`.
    pub(crate) async fn heartbeat(&mut self, worker: &Identity, leases: &[Lease]) -> Result<HeartbeatAnswer, NoAnswer> {
        let request = v1::HeartbeatRequest {
            worker_id: worker.worker_id.to_string(),
            incarnation: worker.incarnation.clone(),
            leases: lease_refs(leases),
            previous_incarnation_dead: PREVIOUS_INCARNATION_DEAD,
        };
        // A heartbeat belongs to no trace.
        match self.client.heartbeat(request).untraced().await {
            Ok(answer) => Ok(HeartbeatAnswer::Renewed(renewals(answer.into_inner(), self.bounds))),
            Err(status) if status.code() == Code::Unimplemented => Ok(HeartbeatAnswer::Unknown),
            Err(status) => Err(NoAnswer::from(&status)),
        }
    }

    /// Keeps `bytes`; when this returns they are durable. The reference is what the scheduler said; it is still to be
    /// checked.
    pub(crate) async fn upload(
        &mut self,
        worker: &Identity,
        lease: &Lease,
        name: &str,
        media_type: &str,
        body: &Body,
    ) -> Result<PayloadRef, UploadError> {
        let header = v1::UploadHeader {
            lease: Some(lease_ref(lease)),
            media_type: media_type.to_owned(),
            name: name.to_owned(),
            worker_id: worker.worker_id.to_string(),
            incarnation: worker.incarnation.clone(),
            previous_incarnation_dead: PREVIOUS_INCARNATION_DEAD,
        };
        let chunks = match body {
            Body::Held(bytes) => held(bytes.clone()),
            Body::File(file) => read(&file.path).await.map_err(unreadable)?,
        };
        let answer = self.client.upload_payload(UploadParts::new(header, chunks)).await;
        let payload = answer.map_err(|status| failure(&status))?.into_inner().payload;
        let payload = payload.ok_or_else(|| UploadError::GaveUp("the answer has no reference".to_owned()))?;
        PayloadRef::try_from(payload).map_err(|error| UploadError::GaveUp(error.to_string()))
    }
}

/// The parts of an upload. A type of its own: of a boxed stream inside a larger future the compiler forgets that it borrows nothing.
struct UploadParts(BoxStream<'static, Option<Part>>);

impl UploadParts {
    fn new(header: v1::UploadHeader, chunks: Self) -> Self {
        Self(tokio_stream::once(Some(Part::Header(header))).chain(chunks.0).boxed())
    }
}

impl Stream for UploadParts {
    type Item = v1::UploadPayloadRequest;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context).map(|part| part.map(|part| v1::UploadPayloadRequest { part }))
    }
}

fn held(bytes: Bytes) -> UploadParts {
    let chunks = tokio_stream::iter((0..bytes.len()).step_by(CHUNK).map(move |at| {
        let end = bytes.len().min(at + CHUNK);
        Some(Part::Chunk(bytes.slice(at..end)))
    }));
    UploadParts(chunks.boxed())
}

/// The file in pieces. A message without a part, which no scheduler takes, ends the upload where the file cannot be read on.
async fn read(path: &Path) -> io::Result<UploadParts> {
    let file = tokio::fs::File::open(path).await?;
    let chunks = ReaderStream::with_capacity(file, CHUNK).map(|piece| {
        let piece = piece.inspect_err(|error| tracing::warn!(%error, "an output on disk cannot be read on"));
        piece.ok().map(Part::Chunk)
    });
    Ok(UploadParts(chunks.boxed()))
}

fn unreadable(error: io::Error) -> UploadError {
    UploadError::Refused(format!("the output on disk cannot be read: {error}"))
}

fn failure(status: &tonic::Status) -> UploadError {
    let text = format!("{:?}: {}", status.code(), status.message());
    match status.code() {
        Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::Unauthenticated
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange
        | Code::Unimplemented => UploadError::Refused(text),
        _ => UploadError::GaveUp(text),
    }
}

fn renewals(answer: v1::HeartbeatResponse, bounds: ReadBounds) -> Renewals {
    let leases = |messages: Vec<v1::LeaseRef>| {
        messages.iter().filter_map(|message| command::readable(lease(Some(message)))).collect()
    };
    let cancels = answer.cancels.iter().map(command::cancel);
    let answers = answer.inputs.into_iter().map(|input| command::answer(input, bounds));
    Renewals {
        lost: leases(answer.fenced),
        unsure: leases(answer.unsure),
        commands: cancels.chain(answers).filter_map(command::readable).collect(),
        lease: command::positive_ms(answer.lease_ms),
    }
}

/// The commands of a stream, as they come.
pub(crate) struct CommandStream {
    /// What comes over the wire.
    body: Streaming<v1::WorkResponse>,
    /// What a scheduler of this process says; then the body only tells the end.
    typed: Option<typed::Messages<v1::WorkResponse>>,
    bounds: ReadBounds,
}

impl CommandStream {
    /// The commands of the next message; none when the scheduler ended the stream in order.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<SchedulerCommand>>, NoAnswer> {
        let message = match &mut self.typed {
            None => self.body.message().await,
            Some(typed) => tokio::select! {
                biased;
                Some(message) = typed.next() => message.map(Some),
                end = self.body.message() => end,
            },
        };
        let message = message.map_err(|status| NoAnswer::from(&status))?;
        Ok(message.map(|message| command::commands(message.commands, self.bounds)))
    }
}
