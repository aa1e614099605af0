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
mod report;
mod resume;
mod rules;
mod stored;
mod taking;
mod told;

use std::sync::Arc;
use std::time::Duration;

use toolplane_hooks::{HookInput, Hooks};
use toolplane_lifecycle::{Command, LeaseKey, Refusal, ReportedOutcome, ResultQuestion};
use toolplane_proto::v1;
use toolplane_records::evidence::ExecutionSite;
use toolplane_records::invocation::{Invocation, Lease};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::HookEvent;
use toolplane_results::PayloadStore;

use crate::calls::{Attached, Calls};
use crate::cleaning::{self, Cleaning};
use crate::dispatch::AsksHooks;
use crate::originals::{self, Keeping, Originals, Whose};
use crate::plan::{DispatchPlan, PlannedOutput};
use crate::provider_news::ProviderNews;
use crate::result_questions::ResultQuestions;
use crate::storage::RecordError;
use crate::taints::SessionTaints;
use effects::Effects;
pub(crate) use next_steps::NextSteps;
use report::Report;
use rules::Schemas;
pub(crate) use stored::StoredReport;
use taking::{Taking, Turn};

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

/// What is stored with an ending whose original is kept.
fn attached(original: &Keeping) -> Attached {
    let original = match original {
        Keeping::Kept(original) => Some(original.clone()),
        Keeping::Unwanted | Keeping::Not(_) => None,
    };
    Attached { original, ..Attached::default() }
}

/// Says of which plans the endings are shown to `hooks`.
pub(crate) fn asks_hooks(hooks: Hooks) -> AsksHooks {
    Box::new(move |plan| are_asked(&hooks, plan))
}

fn are_asked(hooks: &Hooks, plan: &DispatchPlan) -> bool {
    hooks.any() && HOOK_EVENTS.iter().any(|event| hooks.applies(*event, &told::tool(plan)))
}

/// Where an execution under the lease `held` ran that a worker at `site` reports.
fn who_ran_it(site: Option<Arc<ExecutionSite>>, held: &Lease) -> Arc<ExecutionSite> {
    let is_it = |site: &Arc<ExecutionSite>| site.worker_id == held.worker_id && site.incarnation == held.incarnation;
    // What this start of the worker says of itself may not be so of an earlier one.
    site.filter(is_it).unwrap_or_else(|| Arc::new(ExecutionSite::of(held.worker_id.clone(), held.incarnation.clone())))
}

/// What a worker is told about its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportReceipt {
    /// It is durable, or known before: forget it.
    Stored,
    /// The lease was no longer the worker's; the report is kept as evidence at most.
    Fenced,
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

    /// Takes the report of the execution under `lease` that a worker at `site` sends, of whose progress so many reports were left out.
    /// One that is in work already is not taken beside itself: what becomes of it is waited for.
    /// An error means that it is neither stored nor known to change nothing.
    pub(crate) async fn take(
        &self,
        lease: &LeaseKey,
        reported: Option<Box<v1::ExecutionOutcome>>,
        site: Option<Arc<ExecutionSite>>,
        progress_left_out: u64,
    ) -> Result<ReportReceipt, RecordError> {
        loop {
            match self.0.taking.begin(lease) {
                Turn::First(taken) => {
                    let receipt = Box::pin(self.take_once(lease, reported, site, progress_left_out)).await?;
                    taken.answered(receipt);
                    return Ok(receipt);
                }
                // Whoever had it in work may have failed; this one is still here then.
                Turn::Again(elsewhere) => match elsewhere.answer().await {
                    Some(receipt) => return Ok(receipt),
                    None => continue,
                },
            }
        }
    }

    async fn take_once(
        &self,
        lease: &LeaseKey,
        mut reported: Option<Box<v1::ExecutionOutcome>>,
        mut site: Option<Arc<ExecutionSite>>,
        progress_left_out: u64,
    ) -> Result<ReportReceipt, RecordError> {
        let inner = &self.0;
        let record = match inner.calls.cached(&lease.call()).await {
            Ok(record) => record,
            Err(RecordError::NotFound) => return Ok(ReportReceipt::Stored),
            Err(error) => return Err(error),
        };
        // A sender that names the current lease and is not its holder is not listened to at all.
        if record.lease.as_ref().is_some_and(|held| held.lease_no == lease.lease_no && !lease.names(held)) {
            return Ok(ReportReceipt::Fenced);
        }
        if let Some(known) = self.known(&record, lease).await? {
            return Ok(known);
        }
        let plan = inner.calls.plans().of(&record).await?;
        let now = inner.calls.now().await?;
        if let Some(outcome) = &mut reported {
            // The lease says who ran it, whatever the report does.
            outcome.site = None;
        }
        if let Some(held) = &record.lease {
            site = Some(who_ran_it(site, held));
        }
        let (cleaned, mut original) = match &mut reported {
            Some(outcome) => self.clean(&record, plan.as_deref(), lease.lease_no, outcome, now).await?,
            None => (Default::default(), Keeping::Unwanted),
        };
        let mut notes = Vec::new();
        let question = match &reported {
            Some(outcome) if question::is_asked(&cleaned.found) => {
                Box::pin(self.question(&record, outcome, &cleaned.found, &mut original, &mut notes)).await?
            }
            _ => None,
        };
        notes.extend(original.note());
        let mut ending = StoredReport { outcome: reported, progress_left_out, notes, ..Default::default() }
            .with_cleaned(&cleaned.found)
            .asked(question.as_ref());
        let kept = (inner.hooks.any() || question.is_some()).then(|| ending.encoded(site.as_deref()));
        let report = self.read(&record, plan.as_deref(), lease.lease_no, (ending, site), now).await?;
        // Before anybody can read it: what the session calls next is decided with this in mind.
        inner.taints.note(&record, &report.taints, now).await?;
        let asked = plan.as_deref().map(|plan| self.asked(plan, &report)).unwrap_or_default();
        let mut unnamed = cleaned.replaced;
        let (stored, ended) = match kept.filter(|_| !asked.is_empty() || question.is_some()) {
            Some(kept) => {
                let decisions = question.iter().map(|question| question.decision.clone()).collect();
                let attached = Attached { ending: Some(kept), decisions, ..attached(&original) };
                let waited = (asked, question.clone());
                let stored = Box::pin(self.wait_for_hooks(lease, &report, plan.as_deref(), waited, attached)).await;
                (stored, Box::new(facing::outcome(*report, Effects::default(), inner.max_inline_bytes)))
            }
            None => {
                let uploads = report.uploads.clone();
                let outcome = self.outcome(&record, plan.as_deref(), lease.lease_no, report, Effects::default(), now);
                let outcome = Box::pin(outcome).await;
                // What stays of an ending that waits is known when its hooks have answered.
                unnamed.extend(report::unnamed(uploads, &outcome));
                (Box::pin(self.complete(lease, &outcome, attached(&original))).await, outcome)
            }
        };
        if matches!(stored, Err(RecordError::Refused { .. } | RecordError::NotFound)) {
            Box::pin(self.not_stored(lease, question.as_ref(), &original)).await;
        }
        if stored.is_ok() {
            // What is durable names none of them; before that, a worker that reports again needs them.
            self.forget_all(&unnamed).await;
            let error = ended.error.as_ref().filter(|_| report::is_error(ended.status));
            inner.news.called(&record.tenant, &record.tool_id, &record.invocation_id, error);
        }
        match stored {
            Ok(()) | Err(RecordError::NotFound) => Ok(ReportReceipt::Stored),
            Err(RecordError::Refused { record, .. }) if toolplane_lifecycle::is_kept(&record, lease) => {
                let known = Box::pin(inner.calls.records().was_started_by(lease)).await?;
                Ok(if known { ReportReceipt::Stored } else { ReportReceipt::Fenced })
            }
            Err(RecordError::Refused { refusal, .. }) => {
                Box::pin(self.keep_late(lease, &ended)).await?;
                // A repeated report of an ended call has been stored before, or lost its race; either way it is over.
                Ok(if matches!(refusal, Refusal::Terminal(_)) { ReportReceipt::Stored } else { ReportReceipt::Fenced })
            }
            Err(error) => Err(error),
        }
    }

    async fn forget_all(&self, uris: &[String]) {
        for uri in uris {
            Box::pin(self.forget(uri)).await;
        }
    }

    /// Nothing names what was sealed and asked for an ending that is not stored.
    async fn not_stored(&self, lease: &LeaseKey, question: Option<&ResultQuestion>, original: &Keeping) {
        if let Some(question) = question {
            self.not_waited_for(lease, question).await;
        }
        if let Keeping::Kept(original) = original {
            for part in &original.parts {
                originals::forget(&self.0.payloads, part).await;
            }
        }
    }

    /// What is said of a report that was taken before: it changes nothing, so it is not cleaned once more.
    async fn known(&self, record: &Invocation, lease: &LeaseKey) -> Result<Option<ReportReceipt>, RecordError> {
        if !toolplane_lifecycle::is_taken(record, lease) {
            return Ok(None);
        }
        let known = Box::pin(self.0.calls.records().was_started_by(lease)).await?;
        Ok(Some(if known { ReportReceipt::Stored } else { ReportReceipt::Fenced }))
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

    /// Ends the call with a report no hook is asked about.
    async fn complete(
        &self,
        lease: &LeaseKey,
        outcome: &ReportedOutcome,
        attached: Attached,
    ) -> Result<(), RecordError> {
        let command = |_: &_| Command::Complete { lease: lease.clone(), outcome: Box::new(outcome.clone()) };
        self.0.calls.command_with(&lease.call(), attached, command).await.map(drop)
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

    /// Keeps a report that came too late as evidence; it changes nothing else.
    async fn keep_late(&self, lease: &LeaseKey, outcome: &ReportedOutcome) -> Result<(), RecordError> {
        if !self.0.calls.records().was_started_by(lease).await? {
            return Ok(());
        }
        let late = |record: &Invocation, now| {
            toolplane_lifecycle::late_report(record, lease, outcome, now).ok_or(Refusal::NothingToDo)
        };
        match self.0.calls.change(&lease.call(), Attached::default(), late).await {
            Ok(_) | Err(RecordError::Refused { .. } | RecordError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
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
