//! `InvocationService`: each handler decodes, calls one method, and encodes.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use tonic::{Request, Response, Status};
use toolplane_proto::v1;
use toolplane_proto::v1::invocation_service_server::InvocationService;
use toolplane_records::batch::Batch;
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey};
use toolplane_records::invocation::Invocation;
use toolplane_results::PayloadStore;
use toolplane_runtime::Caller;

use super::stream_limit::{StreamLimit, holding};
use super::{follow, status};
use crate::calls::Calls;
use crate::dispatch::{Admissions, Fleet};
use crate::error::CallError;
use crate::groups::Groups;
use crate::intake::{Preparer, SpecLimits};
use crate::recheck::Approvals;
use crate::storage::RecordError;
use crate::watch::Watchers;

/// The handlers of `InvocationService`.
#[derive(Clone, Debug)]
pub(crate) struct InvocationApi {
    pub(crate) calls: Calls,
    pub(crate) admissions: Admissions,
    pub(crate) groups: Groups,
    pub(crate) fleet: Fleet,
    pub(crate) preparer: Arc<Preparer>,
    pub(crate) payloads: PayloadStore,
    pub(crate) limits: SpecLimits,
    pub(crate) approvals: Approvals,
    pub(crate) watchers: Watchers,
    pub(crate) streams: Arc<StreamLimit>,
}

/// A stream of answers.
pub(super) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Bytes of one `ReadPayload` message.
const CHUNK: usize = 256 * 1024;

impl InvocationApi {
    /// A living or ended invocation of the caller's tenant; ids of other tenants mean nothing here.
    pub(super) async fn find(&self, caller: &Caller, id: &str) -> Result<Arc<Invocation>, CallError> {
        let parsed = InvocationId::parse(id).map_err(|rule| CallError::invalid("invocation_id", rule.to_string()))?;
        let missing = || CallError::NotFound { kind: "invocation", id: id.to_owned() };
        match self.calls.records().get(&InvocationKey::new(&caller.tenant, &parsed)).await {
            Ok(record) => Ok(record),
            Err(RecordError::NotFound) => Err(missing()),
            Err(error) => Err(error.into()),
        }
    }

    /// A batch of the caller's tenant.
    pub(super) async fn find_batch(&self, caller: &Caller, id: &str) -> Result<Batch, CallError> {
        let parsed = BatchId::parse(id).map_err(|rule| CallError::invalid("batch_id", rule.to_string()))?;
        let found = self.groups.batch(&caller.tenant, &parsed).await?;
        found.ok_or_else(|| CallError::NotFound { kind: "batch", id: id.to_owned() })
    }
}

/// Runs work that must not stop half way when its caller goes away.
pub(super) async fn detached<T: Send + 'static>(
    calls: &Calls,
    work: impl Future<Output = Result<T, CallError>> + Send + 'static,
) -> Result<T, CallError> {
    let done = calls.storage().environment().detached(work).await;
    done.unwrap_or_else(|| Err(CallError::Internal("a handler panicked".to_owned())))
}

fn reply<T>(answer: Result<T, CallError>) -> Result<Response<T>, Status> {
    answer.map(Response::new).map_err(status::of)
}

#[tonic::async_trait]
impl InvocationService for InvocationApi {
    type InvokeStream = Messages<v1::InvokeResponse>;
    type WatchInvocationStream = Messages<v1::WatchInvocationResponse>;
    type ReadPayloadStream = Messages<v1::ReadPayloadResponse>;
    type InvokeBatchStream = Messages<v1::InvokeBatchResponse>;
    type WatchBatchStream = Messages<v1::WatchBatchResponse>;

    async fn invoke(&self, request: Request<v1::InvokeRequest>) -> Result<Response<Self::InvokeStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let accepted = self.accept(&caller, request.into_inner().spec).await;
        reply(accepted.map(|accepted| holding(follow::invoked(self, accepted), place)))
    }

    async fn submit_invocation(
        &self,
        request: Request<v1::SubmitInvocationRequest>,
    ) -> Result<Response<v1::SubmitInvocationResponse>, Status> {
        reply(self.submit(&Caller::of(&request), request.into_inner()).await)
    }

    async fn get_invocation(
        &self,
        request: Request<v1::GetInvocationRequest>,
    ) -> Result<Response<v1::GetInvocationResponse>, Status> {
        reply(self.show(&Caller::of(&request), request.into_inner()).await)
    }

    async fn get_result(
        &self,
        request: Request<v1::GetResultRequest>,
    ) -> Result<Response<v1::GetResultResponse>, Status> {
        reply(self.show_result(&Caller::of(&request), request.into_inner()).await)
    }

    async fn wait_invocation(
        &self,
        request: Request<v1::WaitInvocationRequest>,
    ) -> Result<Response<v1::WaitInvocationResponse>, Status> {
        let caller = Caller::of(&request);
        let _place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        reply(self.wait(&caller, request.into_inner()).await)
    }

    async fn watch_invocation(
        &self,
        request: Request<v1::WatchInvocationRequest>,
    ) -> Result<Response<Self::WatchInvocationStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let watched = self.watch(&caller, request.into_inner()).await;
        reply(watched.map(|messages| holding(messages, place)))
    }

    async fn cancel_invocation(
        &self,
        request: Request<v1::CancelInvocationRequest>,
    ) -> Result<Response<v1::CancelInvocationResponse>, Status> {
        let (api, caller, request) = (self.clone(), Caller::of(&request), request.into_inner());
        reply(detached(&self.calls, async move { api.cancel(&caller, request).await }).await)
    }

    async fn list_invocations(
        &self,
        request: Request<v1::ListInvocationsRequest>,
    ) -> Result<Response<v1::ListInvocationsResponse>, Status> {
        reply(self.list(&Caller::of(&request), request.into_inner()).await)
    }

    async fn read_payload(
        &self,
        request: Request<v1::ReadPayloadRequest>,
    ) -> Result<Response<Self::ReadPayloadStream>, Status> {
        let caller = Caller::of(&request);
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&caller, &request.invocation_id).await?;
            super::payload::read(self.calls.records(), &self.payloads, &caller, &record, &request, CHUNK).await
        };
        reply(answer.await)
    }

    async fn get_persistence(
        &self,
        request: Request<v1::GetPersistenceRequest>,
    ) -> Result<Response<v1::GetPersistenceResponse>, Status> {
        reply(self.show_persistence(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_mutations(
        &self,
        request: Request<v1::ListMutationsRequest>,
    ) -> Result<Response<v1::ListMutationsResponse>, Status> {
        reply(self.mutations(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_decisions(
        &self,
        request: Request<v1::ListDecisionsRequest>,
    ) -> Result<Response<v1::ListDecisionsResponse>, Status> {
        reply(self.decisions(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_hooks(
        &self,
        request: Request<v1::ListHooksRequest>,
    ) -> Result<Response<v1::ListHooksResponse>, Status> {
        reply(self.hooks(&Caller::of(&request), request.into_inner()).await)
    }

    async fn explain_invocation(
        &self,
        request: Request<v1::ExplainInvocationRequest>,
    ) -> Result<Response<v1::ExplainInvocationResponse>, Status> {
        reply(self.explain(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_workers(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        reply(self.workers(&Caller::of(&request), request.into_inner()).await)
    }

    async fn provide_input(
        &self,
        request: Request<v1::ProvideInputRequest>,
    ) -> Result<Response<v1::ProvideInputResponse>, Status> {
        let (api, caller, request) = (self.clone(), Caller::of(&request), request.into_inner());
        reply(detached(&self.calls, async move { api.answer(&caller, request).await }).await)
    }

    async fn submit_batch(
        &self,
        request: Request<v1::SubmitBatchRequest>,
    ) -> Result<Response<v1::SubmitBatchResponse>, Status> {
        reply(self.submit_batch_of(&Caller::of(&request), request.into_inner()).await)
    }

    async fn invoke_batch(
        &self,
        request: Request<v1::InvokeBatchRequest>,
    ) -> Result<Response<Self::InvokeBatchStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let accepted = self.accept_batch(&caller, request.into_inner().spec).await;
        reply(accepted.map(|accepted| holding(follow::batch_invoked(self, accepted), place)))
    }

    async fn get_batch(&self, request: Request<v1::GetBatchRequest>) -> Result<Response<v1::GetBatchResponse>, Status> {
        let batch = self.find_batch(&Caller::of(&request), &request.get_ref().batch_id).await;
        reply(batch.map(|batch| v1::GetBatchResponse { batch: Some((&batch).into()) }))
    }

    async fn watch_batch(
        &self,
        request: Request<v1::WatchBatchRequest>,
    ) -> Result<Response<Self::WatchBatchStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let watched = self.watch_batch_from(&caller, request.into_inner()).await;
        reply(watched.map(|messages| holding(messages, place)))
    }

    async fn cancel_batch(
        &self,
        request: Request<v1::CancelBatchRequest>,
    ) -> Result<Response<v1::CancelBatchResponse>, Status> {
        let (api, caller, request) = (self.clone(), Caller::of(&request), request.into_inner());
        reply(detached(&self.calls, async move { api.cancel_all(&caller, request).await }).await)
    }

    async fn list_batches(
        &self,
        request: Request<v1::ListBatchesRequest>,
    ) -> Result<Response<v1::ListBatchesResponse>, Status> {
        reply(self.batches(&Caller::of(&request), request.into_inner()).await)
    }
}
