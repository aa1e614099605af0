//! Asking what only workers can ask: a call like any other, made by the platform itself.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use serde_json::json;
use tonic::Status;
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_providers::health::blame;
use toolplane_records::error::ToolError;
use toolplane_records::ids::TenantId;
use toolplane_records::mode::Mode;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::{ExecutionBinding, serves};
use toolplane_records::provider::Provider;
use toolplane_records::vocabulary::ProviderFault;
use toolplane_runtime::Caller;
use toolplane_runtime::caller::{Role, RoleSet};
use toolplane_runtime::client::{Backoff, Peer, retry};

use super::documents::MAX_BYTES;
use super::hidden::SURFACE;
use super::look::Fault;
use crate::options::ProviderOptions;

/// Who calls: the platform.
const CALLER: &str = "platform";
/// Longest single wait for the end of a call, in milliseconds.
const WAIT_MS: u32 = 30_000;

/// Makes calls at the scheduler.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    client: InvocationServiceClient<Peer>,
    speaks_for_tenants: bool,
    timeout_ms: u64,
}

/// What a call came to.
pub(super) struct Called {
    invocation_id: String,
    result: v1::ToolResult,
}

impl Calls {
    /// Calls at the scheduler of these options; nothing when they name none.
    pub(super) fn of(options: &ProviderOptions) -> Option<Self> {
        let peer = options.scheduler.clone()?;
        let timeout_ms = u64::try_from(options.patience.as_millis()).unwrap_or(u64::MAX);
        let client = InvocationServiceClient::new(peer);
        Some(Self { client, speaks_for_tenants: options.speaks_for_tenants, timeout_ms })
    }

    /// Fails when no worker serves a native tool. A call of it would wait for one for as long as a try may take, and then say less.
    pub(super) async fn check_served(&self, tool: &str) -> Result<(), Fault> {
        let workers = workers(self.client.clone()).await.map_err(|status| away(&status))?;
        let pool = ExecutionBinding::Native { name: tool.to_owned() }.pool();
        let is_it = |worker: &v1::WorkerRecord| {
            worker.state() == v1::WorkerState::Ready && serves(&worker.pools, &worker.native_tools, &pool)
        };
        match workers.iter().any(is_it) {
            true => Ok(()),
            false => Err(Fault::new(ProviderFault::Unreachable, format!("no worker serves `{tool}`"))),
        }
    }

    /// The structured content of a call that asks what a provider has; nothing when its answer has none.
    pub(super) async fn list(&self, provider: &Provider, name: &str) -> Result<Option<Bytes>, Fault> {
        let called = self.call(provider, name, JsonPayload::from_checked("{}")).await?;
        let content = called.result.structured_content.as_ref().and_then(|content| content.body.clone());
        match content {
            Some(Body::Inline(bytes)) => Ok(Some(bytes)),
            Some(Body::Ref(uri)) => self.read(provider, &called.invocation_id, uri).await.map(Some),
            // What is too large for a result is kept elsewhere, and the last block says where.
            None => match called.result.content.last().and_then(|block| block.block.as_ref()) {
                Some(Block::PersistedOutputRef(kept)) if kept.media_type == "application/json" => {
                    self.read(provider, &called.invocation_id, kept.uri.clone()).await.map(Some)
                }
                _ => Ok(None),
            },
        }
    }

    /// The bytes at an address.
    pub(super) async fn fetch(&self, provider: &Provider, name: &str, url: &str) -> Result<Bytes, Fault> {
        let called = self.call(provider, name, JsonPayload::of(&json!({ "url": url }))).await?;
        let blocks = &called.result.content;
        let kept = blocks.iter().find_map(v1::ContentBlock::kept).map(|kept| kept.uri.clone());
        if let Some(uri) = kept {
            return self.read(provider, &called.invocation_id, uri).await;
        }
        let texts = blocks.iter().filter_map(|block| match &block.block {
            Some(Block::Text(text)) => Some(text.text.as_str()),
            _ => None,
        });
        Ok(Bytes::from(texts.collect::<String>()))
    }

    async fn call(&self, provider: &Provider, name: &str, input: JsonPayload) -> Result<Called, Fault> {
        let spec = v1::InvocationSpec {
            surface_id: SURFACE.to_owned(),
            tool_name: name.to_owned(),
            model_input: Some((&input).into()),
            // The same call once more is the same call: a retry after a broken connection makes no second one.
            idempotency_key: uuid::Uuid::new_v4().to_string(),
            actor_ref: "toolplane".to_owned(),
            timeout_ms: self.timeout_ms,
            no_approver: true,
            permission_mode: Mode::Bypass.as_str().to_owned(),
            ..Default::default()
        };
        let request = v1::CallRequest { spec: Some(spec), wait_ms: WAIT_MS, ..Default::default() };
        let ask = || {
            let (mut client, request) = (self.client.clone(), self.on_behalf(&provider.tenant, request.clone()));
            async move { client.call(request).await }
        };
        let answer = retry(Backoff::BRIEF, ask).await.map_err(|status| away(&status))?.into_inner();
        let invocation_id = answer.accepted.map(|accepted| accepted.invocation_id).unwrap_or_default();
        let (mut result, mut cut_short) = (answer.result, answer.cut_short);
        while result.is_none() {
            // The scheduler is told to stop and waits for nothing; another one may be there in a moment.
            if let Some(cut_short) = cut_short {
                tokio::time::sleep(Duration::from_millis(cut_short.retry_after_ms.into())).await;
            }
            let request = v1::WaitInvocationRequest {
                invocation_id: invocation_id.clone(),
                timeout_ms: WAIT_MS,
                ..Default::default()
            };
            let ask = || {
                let (mut client, request) = (self.client.clone(), self.on_behalf(&provider.tenant, request.clone()));
                async move { client.wait_invocation(request).await }
            };
            let answer = retry(Backoff::BRIEF, ask).await.map_err(|status| away(&status))?.into_inner();
            (result, cut_short) = (answer.result, answer.cut_short);
        }
        let result = *result.unwrap_or_default();
        match result.error.clone().filter(|_| result.is_error) {
            None => Ok(Called { invocation_id, result }),
            Some(error) => Err(match ToolError::try_from(error) {
                Ok(error) => fault(&error, &invocation_id),
                Err(_) => Fault::new(ProviderFault::Internal, "the call failed, and cannot be read"),
            }),
        }
    }

    async fn read(&self, provider: &Provider, invocation_id: &str, uri: String) -> Result<Bytes, Fault> {
        let request = v1::ReadPayloadRequest {
            invocation_id: invocation_id.to_owned(),
            selector: Some(Selector::Uri(uri)),
            ..Default::default()
        };
        let request = self.on_behalf(&provider.tenant, request);
        let mut parts = self.client.clone().read_payload(request).await.map_err(|status| away(&status))?.into_inner();
        let mut bytes = BytesMut::new();
        while let Some(part) = parts.message().await.map_err(|status| away(&status))? {
            if bytes.len() + part.data.len() > MAX_BYTES {
                return Err(Fault::new(ProviderFault::Flooded, format!("it said more than {MAX_BYTES} bytes")));
            }
            bytes.extend_from_slice(&part.data);
        }
        Ok(bytes.freeze())
    }

    /// A request of the platform about things of that tenant.
    fn on_behalf<T>(&self, tenant: &TenantId, request: T) -> tonic::Request<T> {
        if !self.speaks_for_tenants {
            return Peer::on_behalf(&Caller::unauthenticated(), request);
        }
        let caller = Caller {
            tenant: tenant.clone(),
            actor: Some("toolplane".to_owned()),
            caller_ref: CALLER.to_owned(),
            roles: RoleSet::of(&[Role::Agent, Role::Peer]),
            authenticated: true,
        };
        Peer::on_behalf(&caller, request)
    }
}

/// Every worker there is.
pub(super) async fn workers(mut client: InvocationServiceClient<Peer>) -> Result<Vec<v1::WorkerRecord>, Status> {
    let mut all = Vec::new();
    let mut request = v1::ListWorkersRequest { page_size: 1_000, ..Default::default() };
    loop {
        let page = client.list_workers(request.clone()).await?.into_inner();
        all.extend(page.workers);
        if page.next_page_token.is_empty() {
            return Ok(all);
        }
        request.page_token = page.next_page_token;
    }
}

/// The scheduler did not take the question, or did not answer it.
fn away(status: &Status) -> Fault {
    Fault::new(ProviderFault::Internal, format!("the scheduler cannot be asked: {}", status.message()))
}

/// What the error of a call says about the provider.
fn fault(error: &ToolError, invocation_id: &str) -> Fault {
    Fault::new(blame::of_look(error), format!("{} ({}, {invocation_id})", error.message, error.error_code))
}
