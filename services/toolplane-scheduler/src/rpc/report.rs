//! Reports of workers about single calls.

use std::sync::Arc;

use toolplane_lifecycle::{Command, Holder, InputRequest, LeaseKey, LeaseMessage, Refusal};
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::progress::ToolProgress;
use toolplane_records::result::Cleaned;

use super::answer;
use super::in_work::InWork;
use super::news::News;
use super::partial::{self, Unfit};
use super::wire::{self, lease_key, lease_of};
use super::worker_parts::WorkerParts;
use crate::dispatch::{Started, WorkerLink, WorkerMessage};
use crate::ending::ReportReceipt;
use crate::plan::{DispatchPlan, PlannedOutput};
use crate::storage::RecordError;

/// Longest question, in characters.
const MAX_PROMPT_CHARS: usize = 4_096;

/// Tells a worker that a report of its could not be read: silence would hide its mistake for good.
pub(super) fn refuse(
    link: &WorkerLink,
    lease: Option<v1::LeaseRef>,
    report: &'static str,
    field: String,
    rule: String,
) {
    tracing::warn!(worker_id = %link.info.worker_id, report, field, rule, "a report cannot be read");
    link.send(WorkerMessage::ReportRefused { lease, report, field, rule });
}

/// Takes the reports of single calls.
pub(super) struct CallReports {
    pub(super) parts: WorkerParts,
    pub(super) link: Arc<WorkerLink>,
    /// For whom the worker speaks.
    pub(super) holder: Holder,
    /// Its progress that is not stored yet.
    pub(super) news: Arc<News>,
    /// What of its reports is in work.
    pub(super) in_work: InWork,
}

impl CallReports {
    /// Takes one report about one call.
    pub(super) async fn take(&self, report: Report) {
        let lease_ms = i64::from(self.parts.terms.lease_ms);
        let lease = match lease_key(lease_of(&report).cloned(), &self.holder) {
            Ok(lease) => lease,
            Err(error) => {
                let lease = lease_of(&report).cloned();
                return refuse(&self.link, lease, wire::name_of(&report), error.field, error.rule);
            }
        };
        // Each in a box of its own: a task is copied when it begins, and would be as large as the largest of them.
        match report {
            Report::StartRequested(_) => Box::pin(self.start(lease, lease_ms)).await,
            Report::Progress(report) => match field::required::<_, ToolProgress>("progress", report.progress) {
                Ok(progress) => Box::pin(self.progress(&lease, progress)).await,
                Err(error) => refuse(&self.link, report.lease, "progress", error.field, error.rule),
            },
            Report::Partial(partial) => {
                let told = partial.lease.clone();
                if let Err(Unfit { field, rule }) = Box::pin(self.partial(&lease, partial)).await {
                    refuse(&self.link, told, "partial", field.to_owned(), rule);
                }
            }
            Report::Done(done) => {
                let id = lease.invocation_id.clone();
                // Unanswered, the worker reports again.
                if let Err(error) = Box::pin(self.done(lease, done.outcome)).await {
                    tracing::warn!(invocation_id = %id, %error, "a report could not be stored");
                }
            }
            Report::CancelAcknowledged(answer) => {
                let supported = answer.supported;
                let command = |_: &_| Command::AcknowledgeCancel { lease: lease.clone(), supported };
                Box::pin(self.command(&lease, command)).await;
            }
            Report::Released(released) => {
                let reason: String = released.reason.chars().take(64).collect();
                let command = |_: &_| Command::Release { lease: lease.clone(), reason: reason.clone() };
                Box::pin(self.command(&lease, command)).await;
            }
            Report::InputRequested(asked) => Box::pin(self.ask(lease, asked)).await,
            // Stored with whatever is stored next; a lost offer simply lapses.
            Report::Received(_) => Box::pin(self.parts.calls.note_receipt(&lease)).await,
            _ => {}
        }
    }

    /// An execution says how far it is. What comes while an earlier report is being stored takes the place of the one before it.
    /// Only what is to be stored is cleaned, so that the end of the call waits behind no cleaning of what nobody will see.
    async fn progress(&self, lease: &LeaseKey, progress: ToolProgress) {
        let name = lease.lease_id.as_str();
        if !self.news.put(name, progress) {
            return;
        }
        while let Some(mut progress) = self.news.next(name) {
            let Ok(record) = self.parts.calls.cached(&lease.call()).await else {
                // A call that is not there has no progress.
                self.news.end(name);
                return;
            };
            let plan = self.plan(&record).await.filter(|plan| plan.declared.supports_progress);
            let Some(plan) = plan else {
                self.news.left_out(name);
                continue;
            };
            let texts = [&mut progress.message, &mut progress.current_step].into_iter();
            let found: Vec<Cleaned> =
                texts.flat_map(|text| self.parts.cleaning.said(&record, &plan.declared, text)).collect();
            if !self.noted(&record, &found).await {
                self.news.left_out(name);
                continue;
            }
            let command = |_: &_| Command::Progress { lease: lease.clone(), progress: progress.clone() };
            match self.parts.calls.command(&lease.call(), command).await {
                Err(RecordError::Refused { refusal: Refusal::NothingToDo, .. }) => self.news.left_out(name),
                stored => {
                    let over = matches!(stored, Err(RecordError::Refused { .. } | RecordError::NotFound));
                    self.heed(lease, stored);
                    if over {
                        self.news.end(name);
                    }
                }
            }
        }
    }

    /// An execution shows what it has so far.
    async fn partial(&self, lease: &LeaseKey, reported: v1::PartialReported) -> Result<(), Unfit> {
        // A call that is not there shows nothing.
        let Ok(record) = self.parts.calls.cached(&lease.call()).await else { return Ok(()) };
        let plan = self.plan(&record).await;
        let nothing = PlannedOutput::default();
        let declared = plan.as_ref().map_or(&nothing, |plan| &plan.declared);
        let withheld = plan.as_ref().is_none_or(|plan| self.parts.endings.hooks_follow(plan));
        let mut found = Vec::new();
        let partial = partial::read(reported, declared, |blocks| match withheld {
            // What hooks after the call may take away is shown to nobody before.
            true => blocks.clear(),
            false => found = self.parts.cleaning.blocks(&record, declared, blocks),
        })?;
        let nothing = partial.content.is_empty() && partial.resume_token.is_none();
        if nothing || !self.noted(&record, &found).await {
            return Ok(());
        }
        let command = |_: &_| Command::Partial { lease: lease.clone(), partial: partial.clone() };
        match self.parts.calls.command(&lease.call(), command).await {
            Err(RecordError::Refused { refusal: Refusal::NothingToDo, .. }) => Err(partial::too_many()),
            stored => {
                self.heed(lease, stored);
                Ok(())
            }
        }
    }

    /// How the call runs; none where that is not known.
    async fn plan(&self, record: &Invocation) -> Option<Arc<DispatchPlan>> {
        self.parts.calls.plans().of(record).await.ok().flatten()
    }

    /// The first effect of a call that must not run twice waits for this to be durable.
    async fn start(&self, lease: LeaseKey, lease_ms: i64) {
        let answer = match self.parts.starts.start(&lease, lease_ms).await {
            Ok(Started::Granted) => WorkerMessage::StartGranted { lease },
            Ok(Started::Ended(reason)) => WorkerMessage::StartRefused { lease, reason: reason.to_owned() },
            Err(error) => {
                let reason = match &error {
                    RecordError::Refused { refusal, .. } => refusal.to_string(),
                    _ => "the start could not be stored".to_owned(),
                };
                WorkerMessage::StartRefused { lease, reason }
            }
        };
        self.link.send(answer);
    }

    /// An execution ended. Answered once that is durable, or known to change nothing; an error means that it is neither. A report that
    /// this stream has in work already is not taken again.
    pub(super) async fn done(
        &self,
        lease: LeaseKey,
        outcome: Option<Box<v1::ExecutionOutcome>>,
    ) -> Result<(), RecordError> {
        // Said again while it is in work: the answer comes on this very stream.
        let Some(_end) = self.in_work.begin_end(&lease) else { return Ok(()) };
        let left_out = self.news.end(lease.lease_id.as_str());
        let answer = match self.parts.endings.take(&lease, outcome, Some(self.link.site()), left_out).await? {
            ReportReceipt::Stored => WorkerMessage::DoneAcknowledged { lease },
            ReportReceipt::Fenced => LeaseMessage::Fenced { lease }.into(),
        };
        self.link.send(answer);
        Ok(())
    }

    /// A running tool asks a question. A question without a person to answer it is declined at once.
    async fn ask(&self, lease: LeaseKey, mut asked: v1::InputRequested) {
        if let Ok(record) = self.parts.calls.cached(&lease.call()).await {
            let plan = self.plan(&record).await;
            let nothing = PlannedOutput::default();
            let declared = plan.as_ref().map_or(&nothing, |plan| &plan.declared);
            let mut found = self.parts.cleaning.said(&record, declared, &mut asked.prompt);
            let schemas = asked.schema.iter_mut();
            found.extend(schemas.flat_map(|schema| self.parts.cleaning.said_json(&record, declared, schema)));
            if !self.noted(&record, &found).await {
                let input_id = asked.input_id;
                return self.link.send(LeaseMessage::Input { lease, input_id, input: None, expired: false }.into());
            }
        }
        let schema = field::optional::<_, JsonPayload>("schema", asked.schema).ok();
        let Some(schema) = schema.filter(|schema| answer::is_askable(schema.as_ref()) && !asked.input_id.is_empty())
        else {
            tracing::warn!(invocation_id = %lease.invocation_id, "a tool's question has no id or a schema that people cannot answer; it is declined");
            let input_id = asked.input_id;
            return self.link.send(LeaseMessage::Input { lease, input_id, input: None, expired: false }.into());
        };
        let input = InputRequest {
            input_id: asked.input_id.chars().take(128).collect(),
            prompt: asked.prompt.chars().take(MAX_PROMPT_CHARS).collect(),
            schema,
            ttl_ms: asked.ttl_ms.into(),
        };
        self.command(&lease, |_| Command::RequestInput { lease: lease.clone(), input: input.clone() }).await;
    }

    /// Has the session of `record` know what was found in what its tool says while it runs. Nobody may be shown it where this fails.
    async fn noted(&self, record: &Invocation, found: &[Cleaned]) -> bool {
        let labels = self.parts.taints.labels(None, found);
        if labels.is_empty() {
            return true;
        }
        let noted = async { self.parts.taints.note(record, &labels, self.parts.calls.now().await?).await };
        let noted: Result<(), RecordError> = noted.await;
        if let Err(error) = &noted {
            tracing::warn!(invocation_id = %record.invocation_id, %error, "what a running tool says is left out: its session could not be told");
        }
        noted.is_ok()
    }

    async fn command(&self, lease: &LeaseKey, command: impl Fn(&Invocation) -> Command) {
        let stored = self.parts.calls.command(&lease.call(), command).await;
        self.heed(lease, stored);
    }

    /// Tells the worker the outcome of a report where it has to know.
    fn heed(&self, lease: &LeaseKey, stored: Result<Arc<Invocation>, RecordError>) {
        match stored {
            Ok(_) => {}
            Err(RecordError::Refused { refusal: Refusal::Fenced | Refusal::Terminal(_), .. }) => {
                self.link.send(LeaseMessage::Fenced { lease: lease.clone() }.into());
            }
            Err(RecordError::Refused { .. }) => {}
            Err(error) => tracing::warn!(invocation_id = %lease.invocation_id, %error, "a report could not be stored"),
        }
    }
}
