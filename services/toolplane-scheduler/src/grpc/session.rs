//! One worker's stream: what it reports, and what it is told.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tonic::Streaming;
use toolplane_lifecycle::{Command, LeaseKey, Refusal};
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::ids::InvocationId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::progress::ToolProgress;
use toolplane_runtime::Shutdown;

use super::outcome;
use crate::engine::{Engine, EngineError, Message, PoolGap, WorkerInfo, WorkerLink};
use crate::error::CallError;

/// Most slots one worker may have.
const MAX_SLOTS: u32 = 4_096;

/// What every worker is told when it connects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerTerms {
    pub(crate) heartbeat_ms: u32,
    pub(crate) lease_ms: u32,
    pub(crate) max_inline_bytes: u64,
}

impl WorkerTerms {
    pub(crate) fn welcome(self) -> v1::WorkResponse {
        let welcome = v1::Welcome {
            heartbeat_ms: self.heartbeat_ms,
            lease_ms: self.lease_ms,
            max_inline_bytes: self.max_inline_bytes,
        };
        let command = v1::WorkerCommand { command: Some(v1::worker_command::Command::Welcome(welcome)) };
        v1::WorkResponse { commands: vec![command] }
    }
}

/// A connected worker.
pub(crate) struct Session {
    engine: Engine,
    link: Arc<WorkerLink>,
    terms: WorkerTerms,
    backlog: Vec<v1::WorkerReport>,
}

impl Session {
    /// Reads the hello, settles what the worker holds, and makes it available.
    pub(crate) async fn open(
        engine: Engine,
        terms: WorkerTerms,
        first: v1::WorkRequest,
    ) -> Result<(Self, mpsc::UnboundedReceiver<Message>), CallError> {
        let mut reports = first.reports.into_iter();
        let hello = match reports.next().and_then(|report| report.report) {
            Some(Report::Hello(hello)) => hello,
            _ => return Err(CallError::invalid("reports", "must begin with a hello")),
        };
        let held = hello.held.clone();
        let previous_dead = hello.previous_incarnation_dead;
        let info = read_hello(hello, engine.now().await?)?;
        if let Some(other) = engine.workers().other_incarnation(&info.worker_id, &info.incarnation) {
            let id = &info.worker_id;
            tracing::warn!(worker_id = %id, connected = other, refused = info.incarnation, "two workers use one id");
            return Err(CallError::Precondition(format!(
                "a worker `{id}` is connected already (incarnation `{other}`); give each worker an id of its own"
            )));
        }
        let (sender, messages) = mpsc::unbounded_channel();
        let link = Arc::new(WorkerLink::new(info, sender));
        let session = Self { engine, link, terms, backlog: reports.collect() };
        session.settle_held(held).await?;
        if previous_dead {
            let (worker_id, alive) = (&session.link.info.worker_id, &session.link.info.incarnation);
            let ended = session.engine.worker_gone(worker_id, alive).await?;
            tracing::info!(%worker_id, ended, "a worker restarted; leases of its earlier life ended");
        }
        session.engine.connect_worker(session.link.clone());
        Ok((session, messages))
    }

    /// What the worker says it still runs: valid leases go on, others are void.
    async fn settle_held(&self, held: Vec<v1::LeaseRef>) -> Result<(), CallError> {
        for lease in held {
            let lease = lease_key(Some(lease))?;
            match self.engine.leased(&lease).await {
                Ok(_) => self.engine.workers().adopt(&self.link, lease),
                Err(EngineError::Store(error)) => return Err(EngineError::Store(error).into()),
                Err(_) => self.link.send(Message::Fenced { lease }),
            }
        }
        Ok(())
    }

    /// Takes reports until the stream ends. The end of a stream is not the end of a worker: its leases go on.
    pub(crate) async fn run(mut self, mut reports: Streaming<v1::WorkRequest>, shutdown: Shutdown) {
        let backlog = std::mem::take(&mut self.backlog);
        self.take(backlog);
        let mut leaving = false;
        loop {
            let message = tokio::select! {
                message = reports.message() => message,
                () = shutdown.requested(), if !leaving => {
                    leaving = true;
                    self.link.drain();
                    self.link.send(Message::GoAway);
                    continue;
                }
            };
            match message {
                Ok(Some(message)) => self.take(message.reports),
                Ok(None) | Err(_) => break,
            }
        }
        self.engine.workers().disconnect(&self.link);
        tracing::info!(worker_id = %self.link.info.worker_id, "a worker's stream ended");
    }

    /// Reports of one invocation are taken in order; those of different ones at the same time, so that one durable
    /// write serves many.
    fn take(&self, reports: Vec<v1::WorkerReport>) {
        let mut by_call: HashMap<String, Vec<Report>> = HashMap::new();
        for report in reports.into_iter().filter_map(|report| report.report) {
            match lease_of(&report) {
                Some(lease) => by_call.entry(lease.invocation_id.clone()).or_default().push(report),
                None => self.take_own(report),
            }
        }
        for reports in by_call.into_values() {
            let call = CallReports { engine: self.engine.clone(), link: self.link.clone(), terms: self.terms };
            tokio::spawn(async move {
                for report in reports {
                    call.take(report).await;
                }
            });
        }
    }

    /// Reports about the worker itself.
    fn take_own(&self, report: Report) {
        match report {
            Report::Heartbeat(beat) => {
                let call = CallReports { engine: self.engine.clone(), link: self.link.clone(), terms: self.terms };
                tokio::spawn(async move { call.beat(beat.leases).await });
            }
            Report::Goodbye(_) => self.link.drain(),
            Report::Hello(_) => tracing::warn!(worker_id = %self.link.info.worker_id, "a second hello was ignored"),
            _ => {}
        }
    }
}

/// Takes the reports of single calls.
struct CallReports {
    engine: Engine,
    link: Arc<WorkerLink>,
    terms: WorkerTerms,
}

impl CallReports {
    async fn take(&self, report: Report) {
        let lease_ms = i64::from(self.terms.lease_ms);
        let Ok(lease) = lease_key(lease_of(&report).cloned()) else {
            tracing::warn!(worker_id = %self.link.info.worker_id, "a report without a well-formed lease was ignored");
            return;
        };
        match report {
            Report::StartRequested(_) => self.start(lease, lease_ms).await,
            Report::Progress(report) => {
                if let Some(progress) = report.progress.and_then(|progress| ToolProgress::try_from(progress).ok()) {
                    let command = |_: &_| Command::Progress { lease: lease.clone(), progress: progress.clone() };
                    self.command(&lease, command).await;
                }
            }
            Report::Done(done) => self.done(lease, done.outcome).await,
            Report::CancelAcknowledged(answer) => {
                let supported = answer.supported;
                self.command(&lease, |_| Command::AcknowledgeCancel { lease: lease.clone(), supported }).await;
            }
            Report::Released(released) => {
                let reason: String = released.reason.chars().take(64).collect();
                self.command(&lease, |_| Command::Release { lease: lease.clone(), reason: reason.clone() }).await;
            }
            // The receipt is confirmed by the first heartbeat, progress or report; a lost offer simply lapses.
            _ => {}
        }
    }

    /// The first effect of a call that must not run twice waits for this to be durable.
    async fn start(&self, lease: LeaseKey, lease_ms: i64) {
        let id = lease.invocation_id.clone();
        let command = |_: &_| Command::Start { lease: lease.clone(), lease_ms };
        let answer = match self.engine.command(&id, Vec::new(), command).await {
            Ok(_) => Message::StartGranted { lease },
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

    async fn done(&self, lease: LeaseKey, outcome: Option<v1::ExecutionOutcome>) {
        let id = lease.invocation_id.clone();
        let now = match self.engine.now().await {
            Ok(now) => now,
            Err(error) => return tracing::warn!(%error, "a report waits: the store does not answer"),
        };
        let outcome = Box::new(outcome::read(&id, outcome, self.terms.max_inline_bytes, now));
        let command = |_: &_| Command::Complete { lease: lease.clone(), outcome: outcome.clone() };
        match self.engine.command(&id, Vec::new(), command).await {
            Ok(_) => self.link.send(Message::DoneAcknowledged { lease }),
            // A repeated report of an ended call has been stored before, or lost its race; either way it is over.
            Err(EngineError::Refused { refusal: Refusal::Terminal(_), .. } | EngineError::NotFound) => {
                self.link.send(Message::DoneAcknowledged { lease });
            }
            Err(EngineError::Refused { refusal: Refusal::Fenced, .. }) => self.link.send(Message::Fenced { lease }),
            // Unanswered, the worker reports again.
            Err(error) => tracing::warn!(invocation_id = %id, %error, "a report could not be stored"),
        }
    }

    async fn command(&self, lease: &LeaseKey, command: impl Fn(&toolplane_records::invocation::Invocation) -> Command) {
        match self.engine.command(&lease.invocation_id, Vec::new(), command).await {
            Ok(_) => {}
            Err(EngineError::Refused { refusal: Refusal::Fenced | Refusal::Terminal(_), .. }) => {
                self.link.send(Message::Fenced { lease: lease.clone() });
            }
            Err(EngineError::Refused { .. }) => {}
            Err(error) => tracing::warn!(invocation_id = %lease.invocation_id, %error, "a report could not be stored"),
        }
    }

    /// The worker is alive and holds these leases.
    async fn beat(&self, leases: Vec<v1::LeaseRef>) {
        let Ok(now) = self.engine.now().await else { return };
        self.link.seen(now);
        let lease_ms = i64::from(self.terms.lease_ms);
        for lease in leases {
            let Ok(lease) = lease_key(Some(lease)) else { continue };
            match self.engine.leased(&lease).await {
                Ok(record) => {
                    let Some(held) = &record.lease else { continue };
                    if !held.confirmed || held.expires_at.since_millis(now) < lease_ms * 2 / 3 {
                        self.command(&lease, |_| Command::Renew { lease: lease.clone(), lease_ms }).await;
                    }
                    // A cancel request is repeated until it is answered.
                    if let Some(cancel) = record
                        .cancel
                        .as_ref()
                        .filter(|cancel| cancel.acknowledged_at.is_none() && cancel.failed.is_none())
                    {
                        self.link.send(Message::Cancel { lease, abort_reason: cancel.abort_reason });
                    }
                }
                Err(EngineError::Store(_)) => {}
                Err(_) => self.link.send(Message::Fenced { lease }),
            }
        }
    }
}

fn lease_of(report: &Report) -> Option<&v1::LeaseRef> {
    match report {
        Report::Received(report) => report.lease.as_ref(),
        Report::StartRequested(report) => report.lease.as_ref(),
        Report::Progress(report) => report.lease.as_ref(),
        Report::Done(report) => report.lease.as_ref(),
        Report::CancelAcknowledged(report) => report.lease.as_ref(),
        Report::Released(report) => report.lease.as_ref(),
        Report::Hello(_) | Report::Ready(_) | Report::Heartbeat(_) | Report::Goodbye(_) => None,
    }
}

/// Reads a lease reference.
pub(crate) fn lease_key(lease: Option<v1::LeaseRef>) -> Result<LeaseKey, CallError> {
    let lease = lease.ok_or_else(|| CallError::invalid("lease", "must be given"))?;
    let faulty = |error: toolplane_proto::convert::ConvertError| CallError::invalid(&error.field, error.rule);
    Ok(LeaseKey {
        invocation_id: field::id::<InvocationId>("lease.invocation_id", &lease.invocation_id).map_err(faulty)?,
        lease_no: lease.lease_no,
        lease_id: field::id("lease.lease_id", &lease.lease_id).map_err(faulty)?,
    })
}

fn lease_ref(lease: &LeaseKey) -> Option<v1::LeaseRef> {
    Some(v1::LeaseRef {
        invocation_id: lease.invocation_id.to_string(),
        lease_no: lease.lease_no,
        lease_id: lease.lease_id.to_string(),
    })
}

fn read_hello(hello: v1::WorkerHello, now: toolplane_records::time::Timestamp) -> Result<WorkerInfo, CallError> {
    let faulty = |error: toolplane_proto::convert::ConvertError| CallError::invalid(&error.field, error.rule);
    if hello.incarnation.is_empty() {
        return Err(CallError::invalid("hello.incarnation", "must be given"));
    }
    if hello.slots == 0 || hello.slots > MAX_SLOTS {
        return Err(CallError::invalid("hello.slots", format!("must be 1 to {MAX_SLOTS}")));
    }
    let gaps = hello.gaps.into_iter().map(|gap| PoolGap {
        pool: gap.pool,
        reason_code: gap.reason_code,
        message: gap.message,
    });
    Ok(WorkerInfo {
        worker_id: field::id("hello.worker_id", &hello.worker_id).map_err(faulty)?,
        incarnation: hello.incarnation,
        version: hello.version,
        slots: usize::try_from(hello.slots).unwrap_or(1),
        pools: hello.pools,
        gaps: gaps.collect(),
        posture: field::optional::<_, JsonPayload>("hello.posture", hello.posture).map_err(faulty)?,
        connected_at: now,
    })
}

/// A message to a worker, on the wire.
pub(crate) fn command(message: Message) -> v1::WorkerCommand {
    use v1::worker_command::Command as Wire;
    let command = match message {
        Message::Offer { record, plan, input, traceparent } => {
            Wire::Offer(super::offer::offer(&record, &plan, &input, traceparent))
        }
        Message::StartGranted { lease } => Wire::StartGranted(v1::StartGranted { lease: lease_ref(&lease) }),
        Message::StartRefused { lease, reason } => {
            Wire::StartRefused(v1::StartRefused { lease: lease_ref(&lease), reason })
        }
        Message::Cancel { lease, abort_reason } => Wire::Cancel(v1::CancelExecution {
            lease: lease_ref(&lease),
            abort_reason: abort_reason.as_str().to_owned(),
            abort_reason_code: v1::AbortReason::from(abort_reason).into(),
            message: String::new(),
        }),
        Message::Fenced { lease } => Wire::Fenced(v1::LeaseFenced { lease: lease_ref(&lease) }),
        Message::DoneAcknowledged { lease } => {
            Wire::DoneAcknowledged(v1::DoneAcknowledged { lease: lease_ref(&lease) })
        }
        Message::GoAway => Wire::GoAway(v1::GoAway { reason: "the scheduler is stopping".to_owned() }),
    };
    v1::WorkerCommand { command: Some(command) }
}
