//! `WorkerService`.

use futures_util::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};
use toolplane_faultpoint::{Mutant, mutant};
use toolplane_lifecycle::LeaseKey;
use toolplane_proto::v1;
use toolplane_proto::v1::upload_payload_request::Part;
use toolplane_proto::v1::worker_service_server::WorkerService;
use toolplane_results::PayloadStore;
use toolplane_results::payload::PayloadOrigin;
use toolplane_runtime::server::ConnectionLife;
use toolplane_runtime::typed::{self, Messages};
use toolplane_runtime::{Caller, Shutdown};

use super::beat;
use super::session::Session;
use super::speaker::Said;
use super::status;
use super::wire;
use super::worker_parts::WorkerParts;
use crate::error::CallError;

/// Commands packed into one message when several are ready.
const BATCH: usize = 64;

/// The handlers of `WorkerService`.
#[derive(Clone, Debug)]
pub(crate) struct WorkerApi {
    pub(crate) parts: WorkerParts,
    pub(crate) payloads: PayloadStore,
    pub(crate) shutdown: Shutdown,
}

impl WorkerApi {
    /// The lease an upload is made under, as the uploading worker has it.
    async fn uploaded_under(&self, caller: &Caller, header: &v1::UploadHeader) -> Result<LeaseKey, CallError> {
        let said = Said {
            within: "header.",
            worker_id: &header.worker_id,
            incarnation: &header.incarnation,
            lease_id: header.lease.as_ref().map(|lease| lease.lease_id.as_str()),
            for_earlier: header.previous_incarnation_dead,
        };
        let holder = said.holder(&self.parts.fleet, caller).await?;
        wire::lease_key(header.lease.clone(), &holder).map_err(CallError::of_field)
    }

    /// Hears a worker's reports until they end; gives what it is told.
    async fn serve<R>(&self, mut reports: R, caller: &Caller, life: ConnectionLife) -> Result<Commands, Status>
    where
        R: Stream<Item = Result<v1::WorkRequest, Status>> + Send + Unpin + 'static,
    {
        let Some(first) = reports.next().await.transpose()? else {
            return Err(status::of(CallError::invalid("reports", "must begin with a hello")));
        };
        let (session, messages) = Session::open(self.parts.clone(), caller, first).await.map_err(status::of)?;
        let shutdown = self.shutdown.clone();
        self.parts.calls.storage().environment().spawn(session.run(reports, shutdown, life));
        let commands = tokio_stream::wrappers::UnboundedReceiverStream::new(messages)
            .ready_chunks(BATCH)
            .map(|messages| Ok(v1::WorkResponse { commands: messages.into_iter().map(wire::command).collect() }));
        let welcome = futures_util::stream::iter([Ok(self.parts.terms.welcome())]);
        Ok(Box::pin(welcome.chain(commands)))
    }
}

type Commands = Messages<v1::WorkResponse>;

#[tonic::async_trait]
impl WorkerService for WorkerApi {
    type WorkStream = Commands;

    async fn work(&self, request: Request<Streaming<v1::WorkRequest>>) -> Result<Response<Self::WorkStream>, Status> {
        let (life, caller) = (ConnectionLife::of(&request), Caller::of(&request));
        Ok(Response::new(match typed::take::<v1::WorkRequest, v1::WorkResponse, _>(&request) {
            Some((reports, worker)) => worker.say(self.serve(reports, &caller, life).await?),
            None => self.serve(request.into_inner(), &caller, life).await?,
        }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let answer = beat::answer(&self.parts, &Caller::of(&request), request.into_inner()).await;
        answer.map(Response::new).map_err(status::of)
    }

    async fn upload_payload(
        &self,
        request: Request<Streaming<v1::UploadPayloadRequest>>,
    ) -> Result<Response<v1::UploadPayloadResponse>, Status> {
        let caller = Caller::of(&request);
        let mut parts = request.into_inner();
        let header = match parts.message().await?.and_then(|first| first.part) {
            Some(Part::Header(header)) => header,
            _ => return Err(status::of(CallError::invalid("part", "must begin with a header"))),
        };
        let lease = self.uploaded_under(&caller, &header).await.map_err(status::of)?;
        let record = self.parts.calls.leased(&lease).await.map_err(|error| status::of(error.into()))?;
        let origin = PayloadOrigin {
            tenant: record.tenant.clone(),
            invocation_id: record.invocation_id.clone(),
            lease_no: lease.lease_no,
            media_type: header.media_type,
            made_at: self.parts.calls.now().await.map_err(|error| status::of(error.into()))?,
        };
        let chunks = parts.map(|part| match part?.part {
            Some(Part::Chunk(chunk)) => Ok(chunk),
            _ => Err(Status::invalid_argument("a second header in one upload")),
        });
        // A mutant keeps the bytes where they are lost.
        let lost = mutant(Mutant::RecordBeforePayload).then(|| PayloadStore::in_memory(Default::default()));
        let kept = lost.as_ref().unwrap_or(&self.payloads).put_stream(origin, chunks).await;
        let kept = kept.map_err(|error| status::of(CallError::Upload(error)))?;
        Ok(Response::new(v1::UploadPayloadResponse { payload: Some((&kept).into()) }))
    }
}
