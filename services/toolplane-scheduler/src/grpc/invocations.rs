//! `InvocationService`.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};
use toolplane_lifecycle::{Command, Refusal};
use toolplane_proto::v1;
use toolplane_proto::v1::invocation_service_server::InvocationService;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::invocation::Invocation;
use toolplane_records::mutation::InputMutation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{AbortReason, EventClass, InvocationStatus};
use toolplane_results::PayloadStore;
use toolplane_runtime::{page, tenant};
use tracing::Instrument as _;

use super::{encode, status};
use crate::engine::{Admitted, Engine, EngineError, InvocationFilter, Watch, is_race};
use crate::error::CallError;
use crate::prepare::{CallSpec, Preparer, SpecLimits};
use crate::trace::CallTrace;

/// The handlers of `InvocationService`.
#[derive(Clone, Debug)]
pub(crate) struct InvocationApi {
    pub(crate) engine: Engine,
    pub(crate) preparer: Arc<Preparer>,
    pub(crate) payloads: PayloadStore,
    pub(crate) limits: SpecLimits,
    pub(crate) approvals: crate::approvals::Approvals,
}

type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Longest single wait of `WaitInvocation`.
const MAX_WAIT_MS: u32 = 60_000;
/// Wait of `WaitInvocation` when the caller does not say.
const DEFAULT_WAIT_MS: u32 = 30_000;
/// Bytes of one `ReadPayload` message.
const CHUNK: usize = 256 * 1024;

/// An accepted call and how to follow it.
struct Accepted {
    record: Arc<Invocation>,
    duplicate: bool,
    watch: Watch,
}

impl InvocationApi {
    /// Whose calls are meant. Authentication will hand in the request's metadata here.
    fn tenant(&self) -> TenantId {
        tenant::of(&MetadataMap::new())
    }

    /// A living or ended invocation of this tenant; another tenant's is as if it did not exist.
    async fn find(&self, id: &str) -> Result<Arc<Invocation>, CallError> {
        let parsed = InvocationId::parse(id).map_err(|rule| CallError::invalid("invocation_id", rule.to_string()))?;
        let missing = || CallError::NotFound { kind: "invocation", id: id.to_owned() };
        match self.engine.get(&parsed).await {
            Ok(record) if record.tenant == self.tenant() => Ok(record),
            Ok(_) | Err(EngineError::NotFound) => Err(missing()),
            Err(error) => Err(error.into()),
        }
    }

    async fn accept(&self, spec: Option<v1::InvocationSpec>) -> Result<Accepted, CallError> {
        let spec = CallSpec::decode(spec, self.tenant(), &self.limits)?;
        if spec.may_exist
            && let Ok(record) = self.engine.get(&spec.invocation_id).await
        {
            return self.attach(&spec, record).await;
        }
        let trace = CallTrace::start(&spec);
        let preparing = self.preparer.prepare(&self.engine, spec.clone(), trace.telemetry_refs());
        let mut admission = preparing.instrument(trace.span()).await?;
        let send = trace.send(&spec, &mut admission);
        let watch = self.engine.watch_new(&spec.invocation_id);
        // A caller that goes away in the middle must not stop a commit half way: the work is a task of its own.
        let engine = self.engine.clone();
        let admitted = tokio::spawn(async move { engine.admit(admission).await }.instrument(send)).await;
        match admitted.map_err(|error| CallError::Internal(error.to_string()))?? {
            Admitted::New(record) => {
                if let (InvocationStatus::AwaitingApproval, Some(approval)) =
                    (record.status, record.approval_request_ref.clone())
                {
                    let approvals = self.approvals.clone();
                    tokio::spawn(async move { approvals.look(&approval).await });
                }
                Ok(Accepted { record, duplicate: false, watch: watch.traced(trace) })
            }
            Admitted::Exists(record) => self.attach(&spec, record).await,
        }
    }

    /// A request for a call that was accepted before: the same request follows it, a different one is a mistake.
    async fn attach(&self, spec: &CallSpec, record: Arc<Invocation>) -> Result<Accepted, CallError> {
        if record.request_digest != spec.digest || record.tenant != spec.tenant {
            return Err(CallError::Reused { id: spec.invocation_id.to_string() });
        }
        let watch = self.engine.watch(&spec.invocation_id, 1).await?;
        Ok(Accepted { record, duplicate: true, watch })
    }

    fn acceptance(&self, accepted: &Accepted) -> v1::Acceptance {
        let durability = self.engine.durability();
        v1::Acceptance {
            invocation_id: accepted.record.invocation_id.to_string(),
            durability: durability.as_str().to_owned(),
            durability_code: encode::durability(durability).into(),
            duplicate: accepted.duplicate,
        }
    }

    async fn cancel(&self, request: v1::CancelInvocationRequest) -> Result<v1::CancelInvocationResponse, CallError> {
        let record = self.find(&request.invocation_id).await?;
        let command = |_: &Invocation| Command::RequestCancel {
            requested_by: request.requested_by.chars().take(256).collect(),
            message: request.reason.chars().take(1024).collect(),
            abort_reason: AbortReason::UserInterruption,
        };
        let engine = self.engine.clone();
        let waited = record.status == InvocationStatus::AwaitingApproval;
        let record = match engine.command(&record.invocation_id, Vec::new(), command).await {
            Ok(record) => record,
            // A repeated request is answered with the standing facts.
            Err(EngineError::Refused { refusal, record }) if is_race(&refusal) => match refusal {
                Refusal::Terminal(_) if record.cancel.is_none() => {
                    let status = record.status;
                    return Err(CallError::Precondition(format!("the invocation has already ended: {status}")));
                }
                _ => record,
            },
            Err(error) => return Err(error.into()),
        };
        if waited && let Some(approval) = &record.approval_request_ref {
            self.approvals.withdraw(approval, "the call was canceled").await;
        }
        Ok(v1::CancelInvocationResponse {
            cancel: record.cancel.as_ref().map(Into::into),
            invocation: Some((&*record).into()),
        })
    }

    async fn mutations(&self, record: &Invocation) -> Result<Vec<InputMutation>, CallError> {
        let log = self.engine.log(&record.invocation_id).await?;
        let mutated = |event: &LogEvent| event.class == EventClass::ExtInputMutated;
        let data = log.iter().filter(|event| mutated(event)).filter_map(|event| event.data.as_ref());
        Ok(data.map(|data| data.parse()).collect::<Result<_, _>>().map_err(EngineError::from)?)
    }
}

/// The messages of an `Invoke` stream: the first says how the call was accepted, the last carries the result.
fn invoke_messages(api: &InvocationApi, accepted: Accepted) -> Messages<v1::InvokeResponse> {
    let first = Some(api.acceptance(&accepted));
    let Accepted { record, watch, .. } = accepted;
    Box::pin(futures_util::stream::try_unfold((watch, first), move |(mut watch, first)| {
        let record = record.clone();
        async move {
            let Some(item) = watch.next().await.map_err(|error| status::of(error.into()))? else { return Ok(None) };
            let message = v1::InvokeResponse {
                events: encode::events(&record, &item.events),
                accepted: first,
                result: item.terminal.as_deref().map(encode::result),
            };
            Ok(Some((message, (watch, None))))
        }
    }))
}

fn watch_messages(record: Arc<Invocation>, watch: Watch) -> Messages<v1::WatchInvocationResponse> {
    Box::pin(futures_util::stream::try_unfold(watch, move |mut watch| {
        let record = record.clone();
        async move {
            let Some(item) = watch.next().await.map_err(|error| status::of(error.into()))? else { return Ok(None) };
            let message = v1::WatchInvocationResponse {
                events: encode::events(&record, &item.events),
                head_seq: watch.head_seq(),
                result: item.terminal.as_deref().map(encode::result),
            };
            Ok(Some((message, watch)))
        }
    }))
}

#[tonic::async_trait]
impl InvocationService for InvocationApi {
    type InvokeStream = Messages<v1::InvokeResponse>;
    type WatchInvocationStream = Messages<v1::WatchInvocationResponse>;
    type ReadPayloadStream = Messages<v1::ReadPayloadResponse>;

    async fn invoke(&self, request: Request<v1::InvokeRequest>) -> Result<Response<Self::InvokeStream>, Status> {
        let accepted = self.accept(request.into_inner().spec).await.map_err(status::of)?;
        Ok(Response::new(invoke_messages(self, accepted)))
    }

    async fn submit_invocation(
        &self,
        request: Request<v1::SubmitInvocationRequest>,
    ) -> Result<Response<v1::SubmitInvocationResponse>, Status> {
        let accepted = self.accept(request.into_inner().spec).await.map_err(status::of)?;
        let response = v1::SubmitInvocationResponse {
            accepted: Some(self.acceptance(&accepted)),
            invocation: Some((&*accepted.record).into()),
        };
        Ok(Response::new(response))
    }

    async fn get_invocation(
        &self,
        request: Request<v1::GetInvocationRequest>,
    ) -> Result<Response<v1::GetInvocationResponse>, Status> {
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            let terminal = self.engine.result(&record.invocation_id).await?;
            let view = request.view();
            let (invocation, json) =
                encode::invocation_views(&self.engine, &record, view, request.include_inputs).await?;
            Ok(v1::GetInvocationResponse {
                invocation: Some(invocation),
                json,
                result_json: terminal.as_ref().and_then(|terminal| encode::json(view, &terminal.result)),
                result: terminal.as_ref().map(encode::result),
            })
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn get_result(
        &self,
        request: Request<v1::GetResultRequest>,
    ) -> Result<Response<v1::GetResultResponse>, Status> {
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            let terminal = self.engine.result(&record.invocation_id).await?.ok_or_else(|| {
                CallError::Precondition(format!("the invocation is {} and has no result yet", record.status))
            })?;
            Ok(v1::GetResultResponse {
                json: encode::json(request.view(), &terminal.result),
                result: Some(encode::result(&terminal)),
            })
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn wait_invocation(
        &self,
        request: Request<v1::WaitInvocationRequest>,
    ) -> Result<Response<v1::WaitInvocationResponse>, Status> {
        let request = request.into_inner();
        let patience = match request.timeout_ms {
            0 => DEFAULT_WAIT_MS,
            asked => asked.min(MAX_WAIT_MS),
        };
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            let id = record.invocation_id.clone();
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
            Ok::<_, CallError>(v1::WaitInvocationResponse {
                done: terminal.is_some(),
                invocation: Some((&*record).into()),
                result: terminal.as_ref().map(encode::result),
            })
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn watch_invocation(
        &self,
        request: Request<v1::WatchInvocationRequest>,
    ) -> Result<Response<Self::WatchInvocationStream>, Status> {
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            let watch = self.engine.watch(&record.invocation_id, request.from_seq).await?;
            Ok(watch_messages(record, watch))
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn cancel_invocation(
        &self,
        request: Request<v1::CancelInvocationRequest>,
    ) -> Result<Response<v1::CancelInvocationResponse>, Status> {
        let (api, request) = (self.clone(), request.into_inner());
        let done = tokio::spawn(async move { api.cancel(request).await }).await;
        let answer = done.map_err(|error| CallError::Internal(error.to_string())).and_then(|answer| answer);
        answer.map(Response::new).map_err(status::of)
    }

    async fn list_invocations(
        &self,
        request: Request<v1::ListInvocationsRequest>,
    ) -> Result<Response<v1::ListInvocationsResponse>, Status> {
        let request = request.into_inner();
        let answer = async {
            let filter = filter(&request)?;
            let list = format!("{}/{filter:?}", self.tenant());
            let after = page::position(&list, &request.page_token)?.as_deref().and_then(read_place);
            let found = self.engine.list(&self.tenant(), &filter, after, page::size(request.page_size)?).await?;
            Ok(v1::ListInvocationsResponse {
                invocations: found.records.iter().map(Into::into).collect(),
                next_page_token: found
                    .next
                    .map(|(score, member)| page::token(&list, &format!("{score} {member}")))
                    .unwrap_or_default(),
            })
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn read_payload(
        &self,
        request: Request<v1::ReadPayloadRequest>,
    ) -> Result<Response<Self::ReadPayloadStream>, Status> {
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            super::payload::read(&self.engine, &self.payloads, &record, &request, CHUNK).await
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn get_persistence(
        &self,
        request: Request<v1::GetPersistenceRequest>,
    ) -> Result<Response<v1::GetPersistenceResponse>, Status> {
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            let kept = self.engine.result(&record.invocation_id).await?.and_then(|terminal| terminal.persistence);
            let wanted = |id: &str| request.decision_id.is_empty() || request.decision_id == id;
            let kept: Vec<_> = kept.into_iter().filter(|kept| wanted(kept.decision_id.as_str())).collect();
            if kept.is_empty() && !request.decision_id.is_empty() {
                return Err(CallError::NotFound { kind: "persistence decision", id: request.decision_id.clone() });
            }
            Ok(v1::GetPersistenceResponse {
                jsons: kept.iter().filter_map(|kept| encode::json(request.view(), kept)).collect(),
                decisions: kept.iter().map(Into::into).collect(),
            })
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn list_mutations(
        &self,
        request: Request<v1::ListMutationsRequest>,
    ) -> Result<Response<v1::ListMutationsResponse>, Status> {
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            let all = self.mutations(&record).await?;
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
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn list_decisions(
        &self,
        request: Request<v1::ListDecisionsRequest>,
    ) -> Result<Response<v1::ListDecisionsResponse>, Status> {
        let request = request.into_inner();
        let answer = async {
            let record = self.find(&request.invocation_id).await?;
            let mut decisions = Vec::new();
            for id in &record.permission_decision_refs {
                decisions.extend(self.engine.decision(id.as_str()).await?);
            }
            Ok(v1::ListDecisionsResponse {
                jsons: decisions.iter().filter_map(|decision| encode::json(request.view(), decision)).collect(),
                decisions: decisions.iter().map(Into::into).collect(),
            })
        };
        answer.await.map(Response::new).map_err(status::of)
    }

    async fn list_workers(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let request = request.into_inner();
        let answer = || {
            let first = read_count(page::position(&"workers", &request.page_token)?);
            let size = page::size(request.page_size)?;
            let all: Vec<_> = self.engine.workers().list().iter().map(|link| encode::worker(link)).collect();
            let wanted = request.state();
            let all: Vec<_> = all
                .into_iter()
                .filter(|worker| wanted == v1::WorkerState::Unspecified || worker.state() == wanted)
                .collect();
            let next = first.saturating_add(size);
            let next_page_token =
                if next < all.len() { page::token(&"workers", &next.to_string()) } else { String::new() };
            let workers = all.into_iter().skip(first).take(size).collect();
            Ok(v1::ListWorkersResponse { workers, next_page_token })
        };
        answer().map(Response::new).map_err(status::of)
    }
}

/// The place a page of invocations begins after: score and id.
fn read_place(place: &str) -> Option<(u64, String)> {
    let (score, member) = place.split_once(' ')?;
    Some((score.parse().ok()?, member.to_owned()))
}

/// How many rows earlier pages had.
fn read_count(place: Option<String>) -> usize {
    place.and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn filter(request: &v1::ListInvocationsRequest) -> Result<InvocationFilter, CallError> {
    let mut statuses = Vec::new();
    if !request.status.is_empty() {
        let status = request.status.parse::<InvocationStatus>();
        statuses.push(status.map_err(|rule| CallError::invalid("status", rule.to_string()))?);
    } else if request.status_code() != v1::InvocationStatus::Unspecified {
        let name = request.status_code().as_str_name().trim_start_matches("INVOCATION_STATUS_").to_lowercase();
        statuses.extend(name.parse::<InvocationStatus>());
    }
    let tool_id = match request.tool_id.as_str() {
        "" => None,
        id => Some(ToolId::parse(id).map_err(|rule| CallError::invalid("tool_id", rule.to_string()))?),
    };
    let instant = |at: Option<prost_types::Timestamp>| {
        at.map(|at| Timestamp::from_millis(at.seconds.saturating_mul(1000) + i64::from(at.nanos) / 1_000_000))
    };
    Ok(InvocationFilter {
        statuses,
        tool_id,
        surface_id: (!request.surface_id.is_empty()).then(|| request.surface_id.clone()),
        created_after: instant(request.created_after),
        created_before: instant(request.created_before),
    })
}
