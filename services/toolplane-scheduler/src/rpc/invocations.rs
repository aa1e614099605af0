//! `InvocationService`: each method is one call of the handlers it belongs to.
//!
//! The server runs each request in a task of its own, to its end: a caller that goes away stops no commit half way.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use toolplane_proto::v1;
use toolplane_proto::v1::invocation_service_server::InvocationService;
use toolplane_results::PayloadStore;
use toolplane_runtime::Caller;

use super::accept::Accepting;
use super::answer::Answering;
use super::batches::Batches;
use super::cancel::Canceling;
use super::export::Exporting;
use super::follow::{First, Messages, until_drained};
use super::forms::Forms;
use super::keep::Keeping;
use super::list::Listing;
use super::original::OriginalReading;
use super::patience;
use super::read::Reading;
use super::status;
use super::stream_limit::{StreamLimit, StreamPlace, holding};
use super::tainted::Tainted;
use super::trails::Trails;
use crate::calls::Calls;
use crate::dispatch::{Admissions, Fleet};
use crate::error::CallError;
use crate::groups::Groups;
use crate::intake::{Preparer, SpecLimits};
use crate::keeping::{Deletions, Holds, Stays};
use crate::kept::Orphans;
use crate::originals::Originals;
use crate::recheck::Approvals;
use crate::taints::SessionTaints;
use crate::watch::Watchers;

/// What the handlers are made from.
#[derive(Debug)]
pub(crate) struct InvocationParts {
    pub(crate) calls: Calls,
    pub(crate) admissions: Admissions,
    pub(crate) groups: Groups,
    pub(crate) fleet: Fleet,
    pub(crate) preparer: Arc<Preparer>,
    pub(crate) payloads: PayloadStore,
    pub(crate) orphans: Orphans,
    pub(crate) limits: SpecLimits,
    pub(crate) export_settle_ms: i64,
    pub(crate) approvals: Approvals,
    pub(crate) watchers: Watchers,
    pub(crate) taints: SessionTaints,
    pub(crate) streams: Arc<StreamLimit>,
    pub(crate) holds: Holds,
    pub(crate) deletions: Deletions,
    pub(crate) originals: Originals,
    pub(crate) stays: Stays,
    /// This process is told to stop.
    pub(crate) drains: CancellationToken,
}

/// The handlers of `InvocationService`, each with the few things it needs.
#[derive(Clone, Debug)]
pub(crate) struct InvocationApi {
    streams: Arc<StreamLimit>,
    drains: CancellationToken,
    accepting: Accepting,
    answering: Answering,
    batches: Batches,
    canceling: Canceling,
    exporting: Exporting,
    keeping: Keeping,
    listing: Listing,
    originals: OriginalReading,
    reading: Reading,
    tainted: Tainted,
    trails: Trails,
}

impl InvocationApi {
    /// The handlers over these parts.
    pub(crate) fn new(parts: InvocationParts) -> Self {
        let InvocationParts { calls, groups, preparer, limits, approvals, watchers, drains, .. } = parts;
        let forms = Forms { calls: calls.clone(), payloads: parts.payloads.clone() };
        let accepting = Accepting {
            forms: forms.clone(),
            calls: calls.clone(),
            admissions: parts.admissions,
            preparer: Arc::clone(&preparer),
            approvals: approvals.clone(),
            watchers: watchers.clone(),
            limits,
            drains: drains.clone(),
        };
        let batches = Batches {
            calls: calls.clone(),
            groups: groups.clone(),
            preparer,
            approvals: approvals.clone(),
            forms: forms.clone(),
            limits,
        };
        Self {
            streams: parts.streams,
            drains: drains.clone(),
            accepting,
            answering: Answering { calls: calls.clone(), limits },
            batches,
            canceling: Canceling { calls: calls.clone(), approvals },
            exporting: Exporting {
                calls: calls.clone(),
                deletions: parts.deletions.clone(),
                settle_ms: parts.export_settle_ms,
            },
            keeping: Keeping { calls: calls.clone(), holds: parts.holds.clone(), deletions: parts.deletions },
            listing: Listing { calls: calls.clone(), groups, fleet: parts.fleet },
            originals: OriginalReading {
                calls: calls.clone(),
                payloads: parts.payloads.clone(),
                originals: parts.originals,
            },
            reading: Reading {
                calls: calls.clone(),
                watchers,
                payloads: parts.payloads,
                orphans: parts.orphans,
                holds: parts.holds,
                forms,
                stays: parts.stays,
                drains,
            },
            tainted: Tainted { taints: parts.taints, clock: calls.storage().clone() },
            trails: Trails { calls },
        }
    }

    /// A stream that follows calls, in its place, as long as this process is there.
    fn following<T: Send + 'static>(&self, messages: Messages<T>, first: First, place: StreamPlace) -> Messages<T> {
        holding(until_drained(messages, first, self.drains.clone()), place)
    }
}

fn reply<T>(answer: Result<T, CallError>) -> Result<Response<T>, Status> {
    answer.map(Response::new).map_err(status::of)
}

#[tonic::async_trait]
impl InvocationService for InvocationApi {
    type InvokeStream = Messages<v1::InvokeResponse>;
    type WatchInvocationStream = Messages<v1::WatchInvocationResponse>;
    type ReadPayloadStream = Messages<v1::ReadPayloadResponse>;
    type ReadOriginalStream = Messages<v1::ReadOriginalResponse>;
    type ExportRecordsStream = Messages<v1::ExportRecordsResponse>;
    type InvokeBatchStream = Messages<v1::InvokeBatchResponse>;
    type WatchBatchStream = Messages<v1::WatchBatchResponse>;

    async fn call(&self, request: Request<v1::CallRequest>) -> Result<Response<v1::CallResponse>, Status> {
        let (caller, left) = (Caller::of(&request), patience::left(request.metadata()));
        let _place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        reply(self.accepting.call(&caller, request.into_inner(), left).await)
    }

    async fn invoke(&self, request: Request<v1::InvokeRequest>) -> Result<Response<Self::InvokeStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let messages = self.accepting.invoke(&caller, request.into_inner()).await;
        reply(messages.map(|messages| self.following(messages, First::Acceptance, place)))
    }

    async fn submit_invocation(
        &self,
        request: Request<v1::SubmitInvocationRequest>,
    ) -> Result<Response<v1::SubmitInvocationResponse>, Status> {
        reply(self.accepting.submit(&Caller::of(&request), request.into_inner()).await)
    }

    async fn get_invocation(
        &self,
        request: Request<v1::GetInvocationRequest>,
    ) -> Result<Response<v1::GetInvocationResponse>, Status> {
        reply(self.reading.show(&Caller::of(&request), request.into_inner()).await)
    }

    async fn get_result(
        &self,
        request: Request<v1::GetResultRequest>,
    ) -> Result<Response<v1::GetResultResponse>, Status> {
        reply(self.reading.show_result(&Caller::of(&request), request.into_inner()).await)
    }

    async fn wait_invocation(
        &self,
        request: Request<v1::WaitInvocationRequest>,
    ) -> Result<Response<v1::WaitInvocationResponse>, Status> {
        let (caller, left) = (Caller::of(&request), patience::left(request.metadata()));
        let _place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        reply(self.reading.wait(&caller, request.into_inner(), left).await)
    }

    async fn watch_invocation(
        &self,
        request: Request<v1::WatchInvocationRequest>,
    ) -> Result<Response<Self::WatchInvocationStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let watched = self.reading.watch(&caller, request.into_inner()).await;
        reply(watched.map(|messages| self.following(messages, First::News, place)))
    }

    async fn cancel_invocation(
        &self,
        request: Request<v1::CancelInvocationRequest>,
    ) -> Result<Response<v1::CancelInvocationResponse>, Status> {
        reply(self.canceling.cancel(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_invocations(
        &self,
        request: Request<v1::ListInvocationsRequest>,
    ) -> Result<Response<v1::ListInvocationsResponse>, Status> {
        reply(self.listing.list(&Caller::of(&request), request.into_inner()).await)
    }

    async fn read_payload(
        &self,
        request: Request<v1::ReadPayloadRequest>,
    ) -> Result<Response<Self::ReadPayloadStream>, Status> {
        reply(self.reading.payload(&Caller::of(&request), request.into_inner()).await)
    }

    async fn read_original(
        &self,
        request: Request<v1::ReadOriginalRequest>,
    ) -> Result<Response<Self::ReadOriginalStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let messages = self.originals.read(&caller, request.into_inner()).await;
        reply(messages.map(|messages| holding(messages, place)))
    }

    async fn export_records(
        &self,
        request: Request<v1::ExportRecordsRequest>,
    ) -> Result<Response<Self::ExportRecordsStream>, Status> {
        let caller = Caller::of(&request);
        // Never silently of another tenant than the one that is asked for.
        let tenant = caller.tenant_named(&request.get_ref().tenant)?;
        reply(self.exporting.export(&caller, tenant, request.into_inner()).await)
    }

    async fn delete_invocations(
        &self,
        request: Request<v1::DeleteInvocationsRequest>,
    ) -> Result<Response<v1::DeleteInvocationsResponse>, Status> {
        reply(self.keeping.delete(&Caller::of(&request), request.into_inner()).await)
    }

    async fn set_legal_hold(
        &self,
        request: Request<v1::SetLegalHoldRequest>,
    ) -> Result<Response<v1::SetLegalHoldResponse>, Status> {
        reply(self.keeping.set(&Caller::of(&request), request.into_inner()).await)
    }

    async fn clear_legal_hold(
        &self,
        request: Request<v1::ClearLegalHoldRequest>,
    ) -> Result<Response<v1::ClearLegalHoldResponse>, Status> {
        reply(self.keeping.clear(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_legal_holds(
        &self,
        request: Request<v1::ListLegalHoldsRequest>,
    ) -> Result<Response<v1::ListLegalHoldsResponse>, Status> {
        reply(self.keeping.list(&Caller::of(&request)).await)
    }

    async fn link_payload(
        &self,
        request: Request<v1::LinkPayloadRequest>,
    ) -> Result<Response<v1::LinkPayloadResponse>, Status> {
        reply(self.reading.link(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_orphans(
        &self,
        request: Request<v1::ListOrphansRequest>,
    ) -> Result<Response<v1::ListOrphansResponse>, Status> {
        reply(self.reading.orphans(&Caller::of(&request), request.into_inner()).await)
    }

    async fn get_persistence(
        &self,
        request: Request<v1::GetPersistenceRequest>,
    ) -> Result<Response<v1::GetPersistenceResponse>, Status> {
        reply(self.reading.show_persistence(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_mutations(
        &self,
        request: Request<v1::ListMutationsRequest>,
    ) -> Result<Response<v1::ListMutationsResponse>, Status> {
        reply(self.trails.mutations(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_decisions(
        &self,
        request: Request<v1::ListDecisionsRequest>,
    ) -> Result<Response<v1::ListDecisionsResponse>, Status> {
        reply(self.trails.decisions(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_hooks(
        &self,
        request: Request<v1::ListHooksRequest>,
    ) -> Result<Response<v1::ListHooksResponse>, Status> {
        reply(self.trails.hooks(&Caller::of(&request), request.into_inner()).await)
    }

    async fn explain_invocation(
        &self,
        request: Request<v1::ExplainInvocationRequest>,
    ) -> Result<Response<v1::ExplainInvocationResponse>, Status> {
        reply(self.accepting.explain(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_workers(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        reply(self.listing.workers(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_session_taints(
        &self,
        request: Request<v1::ListSessionTaintsRequest>,
    ) -> Result<Response<v1::ListSessionTaintsResponse>, Status> {
        reply(self.tainted.list(&Caller::of(&request), request.into_inner()).await)
    }

    async fn clear_session_taints(
        &self,
        request: Request<v1::ClearSessionTaintsRequest>,
    ) -> Result<Response<v1::ClearSessionTaintsResponse>, Status> {
        reply(self.tainted.clear(&Caller::of(&request), request.into_inner()).await)
    }

    async fn provide_input(
        &self,
        request: Request<v1::ProvideInputRequest>,
    ) -> Result<Response<v1::ProvideInputResponse>, Status> {
        reply(self.answering.answer(&Caller::of(&request), request.into_inner()).await)
    }

    async fn submit_batch(
        &self,
        request: Request<v1::SubmitBatchRequest>,
    ) -> Result<Response<v1::SubmitBatchResponse>, Status> {
        reply(self.batches.submit(&Caller::of(&request), request.into_inner()).await)
    }

    async fn invoke_batch(
        &self,
        request: Request<v1::InvokeBatchRequest>,
    ) -> Result<Response<Self::InvokeBatchStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let messages = self.batches.invoke(&caller, request.into_inner()).await;
        reply(messages.map(|messages| self.following(messages, First::Acceptance, place)))
    }

    async fn get_batch(&self, request: Request<v1::GetBatchRequest>) -> Result<Response<v1::GetBatchResponse>, Status> {
        reply(self.batches.show(&Caller::of(&request), request.into_inner()).await)
    }

    async fn watch_batch(
        &self,
        request: Request<v1::WatchBatchRequest>,
    ) -> Result<Response<Self::WatchBatchStream>, Status> {
        let caller = Caller::of(&request);
        let place = self.streams.admit(&caller.tenant).map_err(status::of)?;
        let watched = self.batches.watch(&caller, request.into_inner()).await;
        reply(watched.map(|messages| self.following(messages, First::News, place)))
    }

    async fn cancel_batch(
        &self,
        request: Request<v1::CancelBatchRequest>,
    ) -> Result<Response<v1::CancelBatchResponse>, Status> {
        reply(self.batches.cancel(&Caller::of(&request), request.into_inner()).await)
    }

    async fn list_batches(
        &self,
        request: Request<v1::ListBatchesRequest>,
    ) -> Result<Response<v1::ListBatchesResponse>, Status> {
        reply(self.batches.list(&Caller::of(&request), request.into_inner()).await)
    }
}
