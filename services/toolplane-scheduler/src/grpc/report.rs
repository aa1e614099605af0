//! Reports of workers about single calls.

use std::sync::Arc;

use toolplane_faultpoint::point;
use toolplane_lifecycle::{Command, Holder, InputRequest, LeaseKey, Outcome, Refusal};
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::progress::ToolProgress;

use super::news::News;
use super::session::WorkerTerms;
use super::wire::{lease_key, lease_of};
use super::{answer, outcome};
use crate::engine::{Attached, Engine, EngineError, Message, Started, WorkerLink};

/// Longest question, in characters.
const MAX_PROMPT_CHARS: usize = 4_096;

/// Takes the reports of single calls.
pub(super) struct CallReports {
    pub(super) engine: Engine,
    pub(super) link: Arc<WorkerLink>,
    pub(super) terms: WorkerTerms,
    /// For whom the worker speaks.
    pub(super) holder: Holder,
    /// Its progress that is not stored yet.
    pub(super) news: Arc<News>,
}

impl CallReports {
    /// Takes one report about one call.
    pub(super) async fn take(&self, report: Report) {
        let lease_ms = i64::from(self.terms.lease_ms);
        let Ok(lease) = lease_key(lease_of(&report).cloned(), &self.holder) else {
            tracing::warn!(worker_id = %self.link.info.worker_id, "a report without a well-formed lease was ignored");
            return;
        };
        match report {
            Report::StartRequested(_) => self.start(lease, lease_ms).await,
            Report::Progress(report) => {
                if let Some(progress) = report.progress.and_then(|progress| ToolProgress::try_from(progress).ok()) {
                    self.progress(&lease, progress).await;
                }
            }
            Report::Done(done) => {
                let id = lease.invocation_id.clone();
                // Unanswered, the worker reports again.
                if let Err(error) = self.done(lease, done.outcome).await {
                    tracing::warn!(invocation_id = %id, %error, "a report could not be stored");
                }
            }
            Report::CancelAcknowledged(answer) => {
                let supported = answer.supported;
                self.command(&lease, |_| Command::AcknowledgeCancel { lease: lease.clone(), supported }).await;
            }
            Report::Released(released) => {
                let reason: String = released.reason.chars().take(64).collect();
                self.command(&lease, |_| Command::Release { lease: lease.clone(), reason: reason.clone() }).await;
            }
            Report::InputRequested(asked) => self.ask(lease, asked).await,
            // Stored with whatever is stored next; a lost offer simply lapses.
            Report::Received(_) => self.engine.received(&lease).await,
            _ => {}
        }
    }

    /// An execution says how far it is. What comes while an earlier report is being stored takes the place of the one before it.
    async fn progress(&self, lease: &LeaseKey, progress: ToolProgress) {
        let name = lease.lease_id.as_str();
        if !self.news.put(name, progress) {
            return;
        }
        while let Some(progress) = self.news.next(name) {
            let command = |_: &_| Command::Progress { lease: lease.clone(), progress: progress.clone() };
            match self.engine.command(&lease.call(), Vec::new(), command).await {
                Err(EngineError::Refused { refusal: Refusal::NothingToDo, .. }) => self.news.left_out(name),
                stored => {
                    let over = matches!(stored, Err(EngineError::Refused { .. } | EngineError::NotFound));
                    self.heed(lease, stored);
                    if over {
                        self.news.end(name);
                    }
                }
            }
        }
    }

    /// The first effect of a call that must not run twice waits for this to be durable.
    async fn start(&self, lease: LeaseKey, lease_ms: i64) {
        let answer = match self.engine.start(&lease, lease_ms).await {
            Ok(Started::Granted) => Message::StartGranted { lease },
            Ok(Started::Ended(reason)) => Message::StartRefused { lease, reason: reason.to_owned() },
            Err(error) => {
                let reason = match &error {
                    EngineError::Refused { refusal, .. } => refusal.to_string(),
                    _ => "the start could not be stored".to_owned(),
                };
                Message::StartRefused { lease, reason }
            }
        };
        self.link.send(answer);
    }

    /// An execution ended. Answered once that is durable, or known to change nothing; an error means that it is neither.
    pub(super) async fn done(&self, lease: LeaseKey, outcome: Option<v1::ExecutionOutcome>) -> Result<(), EngineError> {
        let id = lease.call();
        let mut outcome = Box::new(outcome::read(
            &lease.invocation_id,
            outcome,
            self.terms.max_inline_bytes,
            self.engine.now().await?,
        ));
        let left_out = self.news.end(lease.lease_id.as_str());
        if left_out > 0 {
            outcome.evidence_refs.push(format!("progress_left_out:{left_out}"));
        }
        let command = |_: &_| Command::Complete { lease: lease.clone(), outcome: outcome.clone() };
        point("scheduler.before_done");
        let stored = self.engine.command(&id, Vec::new(), command).await;
        point("scheduler.after_done");
        match stored {
            Ok(_) | Err(EngineError::NotFound) => self.link.send(Message::DoneAcknowledged { lease }),
            // A repeated report of an ended call has been stored before, or lost its race; either way it is over.
            Err(EngineError::Refused { refusal: Refusal::Terminal(_), .. }) => {
                self.keep_late(&lease, &outcome).await?;
                self.link.send(Message::DoneAcknowledged { lease });
            }
            Err(EngineError::Refused { .. }) => {
                self.keep_late(&lease, &outcome).await?;
                self.link.send(Message::Fenced { lease });
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Keeps a report that came too late as evidence; it changes nothing else.
    async fn keep_late(&self, lease: &LeaseKey, outcome: &Outcome) -> Result<(), EngineError> {
        if !self.engine.was_started_by(lease).await? {
            return Ok(());
        }
        let late = |record: &Invocation, now| {
            toolplane_lifecycle::late_report(record, lease, outcome, now).ok_or(Refusal::NothingToDo)
        };
        match self.engine.change(&lease.call(), Attached::default(), late).await {
            Ok(_) | Err(EngineError::Refused { .. } | EngineError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A running tool asks a question. One that nobody could answer is declined at once.
    async fn ask(&self, lease: LeaseKey, asked: v1::InputRequested) {
        let schema = field::optional::<_, JsonPayload>("schema", asked.schema).ok();
        let Some(schema) = schema.filter(|schema| answer::is_askable(schema.as_ref()) && !asked.input_id.is_empty())
        else {
            tracing::warn!(invocation_id = %lease.invocation_id, "a tool's question cannot be answered by anybody");
            let input_id = asked.input_id;
            return self.link.send(Message::Input { lease, input_id, input: None, expired: false });
        };
        let input = InputRequest {
            input_id: asked.input_id.chars().take(128).collect(),
            prompt: asked.prompt.chars().take(MAX_PROMPT_CHARS).collect(),
            schema,
            ttl_ms: asked.ttl_ms.into(),
        };
        self.command(&lease, |_| Command::RequestInput { lease: lease.clone(), input: input.clone() }).await;
    }

    async fn command(&self, lease: &LeaseKey, command: impl Fn(&Invocation) -> Command) {
        let stored = self.engine.command(&lease.call(), Vec::new(), command).await;
        self.heed(lease, stored);
    }

    /// Tells the worker what became of a report where it has to know.
    fn heed(&self, lease: &LeaseKey, stored: Result<Arc<Invocation>, EngineError>) {
        match stored {
            Ok(_) => {}
            Err(EngineError::Refused { refusal: Refusal::Fenced | Refusal::Terminal(_), .. }) => {
                self.link.send(Message::Fenced { lease: lease.clone() });
            }
            Err(EngineError::Refused { .. }) => {}
            Err(error) => tracing::warn!(invocation_id = %lease.invocation_id, %error, "a report could not be stored"),
        }
    }
}
