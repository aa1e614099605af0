//! The stand-ins as services.

use std::pin::Pin;
use std::sync::atomic::Ordering;

use futures_util::{Stream, StreamExt};
use tokio_stream::wrappers::{BroadcastStream, WatchStream};
use tonic::{Request, Response, Status, Streaming};
use toolplane_catalog::Registration;
use toolplane_proto::convert::registration::RegistrationParts;
use toolplane_proto::v1;
use toolplane_proto::v1::hook_service_server::HookService;
use toolplane_proto::v1::permission_service_server::PermissionService;
use toolplane_proto::v1::surface_service_server::SurfaceService;

use super::Fakes;

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Handlers that are not called in these tests.
macro_rules! unused {
    ($($name:ident($request:ty) -> $answer:ty;)*) => {
        $(fn $name<'a, 'async_trait>(
            &'a self,
            _: Request<$request>,
        ) -> Pin<Box<dyn Future<Output = Result<Response<$answer>, Status>> + Send + 'async_trait>>
        where
            'a: 'async_trait,
            Self: 'async_trait,
        {
            Box::pin(async { Err(Status::unimplemented("not in these tests")) })
        })*
    };
}

#[tonic::async_trait]
impl SurfaceService for Fakes {
    type SyncCatalogStream = Answers<v1::SyncCatalogResponse>;
    type WatchSurfaceStream = Answers<v1::WatchSurfaceResponse>;

    async fn watch_surface(
        &self,
        _: Request<v1::WatchSurfaceRequest>,
    ) -> Result<Response<Self::WatchSurfaceStream>, Status> {
        Err(Status::unimplemented("no scheduler follows a surface"))
    }

    async fn resolve_tool(
        &self,
        request: Request<v1::ResolveToolRequest>,
    ) -> Result<Response<v1::ResolveToolResponse>, Status> {
        use v1::resolve_tool_response::Resolution;
        let tool = self.state.tool.lock().clone();
        let v1::ResolveToolRequest { known_digest: known, surface_moment, .. } = request.into_inner();
        self.state.moments.lock().push(surface_moment);
        let resolution = match tool {
            Some(tool) => {
                let registration: Registration = serde_json::from_value(tool).unwrap();
                let digest = registration.digest().to_string();
                let schema = registration.model_schema().cloned();
                let mut schemas = self.state.schemas.lock();
                schemas.insert(digest.clone(), schema.clone());
                if !known.is_empty() && schemas.get(&known) != Some(&schema) {
                    let changed = v1::NotCallable {
                        kind: v1::NotCallableKind::Changed.into(),
                        message: "`/key` is required now".into(),
                        tool_id: "tool_test".into(),
                        ..Default::default()
                    };
                    let resolution = Some(Resolution::NotCallable(changed));
                    return Ok(Response::new(v1::ResolveToolResponse { resolution, ..Default::default() }));
                }
                let parts = RegistrationParts {
                    declaration: registration.declaration,
                    interface: registration.interface.map(|part| *part),
                    execution_profile: registration.execution_profile.map(|part| *part),
                    permission_profile: registration.permission_profile.map(|part| *part),
                };
                Resolution::Resolved(v1::ResolvedTool {
                    registration: Some((&parts).into()),
                    digest,
                    revision: 1,
                    policy_refs: vec!["strict".to_owned()],
                    ..Default::default()
                })
            }
            None => Resolution::NotCallable(v1::NotCallable {
                kind: v1::NotCallableKind::Retired.into(),
                tool_id: "tool_test".into(),
                ..Default::default()
            }),
        };
        Ok(Response::new(v1::ResolveToolResponse { resolution: Some(resolution), ..Default::default() }))
    }

    async fn sync_catalog(
        &self,
        _: Request<Streaming<v1::SyncCatalogRequest>>,
    ) -> Result<Response<Self::SyncCatalogStream>, Status> {
        let change = v1::CatalogChange {
            tenant: "default".into(),
            subject: Some(v1::catalog_change::Subject::ToolId("tool_test".into())),
        };
        let changes = BroadcastStream::new(self.state.catalog.subscribe());
        let first = v1::SyncCatalogResponse { reset: true, ..Default::default() };
        let first = futures_util::stream::iter([Ok(first)]);
        let later = changes.map(move |_| {
            Ok(v1::SyncCatalogResponse { changes: vec![change.clone()], catalog_revision: 2, ..Default::default() })
        });
        Ok(Response::new(Box::pin(first.chain(later))))
    }

    unused! {
        register_tools(v1::RegisterToolsRequest) -> v1::RegisterToolsResponse;
        get_tool(v1::GetToolRequest) -> v1::GetToolResponse;
        list_tools(v1::ListToolsRequest) -> v1::ListToolsResponse;
        retire_tool(v1::RetireToolRequest) -> v1::RetireToolResponse;
        create_surface(v1::CreateSurfaceRequest) -> v1::CreateSurfaceResponse;
        get_surface(v1::GetSurfaceRequest) -> v1::GetSurfaceResponse;
        extend_surface(v1::ExtendSurfaceRequest) -> v1::ExtendSurfaceResponse;
        delete_surface(v1::DeleteSurfaceRequest) -> v1::DeleteSurfaceResponse;
        list_surface_tools(v1::ListSurfaceToolsRequest) -> v1::ListSurfaceToolsResponse;
        export_surface(v1::ExportSurfaceRequest) -> v1::ExportSurfaceResponse;
        map_calls(v1::MapCallsRequest) -> v1::MapCallsResponse;
        list_tool_cards(v1::ListToolCardsRequest) -> v1::ListToolCardsResponse;
        list_surfaces(v1::ListSurfacesRequest) -> v1::ListSurfacesResponse;
        search_tools(v1::SearchToolsRequest) -> v1::SearchToolsResponse;
        load_tools(v1::LoadToolsRequest) -> v1::LoadToolsResponse;
        unload_tools(v1::UnloadToolsRequest) -> v1::UnloadToolsResponse;
        list_synonyms(v1::ListSynonymsRequest) -> v1::ListSynonymsResponse;
        add_synonyms(v1::AddSynonymsRequest) -> v1::AddSynonymsResponse;
        remove_synonyms(v1::RemoveSynonymsRequest) -> v1::RemoveSynonymsResponse;
        forget_use(v1::ForgetUseRequest) -> v1::ForgetUseResponse;
        list_events(v1::ListEventsRequest) -> v1::ListEventsResponse;
    }
}

#[tonic::async_trait]
impl PermissionService for Fakes {
    type WatchPolicyStream = Answers<v1::WatchPolicyResponse>;
    type WatchApprovalsStream = Answers<v1::WatchApprovalsResponse>;

    async fn decide(&self, request: Request<v1::DecideRequest>) -> Result<Response<v1::DecideResponse>, Status> {
        if self.state.away.load(Ordering::SeqCst) {
            self.state.refused.fetch_add(1, Ordering::SeqCst);
            return Err(Status::unavailable("away"));
        }
        Ok(Response::new(self.decide(request.get_ref())))
    }

    async fn watch_policy(
        &self,
        _: Request<v1::WatchPolicyRequest>,
    ) -> Result<Response<Self::WatchPolicyStream>, Status> {
        if *self.state.cut.borrow() {
            return Err(Status::unavailable("away"));
        }
        let digests = WatchStream::new(self.state.policy.subscribe());
        let told = digests.map(|policy_digest| Ok(v1::WatchPolicyResponse { policy_digest, ..Default::default() }));
        let mut cut = self.state.cut.subscribe();
        let end = async move { cut.wait_for(|cut| *cut).await.map(drop).unwrap_or_default() };
        Ok(Response::new(Box::pin(told.take_until(end))))
    }

    async fn watch_approvals(
        &self,
        _: Request<v1::WatchApprovalsRequest>,
    ) -> Result<Response<Self::WatchApprovalsStream>, Status> {
        let answers = BroadcastStream::new(self.state.answers.subscribe());
        let told = answers.filter_map(|answer| async move {
            let change = v1::ApprovalChange { approval: answer.ok(), revision: 1 };
            Some(Ok(v1::WatchApprovalsResponse { changes: vec![change], ..Default::default() }))
        });
        Ok(Response::new(Box::pin(told)))
    }

    async fn get_approval(
        &self,
        request: Request<v1::GetApprovalRequest>,
    ) -> Result<Response<v1::GetApprovalResponse>, Status> {
        let approval = self.state.approvals.lock().get(&request.get_ref().approval_id).cloned();
        Ok(Response::new(v1::GetApprovalResponse { approval, ..Default::default() }))
    }

    async fn list_approvals(
        &self,
        request: Request<v1::ListApprovalsRequest>,
    ) -> Result<Response<v1::ListApprovalsResponse>, Status> {
        let wanted = request.get_ref().state;
        let approvals = self.state.approvals.lock();
        let listed = approvals.values().filter(|approval| wanted == 0 || approval.state == wanted);
        let approvals = listed.cloned().collect();
        Ok(Response::new(v1::ListApprovalsResponse { approvals, ..Default::default() }))
    }

    async fn withdraw_approval(
        &self,
        request: Request<v1::WithdrawApprovalRequest>,
    ) -> Result<Response<v1::WithdrawApprovalResponse>, Status> {
        let v1::WithdrawApprovalRequest { approval_id, reason } = request.into_inner();
        if let Some(approval) = self.state.approvals.lock().get_mut(&approval_id)
            && approval.state() == v1::ApprovalState::Pending
        {
            approval.state = v1::ApprovalState::Withdrawn.into();
            approval.feedback = reason;
        }
        Ok(Response::new(v1::WithdrawApprovalResponse::default()))
    }

    async fn delete_approvals(
        &self,
        request: Request<v1::DeleteApprovalsRequest>,
    ) -> Result<Response<v1::DeleteApprovalsResponse>, Status> {
        let ids = request.into_inner().invocation_ids;
        self.state.approvals.lock().retain(|_, approval| !ids.contains(&approval.invocation_id));
        Ok(Response::new(v1::DeleteApprovalsResponse::default()))
    }

    unused! {
        list_rules(v1::ListRulesRequest) -> v1::ListRulesResponse;
        add_rules(v1::AddRulesRequest) -> v1::AddRulesResponse;
        revoke_rule(v1::RevokeRuleRequest) -> v1::RevokeRuleResponse;
        reload_rules(v1::ReloadRulesRequest) -> v1::ReloadRulesResponse;
        resolve_approval(v1::ResolveApprovalRequest) -> v1::ResolveApprovalResponse;
    }
}

#[tonic::async_trait]
impl HookService for Fakes {
    async fn run_hook(&self, request: Request<v1::RunHookRequest>) -> Result<Response<v1::RunHookResponse>, Status> {
        let request = request.into_inner();
        let output = match self.state.hook.lock().as_ref() {
            Some(hook) => hook(&request),
            None => return Err(Status::internal("no hook in this test")),
        };
        self.state.told.lock().push(request);
        Ok(Response::new(v1::RunHookResponse { output: Some(output) }))
    }
}
