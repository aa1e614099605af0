//! The gRPC face of the role: handlers decode, call one method, and encode.

mod api;
mod approvals;
mod decide;
mod policy;
mod resolve;
mod rules;
mod watch;

use std::pin::Pin;

use futures_util::Stream;
use tonic::{Request, Response, Status};
use toolplane_proto::v1;
use toolplane_proto::v1::permission_service_server::PermissionService;

pub(crate) use api::PermissionApi;

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl PermissionService for PermissionApi {
    type WatchApprovalsStream = Pin<Box<dyn Stream<Item = Result<v1::WatchApprovalsResponse, Status>> + Send>>;

    type WatchPolicyStream = Pin<Box<dyn Stream<Item = Result<v1::WatchPolicyResponse, Status>> + Send>>;

    async fn decide(&self, request: Request<v1::DecideRequest>) -> Answer<v1::DecideResponse> {
        Ok(decide::decide(self, request).await.map(Response::new)?)
    }

    async fn list_rules(&self, request: Request<v1::ListRulesRequest>) -> Answer<v1::ListRulesResponse> {
        Ok(rules::list(self, request).await.map(Response::new)?)
    }

    async fn add_rules(&self, request: Request<v1::AddRulesRequest>) -> Answer<v1::AddRulesResponse> {
        Ok(rules::add(self, request).await.map(Response::new)?)
    }

    async fn revoke_rule(&self, request: Request<v1::RevokeRuleRequest>) -> Answer<v1::RevokeRuleResponse> {
        Ok(rules::revoke(self, request).await.map(Response::new)?)
    }

    async fn reload_rules(&self, request: Request<v1::ReloadRulesRequest>) -> Answer<v1::ReloadRulesResponse> {
        Ok(rules::reload(self, request).await.map(Response::new)?)
    }

    async fn watch_policy(&self, request: Request<v1::WatchPolicyRequest>) -> Answer<Self::WatchPolicyStream> {
        Ok(Response::new(policy::watch(self, &request)))
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
        Ok(resolve::resolve(self, request).await.map(Response::new)?)
    }

    async fn withdraw_approval(
        &self,
        request: Request<v1::WithdrawApprovalRequest>,
    ) -> Answer<v1::WithdrawApprovalResponse> {
        Ok(approvals::withdraw(self, request).await.map(Response::new)?)
    }

    async fn delete_approvals(
        &self,
        request: Request<v1::DeleteApprovalsRequest>,
    ) -> Answer<v1::DeleteApprovalsResponse> {
        Ok(approvals::delete(self, request).await.map(Response::new)?)
    }

    async fn watch_approvals(&self, request: Request<v1::WatchApprovalsRequest>) -> Answer<Self::WatchApprovalsStream> {
        Ok(watch::watch(self, request).await.map(Response::new)?)
    }
}
