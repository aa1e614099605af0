//! Reading one call: its record, its result, and what was decided and kept about it.

use std::sync::Arc;
use std::time::Duration;

use toolplane_proto::v1;
use toolplane_runtime::{Caller, page};

use super::invocations::{InvocationApi, Messages};
use super::list::read_count;
use super::{encode, follow};
use crate::engine::EngineError;
use crate::error::CallError;
use crate::prepare::CallSpec;

/// Longest single wait of `WaitInvocation`.
const MAX_WAIT_MS: u32 = 60_000;
/// Wait of `WaitInvocation` when the caller does not say.
const DEFAULT_WAIT_MS: u32 = 30_000;

impl InvocationApi {
    /// The record of a call, and its result.
    pub(super) async fn show(
        &self,
        caller: &Caller,
        request: v1::GetInvocationRequest,
    ) -> Result<v1::GetInvocationResponse, CallError> {
        let record = self.find(caller, &request.invocation_id).await?;
        let terminal = self.engine.result(&record.key()).await?;
        let view = request.view();
        let (invocation, json) =
            encode::invocation_views(&self.engine, caller, &record, view, request.include_inputs).await?;
        Ok(v1::GetInvocationResponse {
            invocation: Some(invocation),
            json,
            result_json: terminal.as_ref().and_then(|terminal| encode::json(view, &terminal.result)),
            result: terminal.as_ref().map(encode::result),
        })
    }

    /// The result of a call that has ended.
    pub(super) async fn show_result(
        &self,
        caller: &Caller,
        request: v1::GetResultRequest,
    ) -> Result<v1::GetResultResponse, CallError> {
        let record = self.find(caller, &request.invocation_id).await?;
        let terminal = self.engine.result(&record.key()).await?.ok_or_else(|| {
            CallError::Precondition(format!("the invocation is {} and has no result yet", record.status))
        })?;
        Ok(v1::GetResultResponse {
            json: encode::json(request.view(), &terminal.result),
            result: Some(encode::result(&terminal)),
        })
    }

    /// How a call stands when it has ended, or after a while.
    pub(super) async fn wait(
        &self,
        caller: &Caller,
        request: v1::WaitInvocationRequest,
    ) -> Result<v1::WaitInvocationResponse, CallError> {
        let patience = match request.timeout_ms {
            0 => DEFAULT_WAIT_MS,
            asked => asked.min(MAX_WAIT_MS),
        };
        let record = self.find(caller, &request.invocation_id).await?;
        let id = record.key();
        let mut watch = self.engine.watch(&id, record.last_seq).await?;
        let end = async {
            while let Some(item) = watch.next().await? {
                if item.terminal.is_some() {
                    break;
                }
            }
            Ok::<_, EngineError>(())
        };
        if let Ok(ended) = tokio::time::timeout(Duration::from_millis(patience.into()), end).await {
            ended?;
        }
        let terminal = self.engine.result(&id).await?;
        let record = self.engine.get(&id).await?;
        Ok(v1::WaitInvocationResponse {
            done: terminal.is_some(),
            invocation: Some((&*record).into()),
            result: terminal.as_ref().map(encode::result),
        })
    }

    /// Follows a call from where the caller left off.
    pub(super) async fn watch(
        &self,
        caller: &Caller,
        request: v1::WatchInvocationRequest,
    ) -> Result<Messages<v1::WatchInvocationResponse>, CallError> {
        let record = self.find(caller, &request.invocation_id).await?;
        let watch = self.engine.watch(&record.key(), request.from_seq).await?;
        Ok(follow::watched(record, watch))
    }

    /// How the bytes of a call's result are kept.
    pub(super) async fn show_persistence(
        &self,
        caller: &Caller,
        request: v1::GetPersistenceRequest,
    ) -> Result<v1::GetPersistenceResponse, CallError> {
        let record = self.find(caller, &request.invocation_id).await?;
        let kept = self.engine.result(&record.key()).await?.and_then(|terminal| terminal.persistence);
        let wanted = |id: &str| request.decision_id.is_empty() || request.decision_id == id;
        let kept: Vec<_> = kept.into_iter().filter(|kept| wanted(kept.decision_id.as_str())).collect();
        if kept.is_empty() && !request.decision_id.is_empty() {
            return Err(CallError::NotFound { kind: "persistence decision", id: request.decision_id.clone() });
        }
        Ok(v1::GetPersistenceResponse {
            jsons: kept.iter().filter_map(|kept| encode::json(request.view(), kept)).collect(),
            decisions: kept.iter().map(Into::into).collect(),
        })
    }

    /// One page of the changes of a call's inputs, oldest first.
    pub(super) async fn mutations(
        &self,
        caller: &Caller,
        request: v1::ListMutationsRequest,
    ) -> Result<v1::ListMutationsResponse, CallError> {
        let record = self.find(caller, &request.invocation_id).await?;
        let all = self.engine.mutations(&record).await?;
        let first = read_count(page::position(&request.invocation_id, &request.page_token)?);
        let size = page::size(request.page_size)?;
        let shown = all.get(first..).unwrap_or_default();
        let shown = &shown[..shown.len().min(size)];
        let next = first + shown.len();
        Ok(v1::ListMutationsResponse {
            mutations: shown.iter().map(Into::into).collect(),
            jsons: shown.iter().filter_map(|mutation| encode::json(request.view(), mutation)).collect(),
            next_page_token: if next < all.len() {
                page::token(&request.invocation_id, &next.to_string())
            } else {
                String::new()
            },
        })
    }

    /// What hooks did about a call, oldest first.
    pub(super) async fn hooks(
        &self,
        caller: &Caller,
        request: v1::ListHooksRequest,
    ) -> Result<v1::ListHooksResponse, CallError> {
        let record = self.find(caller, &request.invocation_id).await?;
        let hooks = self.engine.hooks(&record).await?;
        Ok(v1::ListHooksResponse { hooks: hooks.iter().map(Into::into).collect() })
    }

    /// What would be decided about a call, and why.
    pub(super) async fn explain(
        &self,
        caller: &Arc<Caller>,
        request: v1::ExplainInvocationRequest,
    ) -> Result<v1::ExplainInvocationResponse, CallError> {
        let spec = CallSpec::decode(request.spec, caller, &self.limits)?;
        self.preparer.explain(&self.engine, spec).await
    }

    /// The permission decisions of a call, oldest first.
    pub(super) async fn decisions(
        &self,
        caller: &Caller,
        request: v1::ListDecisionsRequest,
    ) -> Result<v1::ListDecisionsResponse, CallError> {
        let record = self.find(caller, &request.invocation_id).await?;
        let mut decisions = Vec::new();
        for id in &record.permission_decision_refs {
            decisions.extend(self.engine.decision(&record.tenant, id.as_str()).await?);
        }
        Ok(v1::ListDecisionsResponse {
            jsons: decisions.iter().filter_map(|decision| encode::json(request.view(), decision)).collect(),
            decisions: decisions.iter().map(Into::into).collect(),
        })
    }
}
