//! Outputs that are too large for a report go to the object store through the scheduler, before the report names them.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_records::payload::{Digest, PayloadRef};
use toolplane_results::outputs::Body;
use toolplane_runtime::client::Backoff;

use crate::messages::Lease;
use crate::schedulers::Schedulers;
use crate::wire::{ReadBounds, SchedulerClient, UploadError};
use crate::worker::Introduction;

/// Longest single attempt without a word from the scheduler, for the smallest output.
const ATTEMPT: Duration = Duration::from_secs(10);

/// One output to keep.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Which output, e.g. `stdout`.
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) body: Body,
}

/// Uploads over a connection of their own, so that large outputs do not hold up the renewal of leases.
#[derive(Debug)]
pub(crate) struct Uploader {
    schedulers: Schedulers,
    introduction: Arc<Introduction>,
    bounds: ReadBounds,
    /// The newest connection, and where it leads.
    client: Mutex<Option<(String, SchedulerClient)>>,
}

impl Uploader {
    /// Uploads of this start of the worker.
    pub(crate) fn new(schedulers: Schedulers, introduction: Arc<Introduction>, bounds: ReadBounds) -> Self {
        Self { schedulers, introduction, bounds, client: Mutex::default() }
    }

    /// Keeps an output; when this returns it is durable. Tries again, at every scheduler there is, until `give_up_at`.
    pub(crate) async fn keep(
        &self,
        lease: &Lease,
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
            let (invocation_id, name) = (&lease.invocation_id, &output.name);
            tracing::debug!(%invocation_id, output = name, %error, "upload failed; trying again");
            tokio::time::sleep(wait).await;
        }
    }

    async fn once(&self, lease: &Lease, output: &Output, tried: usize) -> Result<PayloadRef, UploadError> {
        let mut client = self.client(&self.schedulers.after_current(tried))?;
        let Output { name, media_type, body } = output;
        let (size, digest) = match body {
            Body::Held(bytes) => (bytes.len() as u64, Digest::of(bytes)),
            Body::File(file) => (file.size_bytes, file.digest),
        };
        // A slow link still gets through: one more second for every MiB.
        let limit = ATTEMPT + Duration::from_secs(size / (1024 * 1024));
        let kept = client.upload(&self.introduction.identity, lease, name, media_type, body);
        let kept = tokio::time::timeout(limit, kept).await;
        let payload = kept.map_err(|_| UploadError::GaveUp("the scheduler did not answer".to_owned()))??;
        // The reference must prove exactly the bytes that were sent.
        if payload.digest != digest || payload.size_bytes != size {
            return Err(UploadError::GaveUp("other bytes were kept than were sent".to_owned()));
        }
        Ok(payload)
    }

    fn client(&self, url: &str) -> Result<SchedulerClient, UploadError> {
        let mut client = self.client.lock();
        if let Some((_, client)) = client.as_ref().filter(|(to, _)| to == url) {
            return Ok(client.clone());
        }
        let peer = self.schedulers.connect(url).map_err(|error| UploadError::GaveUp(error.to_string()))?;
        let (_, client) = client.insert((url.to_owned(), SchedulerClient::new(peer, self.bounds)));
        Ok(client.clone())
    }
}
