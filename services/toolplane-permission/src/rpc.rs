//! The gRPC face of the role: handlers decode, call one method, and encode.

mod approvals;
mod decide;
mod policy;
mod resolve;
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

use toolplane_hooks::Hooks;
use toolplane_runtime::ApiError;

use crate::approvals::Book;
use crate::rules::RuleBook;
use crate::shadow::Shadow;

/// What the handlers share. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct PermissionApi {
    pub(crate) rules: Arc<RuleBook>,
    pub(crate) book: Arc<Book>,
    pub(crate) hooks: Hooks,
    pub(crate) shadow: Arc<Shadow>,
    pub(crate) approval_ttl_ms: u64,
    pub(crate) poll_every: Duration,
    /// Cancelled when streams are to end.
    pub(crate) stopping: CancellationToken,
}

/// Longest text that a person may leave, in characters.
const MAX_TEXT_CHARS: usize = 4_000;
/// Longest name, in characters.
const MAX_NAME_CHARS: usize = 256;

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

    async fn watch_policy(&self, _: Request<v1::WatchPolicyRequest>) -> Answer<Self::WatchPolicyStream> {
        Ok(Response::new(policy::watch(self)))
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

    async fn watch_approvals(&self, request: Request<v1::WatchApprovalsRequest>) -> Answer<Self::WatchApprovalsStream> {
        Ok(watch::watch(self, request).await.map(Response::new)?)
    }
}

fn bounded(name: &'static str, text: &str, max: usize) -> Result<(), ApiError> {
    match text.chars().count() {
        length if length > max => {
            Err(ApiError::invalid_argument(name, format!("has {length} characters; at most {max} are allowed")))
        }
        _ => Ok(()),
    }
}
