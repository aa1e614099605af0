//! Accepting single calls.

use std::sync::Arc;
use std::time::Duration;

use prost::Message as _;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_forms::Asked;
use toolplane_lifecycle::Terminal;
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::InvocationStatus;
use toolplane_runtime::Caller;
use toolplane_runtime::telemetry::Instrument as _;

use super::encode;
use super::follow::{self, Messages};
use super::forms::{Forms, Telling, asked};
use super::patience::{self, Waited};
use crate::calls::{Admitted, Calls};
use crate::dispatch::Admissions;
use crate::error::CallError;
use crate::intake::{CallSpec, Preparer, SpecLimits};
use crate::recheck::Approvals;
use crate::trace::CallTrace;
use crate::watch::{Watch, Watchers};

/// The handlers that take calls in.
#[derive(Clone, Debug)]
pub(super) struct Accepting {
    pub(super) calls: Calls,
    pub(super) admissions: Admissions,
    pub(super) preparer: Arc<Preparer>,
    pub(super) approvals: Approvals,
    pub(super) watchers: Watchers,
    pub(super) limits: SpecLimits,
    pub(super) forms: Forms,
    /// This process is told to stop.
    pub(super) drains: CancellationToken,
}

/// An accepted call and how to follow it.
struct Accepted {
    record: Arc<Invocation>,
    duplicate: bool,
    watch: Watch,
}

impl Accepting {
    /// Accepts a call, or finds the one that was accepted for the same request.
    async fn accept(&self, caller: &Arc<Caller>, spec: Option<v1::InvocationSpec>) -> Result<Accepted, CallError> {
        let spec = CallSpec::decode(spec, caller, &self.limits)?;
        if spec.repeat.may_exist
            && let Some(record) = Box::pin(self.calls.records().accepted(&spec.asked(self.limits.shards))).await?
        {
            return Box::pin(self.attach(&spec, record)).await;
        }
        let trace = CallTrace::start(&spec);
        // In a box, because a future that is handed on is copied each time.
        let preparing = Box::pin(self.preparer.prepare(&spec, trace.telemetry_refs()));
        let mut admission = preparing.instrument(trace.span()).await?;
        trace.decided(&admission);
        let send = trace.send(&spec, &mut admission);
        let watch = self.watchers.watch_new(&spec.key());
        // In a box: the future of a commit is some 20 KB, which the task of the request would hold from its beginning.
        match Box::pin(self.admissions.admit(admission)).instrument(&send).await? {
            Admitted::New(record) => {
                look_after(&self.calls, &self.approvals, &record);
                Ok(Accepted { record, duplicate: false, watch: watch.traced(trace) })
            }
            Admitted::Exists(record) => Box::pin(self.attach(&spec, record)).await,
        }
    }

    /// Accepts a call and follows it to its end: the first message says how it was accepted.
    pub(super) async fn invoke(
        &self,
        caller: &Arc<Caller>,
        request: v1::InvokeRequest,
    ) -> Result<Messages<v1::InvokeResponse>, CallError> {
        let asked = asked(request.form)?;
        let accepted = self.accept(caller, request.spec).await?;
        let first = self.acceptance(&accepted);
        let record = Arc::clone(&accepted.record);
        let telling = asked.map(|asked| Telling::new(self.forms.clone(), Arc::clone(caller), record, asked, 1));
        Ok(follow::invoked(first, accepted.record, accepted.watch, telling))
    }

    /// Accepts a call and waits for its end, at most as long as the caller waits: `left` of the deadline of its request. A call that asks
    /// its caller something is waited for no longer, and none is once this process is told to stop.
    pub(super) async fn call(
        &self,
        caller: &Arc<Caller>,
        request: v1::CallRequest,
        left: Option<Duration>,
    ) -> Result<v1::CallResponse, CallError> {
        // Nobody waits for a call in the background.
        let waits = !request.spec.as_ref().is_some_and(|spec| spec.background);
        let patience = if waits { patience::within(patience::of(request.wait_ms), left) } else { Duration::ZERO };
        let until = Instant::now() + patience;
        let asked = asked(request.form)?;
        let mut accepted = self.accept(caller, request.spec).await?;
        let acceptance = Some(self.acceptance(&accepted));
        let waited = patience::wait(until, &self.drains, accepted.watch.end()).await;
        let cut_short = waited.cut_short();
        if let Waited::Done(ended) = waited
            && let Some(terminal) = ended?
        {
            let answer = v1::CallResponse {
                accepted: acceptance,
                result: Some(Box::new(encode::result(&terminal))),
                ..Default::default()
            };
            let Some(asked) = asked else { return Ok(answer) };
            return Box::pin(self.formed(caller, &accepted.record, Some(&terminal), asked, answer)).await;
        }
        let record = self.calls.cached(&accepted.record.key()).await?;
        let ended = if record.status.is_terminal() { self.calls.records().result(&record.key()).await? } else { None };
        let answer = v1::CallResponse {
            accepted: acceptance,
            invocation: ended.is_none().then(|| Box::new((&*record).into())),
            result: ended.as_ref().map(|ended| Box::new(encode::result(ended))),
            formed: None,
            cut_short: cut_short.filter(|_| ended.is_none()),
        };
        let Some(asked) = asked else { return Ok(answer) };
        Box::pin(self.formed(caller, &record, ended.as_ref(), asked, answer)).await
    }

    /// The answer with the form that was asked for.
    async fn formed(
        &self,
        caller: &Caller,
        record: &Arc<Invocation>,
        terminal: Option<&Terminal>,
        asked: Asked,
        mut answer: v1::CallResponse,
    ) -> Result<v1::CallResponse, CallError> {
        // The record as it is now: it was accepted in another state.
        let record = self.calls.records().get(&record.key()).await?;
        let beside = answer.encoded_len();
        answer.formed = self.forms.of_call(caller, &record, terminal, Some(&asked), beside).await?;
        Ok(answer)
    }

    /// What would be decided about a call, and why.
    pub(super) async fn explain(
        &self,
        caller: &Arc<Caller>,
        request: v1::ExplainInvocationRequest,
    ) -> Result<v1::ExplainInvocationResponse, CallError> {
        let spec = CallSpec::decode(request.spec, caller, &self.limits)?;
        self.preparer.explain(spec).await
    }

    /// Accepts a call and answers at once.
    pub(super) async fn submit(
        &self,
        caller: &Arc<Caller>,
        request: v1::SubmitInvocationRequest,
    ) -> Result<v1::SubmitInvocationResponse, CallError> {
        let accepted = self.accept(caller, request.spec).await?;
        Ok(v1::SubmitInvocationResponse {
            accepted: Some(self.acceptance(&accepted)),
            invocation: Some(Box::new((&*accepted.record).into())),
        })
    }

    /// A request for a call that was accepted before: the same request follows it, a different one is a mistake.
    async fn attach(&self, spec: &CallSpec, record: Arc<Invocation>) -> Result<Accepted, CallError> {
        if record.request_digest != spec.repeat.digest || record.tenant != spec.caller.tenant {
            return Err(CallError::Reused { id: record.invocation_id.to_string() });
        }
        let watch = self.watchers.watch(&record.key(), 1).await?;
        Ok(Accepted { record, duplicate: true, watch })
    }

    /// What the caller is told of the acceptance.
    fn acceptance(&self, accepted: &Accepted) -> v1::Acceptance {
        let durability = self.calls.storage().durability();
        v1::Acceptance {
            invocation_id: accepted.record.invocation_id.to_string(),
            durability: durability.as_str().to_owned(),
            durability_code: encode::durability(durability).into(),
            duplicate: accepted.duplicate,
        }
    }
}

/// Brings the answer to an accepted call's question, in case it was given before the call was there to get it.
pub(super) fn look_after(calls: &Calls, approvals: &Approvals, record: &Invocation) {
    if let (InvocationStatus::AwaitingApproval, Some(approval)) = (record.status, record.approval_request_ref.clone()) {
        let (approvals, tenant) = (approvals.clone(), record.tenant.clone());
        calls.storage().environment().spawn(async move { approvals.look(&tenant, &approval).await });
    }
}
