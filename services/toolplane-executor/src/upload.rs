//! Outputs that are too large for a report go to the object store through the scheduler, before the report names them.

use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::time::Instant;
use tonic::Code;
use toolplane_proto::v1::upload_payload_request::Part;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_proto::v1::{LeaseRef, UploadHeader, UploadPayloadRequest};
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_runtime::client::{Backoff, Peer};

use crate::identity::{Identity, PREVIOUS_INCARNATION_DEAD};
use crate::schedulers::Schedulers;

/// Bytes of one chunk.
const CHUNK: usize = 256 * 1024;
/// Longest single attempt without a word from the scheduler, for the smallest output.
const ATTEMPT: Duration = Duration::from_secs(10);

/// One output to keep.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Which output, e.g. `stdout`.
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) bytes: Bytes,
}

/// An output was not kept. The tool's effect is done all the same.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    /// Nothing in the remaining time could change the answer.
    #[error("refused: {0}")]
    Refused(String),
    /// It was tried for as long as it may be.
    #[error("gave up: {0}")]
    GaveUp(String),
}

/// Uploads over a connection of their own, so that large outputs do not hold up the renewal of leases.
#[derive(Debug)]
pub(crate) struct Uploader {
    schedulers: Schedulers,
    worker_id: String,
    incarnation: String,
    /// The newest connection, and where it leads.
    client: Mutex<Option<(String, WorkerServiceClient<Peer>)>>,
}

impl Uploader {
    /// Uploads of this start of the worker.
    pub(crate) fn new(schedulers: Schedulers, identity: &Identity) -> Self {
        let (worker_id, incarnation) = (identity.worker_id.to_string(), identity.incarnation.clone());
        Self { schedulers, worker_id, incarnation, client: Mutex::default() }
    }

    /// Keeps an output; when this returns it is durable. Tries again, at every scheduler there is, until `give_up_at`.
    pub(crate) async fn keep(
        &self,
        lease: &LeaseRef,
        output: Output,
        give_up_at: Instant,
    ) -> Result<PayloadRef, UploadError> {
        let mut tried = 0;
        loop {
            let error = match self.once(lease, &output, tried).await {
                Ok(payload) => return Ok(payload),
                Err(error) => error,
            };
            if let UploadError::Refused(_) = error {
                return Err(error);
            }
            tried += 1;
            let round = tried / self.schedulers.count().max(1);
            let wait = Backoff::default().wait(u32::try_from(round).unwrap_or(u32::MAX), None);
            if Instant::now() + wait >= give_up_at {
                return Err(error);
            }
            let name = &output.name;
            tracing::debug!(invocation_id = lease.invocation_id, output = name, %error, "upload failed; trying again");
            tokio::time::sleep(wait).await;
        }
    }

    async fn once(&self, lease: &LeaseRef, output: &Output, tried: usize) -> Result<PayloadRef, UploadError> {
        let mut client = self.client(&self.schedulers.after_current(tried))?;
        let header = UploadHeader {
            lease: Some(lease.clone()),
            media_type: output.media_type.clone(),
            name: output.name.clone(),
            worker_id: self.worker_id.clone(),
            incarnation: self.incarnation.clone(),
            previous_incarnation_dead: PREVIOUS_INCARNATION_DEAD,
        };
        let bytes = output.bytes.clone();
        let chunks = (0..bytes.len()).step_by(CHUNK).map(move |at| {
            let end = bytes.len().min(at + CHUNK);
            Part::Chunk(bytes.slice(at..end))
        });
        let parts = std::iter::once(Part::Header(header)).chain(chunks);
        let parts = parts.map(|part| UploadPayloadRequest { part: Some(part) });
        // A slow link still gets through: one more second for every MiB.
        let limit = ATTEMPT + Duration::from_secs(output.bytes.len() as u64 / (1024 * 1024));
        let answer = tokio::time::timeout(limit, client.upload_payload(tokio_stream::iter(parts))).await;
        let answer = answer.map_err(|_| UploadError::GaveUp("the scheduler did not answer".to_owned()))?;
        let payload = answer.map_err(|status| failure(&status))?.into_inner().payload;
        proved(payload, &output.bytes)
    }

    fn client(&self, url: &str) -> Result<WorkerServiceClient<Peer>, UploadError> {
        let mut client = self.client.lock();
        if let Some((_, client)) = client.as_ref().filter(|(to, _)| to == url) {
            return Ok(client.clone());
        }
        let peer = self.schedulers.connect(url).map_err(UploadError::GaveUp)?;
        let (_, client) = client.insert((url.to_owned(), WorkerServiceClient::new(peer)));
        Ok(client.clone())
    }
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

/// The reference must prove the very bytes that were sent.
fn proved(payload: Option<toolplane_proto::v1::PayloadRef>, bytes: &Bytes) -> Result<PayloadRef, UploadError> {
    let payload = payload.ok_or_else(|| UploadError::GaveUp("the answer has no reference".to_owned()))?;
    let payload = PayloadRef::try_from(payload).map_err(|error| UploadError::GaveUp(error.to_string()))?;
    if payload.digest != Digest::of(bytes) || payload.size_bytes != bytes.len() as u64 {
        return Err(UploadError::GaveUp("other bytes were kept than were sent".to_owned()));
    }
    Ok(payload)
}
