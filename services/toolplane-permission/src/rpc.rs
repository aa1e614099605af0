//! The gRPC face of the role: handlers decode, call one method, and encode.

mod approvals;
mod decide;
mod rules;
mod watch;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_server::PermissionService;

use crate::approvals::Book;
use crate::decide::Decider;

/// What the handlers share. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct PermissionApi {
    pub(crate) decider: Arc<Decider>,
    pub(crate) book: Arc<Book>,
    pub(crate) approval_ttl_ms: u64,
    pub(crate) poll_every: Duration,
    /// Cancelled when streams are to end.
    pub(crate) stopping: CancellationToken,
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl PermissionService for PermissionApi {
    type WatchApprovalsStream = Pin<Box<dyn Stream<Item = Result<v1::WatchApprovalsResponse, Status>> + Send>>;

    async fn decide(&self, request: Request<v1::DecideRequest>) -> Answer<v1::DecideResponse> {
        Ok(decide::decide(self, request).await.map(Response::new)?)
    }

    async fn list_rules(&self, request: Request<v1::ListRulesRequest>) -> Answer<v1::ListRulesResponse> {
        Ok(rules::list(self, request.get_ref()).map(Response::new)?)
    }

    async fn list_approvals(&self, request: Request<v1::ListApprovalsRequest>) -> Answer<v1::ListApprovalsResponse> {
        Ok(approvals::list(self, request).await.map(Response::new)?)
    }

    async fn get_approval(&self, request: Request<v1::GetApprovalRequest>) -> Answer<v1::GetApprovalResponse> {
        Ok(approvals::get(self, request).await.map(Response::new)?)
    }

    async fn resolve_approval(
        &self,
        request: Request<v1::ResolveApprovalRequest>,
    ) -> Answer<v1::ResolveApprovalResponse> {
        Ok(approvals::resolve(self, request).await.map(Response::new)?)
    }

    async fn withdraw_approval(
        &self,
        request: Request<v1::WithdrawApprovalRequest>,
    ) -> Answer<v1::WithdrawApprovalResponse> {
        Ok(approvals::withdraw(self, request).await.map(Response::new)?)
    }

    async fn watch_approvals(&self, request: Request<v1::WatchApprovalsRequest>) -> Answer<Self::WatchApprovalsStream> {
        Ok(watch::watch(self, request).await.map(Response::new)?)
    }
}
