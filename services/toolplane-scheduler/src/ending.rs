//! From the report of an ended execution to its result, the same whichever worker reports it.
//!
//! A report is cleaned, read, checked against what its tool declares, shown to the hooks after the call, and only then kept and
//! told. Where no hook is asked about it, its result is stored with the report. Where one is, the report is stored
//! first, so that its worker may forget it and nothing is lost; the hooks are asked after that, and their word and the
//! result are one more commit. Nothing can be read of an ending whose hooks have not been asked, and what they took out
//! is removed. A result that a person is asked about waits in the same way, before its hooks ([`question`]).

mod artifacts;
mod asking;
mod declared;
mod effects;
mod execution;
mod facing;
mod keep;
mod next_steps;
mod question;
mod receive;
mod report;
mod resume;
mod rules;
mod stored;
mod taking;
mod told;

use std::sync::Arc;
use std::time::Duration;

use toolplane_hooks::{HookInput, Hooks};
use toolplane_lifecycle::{Command, LeaseKey, ReportedOutcome, ResultQuestion};
use toolplane_proto::v1;
use toolplane_records::evidence::ExecutionSite;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::HookEvent;
use toolplane_results::PayloadStore;

use crate::calls::{Attached, Calls};
use crate::cleaning::{self, Cleaning};
use crate::dispatch::AsksHooks;
use crate::originals::{Keeping, Originals, Whose};
use crate::plan::{DispatchPlan, PlannedOutput};
use crate::provider_news::ProviderNews;
use crate::result_questions::ResultQuestions;
use crate::storage::RecordError;
use crate::taints::SessionTaints;
use effects::Effects;
pub(crate) use next_steps::NextSteps;
pub(crate) use receive::ReportReceipt;
use report::Report;
use rules::Schemas;
pub(crate) use stored::StoredReport;
use taking::Taking;

/// The points at which hooks are asked about an ending.
pub(crate) const HOOK_EVENTS: &[HookEvent] =
    &[HookEvent::PostToolUse, HookEvent::PostToolUseFailure, HookEvent::ResultPersistence];

/// How long beyond the time hooks may take they are waited for, before another task or scheduler asks them.
const SLACK: Duration = Duration::from_secs(10);
/// How long after the end of a question about a result somebody looks that has not heard of it.
const EXPIRED_MS: i64 = 200;

/// Takes reports of ended executions. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Endings(Arc<EndingParts>);

#[derive(Debug)]
struct EndingParts {
    calls: Calls,
    hooks: Hooks,
    payloads: PayloadStore,
    /// What is taken out of everything a tool gives.
    cleaning: Cleaning,
    /// What of it is kept nevertheless, sealed.
    originals: Originals,
    /// Leases whose reports are in work.
    taking: Taking,
    /// Where people are asked about results; nobody is without it.
    questions: Option<ResultQuestions>,
    /// Where sessions are told what they were given.
    taints: SessionTaints,
    /// Told how calls of providers' tools end.
    news: ProviderNews,
    schemas: Schemas,
    next_steps: NextSteps,
    /// Most bytes of a result that are kept inline, whatever its tool says.
    max_inline_bytes: u64,
    /// What tools give may be put into spans (`telemetry.capture_content`).
    capture: bool,
}

/// Says of which plans the endings are shown to `hooks`.
pub(crate) fn asks_hooks(hooks: Hooks) -> AsksHooks {
    Box::new(move |plan| are_asked(&hooks, plan))
}

fn are_asked(hooks: &Hooks, plan: &DispatchPlan) -> bool {
    hooks.any() && HOOK_EVENTS.iter().any(|event| hooks.applies(*event, &told::tool(plan)))
}

impl Endings {
    /// Endings of `calls`, cleaned, shown to `hooks` and kept in `payloads`.
    pub(crate) fn new(
        calls: Calls,
        hooks: Hooks,
        (payloads, cleaning, originals, taints): (PayloadStore, Cleaning, Originals, SessionTaints),
        (news, next_steps): (ProviderNews, NextSteps),
        max_inline_bytes: u64,
        capture: bool,
        questions: Option<ResultQuestions>,
    ) -> Self {
        let schemas = Schemas::default();
        Self(Arc::new(EndingParts {
            calls,
            hooks,
            payloads,
            cleaning,
            originals,
            taking: Taking::default(),
            questions,
            taints,
            news,
            schemas,
            next_steps,
            max_inline_bytes,
            capture,
        }))
    }

    /// Whether hooks are asked about endings of `plan`: until they are, nothing of an output is shown.
    pub(crate) fn hooks_follow(&self, plan: &DispatchPlan) -> bool {
        are_asked(&self.0.hooks, plan)
    }

    /// Takes out of a report what may not be seen, and keeps the report as it came where policy has it so.
    async fn clean(
        &self,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        lease_no: u32,
        outcome: &mut v1::ExecutionOutcome,
        now: Timestamp,
    ) -> Result<(cleaning::Outcome, Keeping), RecordError> {
        let inner = &self.0;
        let nothing = PlannedOutput::default();
        let of = (record, plan.map_or(&nothing, |plan| &plan.declared));
        artifacts::found(&inner.payloads, (record, lease_no), outcome, now).await.map_err(RecordError::Objects)?;
        let wanted = inner.originals.is_wanted(record) || inner.cleaning.asks(of.0, of.1);
        let original = wanted.then(|| outcome.clone());
        let cleaned = inner.cleaning.ending(&inner.payloads, of, lease_no, outcome, now).await;
        let cleaned = cleaned.map_err(RecordError::Objects)?;
        let Some(original) = original else { return Ok((cleaned, Keeping::Unwanted)) };
        let whose = Whose { record, lease_no, now };
        let found = (cleaned.found.as_slice(), question::is_asked(&cleaned.found));
        let kept = Box::pin(inner.originals.keep(&inner.payloads, whose, &original, &cleaned.replaced, found)).await;
        Ok((cleaned, kept.map_err(RecordError::Objects)?))
    }

    /// A report that was stored, checked against what the tool declares.
    async fn read_stored(
        &self,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        mut ending: StoredReport,
    ) -> Result<Box<Report>, RecordError> {
        let (site, now) = (ending.site(), self.0.calls.now().await?);
        self.read(record, plan, record.lease_no, (ending, site), now).await
    }

    /// The report, checked against what the tool declares.
    async fn read(
        &self,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        lease_no: u32,
        (ending, site): (StoredReport, Option<Arc<ExecutionSite>>),
        now: Timestamp,
    ) -> Result<Box<Report>, RecordError> {
        let cleaned = ending.cleaned();
        let gave = ending.outcome.is_some();
        let mut report = Box::new(report::read(record, lease_no, ending.outcome, site, now));
        report.notes = ending.notes;
        report.progress_left_out = ending.progress_left_out;
        if gave {
            report.taints = self.0.taints.labels(plan, &cleaned);
        }
        report.cleaned = cleaned;
        if let Some(error) = report.error.as_mut().filter(|error| !error.next_steps.is_empty()) {
            Box::pin(self.0.next_steps.keep(&self.0.calls, record, &mut error.next_steps)).await?;
        }
        if let Some(plan) = plan {
            declared::apply(&mut report, &plan.declared);
            rules::apply(&mut report, plan, record.safety.is_idempotent, &self.0.schemas, &self.0.payloads, now).await;
        }
        Ok(report)
    }

    /// The hooks that are asked about this ending, in order.
    fn asked(&self, plan: &DispatchPlan, report: &Report) -> Vec<String> {
        if !self.0.hooks.any() {
            return Vec::new();
        }
        let tool = told::tool(plan);
        asking::events(report).iter().flat_map(|event| self.0.hooks.ids(*event, &tool)).collect()
    }

    /// Makes the report durable; its hooks are asked from then on.
    async fn wait_for_hooks(
        &self,
        lease: &LeaseKey,
        report: &Report,
        plan: Option<&DispatchPlan>,
        (hook_ids, question): (Vec<String>, Option<ResultQuestion>),
        attached: Attached,
    ) -> Result<(), RecordError> {
        let calls = &self.0.calls;
        let mut due_at = self.due_at(plan, report).await?;
        if let Some(question) = &question {
            // Whoever hears the answer goes on; when none comes, somebody has to.
            due_at = due_at.max(question.expires_at.plus_millis(EXPIRED_MS));
        }
        let question = question.map(Box::new);
        let command = |_: &_| Command::AwaitHooks {
            lease: lease.clone(),
            hook_ids: hook_ids.clone(),
            due_at,
            question: question.clone(),
        };
        let record = calls.command_with(&lease.call(), attached, command).await?;
        let (endings, id) = (self.clone(), record.key());
        let is_question = question.is_some();
        calls.storage().environment().spawn(async move {
            match is_question {
                // A quick approver has answered already.
                true => endings.look_at_answer(&id).await,
                false => endings.conclude(&id).await,
            }
        });
        Ok(())
    }

    /// What is stored of a report once hooks were asked: what is shown, what is kept elsewhere.
    async fn outcome(
        &self,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        lease_no: u32,
        report: Box<Report>,
        mut effects: Effects,
        now: Timestamp,
    ) -> Box<ReportedOutcome> {
        let inner = &self.0;
        if let Some(plan) = plan {
            effects.keep_by_policy(declared::keeping(&plan.declared));
        }
        let bounds = keep::bounds(plan, inner.max_inline_bytes, &inner.payloads);
        let execution = execution::evidence(record, plan, lease_no, (&report, &effects), now);
        let kept = keep::keep(&inner.payloads, record, lease_no, bounds, now, report, &effects).await;
        let outcome = facing::outcome(*kept, effects, inner.max_inline_bytes);
        Box::new(ReportedOutcome { execution: Some(Arc::new(execution)), ..outcome })
    }

    /// When hooks that are asked now should have answered.
    async fn due_at(&self, plan: Option<&DispatchPlan>, report: &Report) -> Result<Timestamp, RecordError> {
        let patience = plan.map(|plan| self.patience(plan, report)).unwrap_or_default() + SLACK;
        Ok(self.0.calls.now().await?.plus_millis(i64::try_from(patience.as_millis()).unwrap_or(i64::MAX / 8)))
    }

    /// How long the hooks of an ending may take together.
    fn patience(&self, plan: &DispatchPlan, report: &Report) -> Duration {
        let tool = told::tool(plan);
        asking::events(report).iter().map(|event| self.0.hooks.patience(*event, &tool)).sum()
    }

    /// What hooks are told of the call.
    async fn told(&self, record: &Invocation, plan: &DispatchPlan) -> Result<HookInput, RecordError> {
        let facts = self.0.calls.records().facts(&record.key()).await?;
        let bodies = self.0.calls.records().inputs(record).await?;
        told::input(record, plan, facts, bodies)
    }
}
