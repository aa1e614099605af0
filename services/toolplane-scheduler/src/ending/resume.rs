//! Asking hooks about a stored ending, by the scheduler that stored it or by another one after it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolplane_lifecycle::Command;
use toolplane_matching::ToolFacts;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::InvocationStatus;
use toolplane_results::payload::key::PayloadKey;
use toolplane_runtime::telemetry::semconv::gen_ai;
use toolplane_runtime::telemetry::spans::{self, CallFacts};
use toolplane_runtime::telemetry::{CarriedContext, Instrument as _, Span};

use super::effects::Effects;
use super::report::{self, Report};
use super::{Endings, StoredReport, asking};
use crate::calls::{Attached, is_race};
use crate::plan::DispatchPlan;
use crate::storage::RecordError;

/// How often hooks of one ending are asked before it is withheld: the schedulers that ask them die.
const MAX_TRIES: u32 = 3;
/// How long beyond their own bounds hooks are waited for.
const GRACE: Duration = Duration::from_secs(1);
/// Endings taken over at the same time.
const AT_ONCE: usize = 8;
/// Pause before the store is asked for endings once more.
const PAUSE: Duration = Duration::from_millis(500);

impl Endings {
    /// Takes over endings whose hooks should have answered by now, until `stop`; `overdue` names them.
    pub(crate) async fn run(self, mut overdue: mpsc::UnboundedReceiver<InvocationKey>, stop: CancellationToken) {
        let work = async {
            self.take_over_at_start().await;
            while let Some(id) = overdue.recv().await {
                self.take_over(&id, false).await;
            }
        };
        stop.run_until_cancelled(work).await;
    }

    /// No other process uses a store that is not shared: what waits there waits for this process.
    async fn take_over_at_start(&self) {
        if self.0.calls.storage().is_shared() {
            return;
        }
        let waiting = loop {
            match self.0.calls.records().waiting_for_hooks().await {
                Ok(waiting) => break waiting,
                Err(error) => tracing::warn!(%error, "endings that wait for hooks could not be read; trying again"),
            }
            tokio::time::sleep(PAUSE).await;
        };
        let each = |id: InvocationKey| async move { self.take_over(&id, true).await };
        futures_util::stream::iter(waiting).map(each).buffer_unordered(AT_ONCE).collect::<()>().await;
    }

    /// Asks the hooks of an ending in place of another scheduler, if no other was faster.
    async fn take_over(&self, id: &InvocationKey, alone: bool) {
        let taken = async {
            if alone && self.waits_for_a_person(id).await? {
                // What waits for a person is no hook that was asked in vain.
                return Ok(false);
            }
            let record = self.0.calls.records().get(id).await?;
            let Some(plan) = self.0.calls.plans().of(&record).await? else { return Ok(false) };
            let report = self.stored(&record).await?;
            let due_at = self.due_at(Some(&plan), &report).await?;
            let take = |_: &Invocation| Command::TakeHooks { due_at, alone };
            match self.0.calls.command(id, take).await {
                Ok(_) => Ok(true),
                Err(RecordError::Refused { refusal, .. }) if is_race(&refusal) => Ok(false),
                Err(error) => Err(error),
            }
        };
        match taken.await {
            Ok(true) => {
                tracing::info!(invocation_id = %id, "asking the hooks of an ending again, which another scheduler did not finish");
                let (endings, id) = (self.clone(), id.clone());
                let environment = self.0.calls.storage().environment();
                environment.spawn(async move { endings.conclude(&id).await });
            }
            Ok(false) | Err(RecordError::NotFound) => {}
            Err(error) => tracing::warn!(invocation_id = %id, %error, "hooks could not be asked; trying again later"),
        }
    }

    /// Asks the hooks of a stored ending, and ends the call with what they leave. What fails here is tried again by the
    /// scheduler that sees that it is overdue.
    pub(super) async fn conclude(&self, id: &InvocationKey) {
        if let Err(error) = self.try_conclude(id).await {
            tracing::warn!(invocation_id = %id, %error, "an ending could not be stored after its hooks; trying again later");
        }
    }

    async fn try_conclude(&self, id: &InvocationKey) -> Result<(), RecordError> {
        let calls = &self.0.calls;
        let record = calls.records().get(id).await?;
        let waits = record.status == InvocationStatus::PostHooksRunning;
        let Some(asked) = record.post_hooks.filter(|_| waits) else { return Ok(()) };
        let plan = calls.plans().of(&record).await?;
        let stored = StoredReport::read(calls.records().ending(id).await?);
        let is_question = stored.is_question();
        let mut report = self.read_stored(&record, plan.as_deref(), stored.clone()).await?;
        let mut uploads = report.uploads.clone();
        let mut answer = None;
        if is_question {
            let Some(settled) = self.settled(&record, plan.as_deref(), stored).await? else { return Ok(()) };
            uploads.extend(settled.replaced);
            (report, answer) = (settled.report, settled.answer.map(Box::new));
        }
        let mut effects = Effects { asked: true, ..Effects::default() };
        if is_question && plan.as_deref().is_none_or(|plan| self.asked(plan, &report).is_empty()) {
            effects.asked = false;
        } else {
            self.ask_hooks(&record, plan.as_deref(), asked.tries, &mut report, &mut effects).await?;
        }
        let now = calls.now().await?;
        let outcome = self.outcome(&record, plan.as_deref(), record.lease_no, report, effects, now).await;
        let decisions = answer.iter().map(|answer| PermissionDecision::clone(answer)).collect();
        let attached = Attached { decisions, ..Attached::default() };
        let command = |_: &Invocation| Command::Conclude { outcome: outcome.clone(), answer: answer.clone() };
        let stored = match calls.command_with(id, attached, command).await {
            Ok(_) => Some(&outcome),
            // The caller's deadline passed first, or another scheduler was faster: then its payloads are named.
            Err(RecordError::Refused { record, .. }) if record.status == InvocationStatus::TimedOut => None,
            Err(RecordError::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let gone = match stored {
            Some(outcome) => report::unnamed(uploads, outcome).collect(),
            None => uploads,
        };
        self.forget_all(&gone).await;
        Ok(())
    }

    /// Asks the hooks about an ending, for the time of `tries`.
    async fn ask_hooks(
        &self,
        record: &Arc<Invocation>,
        plan: Option<&DispatchPlan>,
        tries: u32,
        report: &mut Report,
        effects: &mut Effects,
    ) -> Result<(), RecordError> {
        match plan {
            _ if tries > MAX_TRIES => {
                effects.unasked(report, "each scheduler that asked them stopped before they answered");
            }
            Some(plan) => {
                let told = self.told(record, plan).await?;
                let span = post_hooks_span(record, &told.tool);
                let until = tokio::time::Instant::now() + self.patience(plan, report) + GRACE;
                let now = self.0.calls.now().await?;
                asking::ask(&self.0.hooks, &self.0.payloads, &told, report, effects, until, now)
                    .instrument(&span)
                    .await;
                if let (None, Some(left)) = (&report.error, &report.output.structured_content) {
                    spans::content(&span, self.0.capture, gen_ai::TOOL_CALL_RESULT, left.text());
                }
                spans::end_execution(&span, report.error.as_ref().map(|error| error.error_class));
            }
            None => effects.unasked(report, "the record of how the call ran is gone"),
        }
        Ok(())
    }

    /// The ending of `record` as it was reported, checked against what its tool declares.
    async fn stored(&self, record: &Arc<Invocation>) -> Result<Box<Report>, RecordError> {
        let ending = StoredReport::read(self.0.calls.records().ending(&record.key()).await?);
        let plan = self.0.calls.plans().of(record).await?;
        self.read_stored(record, plan.as_deref(), ending).await
    }

    /// Removes what hooks or cleaning took out. Nothing names it any more, so a failure leaves no more than an object that cannot
    /// be reached.
    pub(super) async fn forget(&self, uri: &str) {
        let Ok(key) = uri.parse::<PayloadKey>() else { return };
        if let Err(error) = self.0.payloads.remove(&key).await {
            tracing::warn!(%error, "an output that was taken out is still in the object store; no record names it");
        }
    }
}

/// The place of the hooks of an ending in its trace: below the call.
fn post_hooks_span(record: &Invocation, tool: &ToolFacts) -> Span {
    let facts = CallFacts {
        invocation_id: record.invocation_id.as_str(),
        tool_name: &tool.full_name,
        tool_id: tool.tool_id.as_str(),
        tenant: record.tenant.as_str(),
        native_call_id: record.native_call_id.as_deref().unwrap_or_default(),
    };
    let position = record.telemetry_refs.first().map(|at| format!("00-{}-{}-01", at.trace_id, at.span_id));
    let carried = CarriedContext { traceparent: position.unwrap_or_default(), ..CarriedContext::default() };
    spans::post_hooks(&facts, &carried)
}
