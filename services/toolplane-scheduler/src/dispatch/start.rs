//! Starts that must happen at most once even if the store forgets them: each is also an object that cannot be made
//! twice.

use std::time::Duration;

use toolplane_lifecycle::{Command, LeaseKey, ReportedOutcome};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{InvocationStatus, ResultStatus, StartGuard};
use toolplane_results::{PayloadStore, StartClaim};

use super::gate::StartGate;
use crate::calls::Calls;
use crate::storage::RecordError;

/// Tries to make the object before the call ends without having started.
const TRIES: u32 = 5;
/// First wait between tries; doubles.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The answer to a worker that wants to start.
#[derive(Debug)]
pub(crate) enum Started {
    /// The start is durable: the first effect may happen.
    Granted,
    /// The call may have been started before under another lease, or cannot be guarded: it has ended.
    Ended(&'static str),
}

/// Records starts of calls. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Starts {
    calls: Calls,
    objects: PayloadStore,
    gate: StartGate,
}

impl Starts {
    /// Starts of `calls`, guarded by objects in `objects`.
    pub(crate) fn new(calls: Calls, objects: PayloadStore, gate: StartGate) -> Self {
        Self { calls, objects, gate }
    }

    /// Records the start of a call, in the store and, where its tool asks for that, as an object.
    ///
    /// The store's record comes first: the object then only exists for starts that were durable once, so an object of
    /// another lease proves that the store has lost a start, and the call ends as unknown instead of starting again.
    pub(crate) async fn start(&self, lease: &LeaseKey, lease_ms: i64) -> Result<Started, RecordError> {
        let id = lease.call();
        if !self.may_begin(lease).await? {
            return Ok(Started::Ended("the decision about the call is no longer valid"));
        }
        let command = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms };
        let record = self.calls.command(&id, command).await?;
        let guard = record.dispatch.as_ref().map(|dispatch| dispatch.start_guard).unwrap_or_default();
        if guard == StartGuard::Store || record.safety.is_idempotent {
            return Ok(Started::Granted);
        }
        match self.claim_start(lease).await {
            Ok(StartClaim::Mine) => Ok(Started::Granted),
            Ok(StartClaim::Other(other)) => {
                tracing::error!(invocation_id = %id, other, "a call was started before under a lease the store forgot");
                self.end_instead(lease, started_before()).await?;
                Ok(Started::Ended("the call may have been started before"))
            }
            Err(error) => {
                tracing::warn!(invocation_id = %id, %error, "a start could not be guarded");
                self.end_instead(lease, unguarded()).await?;
                Ok(Started::Ended("the start could not be guarded"))
            }
        }
    }

    /// Whether the decision about a claimed call is still in force. One that does not is given back, and looked at
    /// again.
    async fn may_begin(&self, lease: &LeaseKey) -> Result<bool, RecordError> {
        let Some((record, decided)) = self.calls.decision(&lease.call()).await else { return Ok(true) };
        let started = record.status != InvocationStatus::Queued;
        let plan = if started { None } else { self.calls.plans().of(&record).await? };
        if started || self.gate.may_start(&record, plan.as_deref(), decided, self.calls.now().await?) {
            return Ok(true);
        }
        let give_back = |_: &Invocation| Command::Release { lease: lease.clone(), reason: "permission".to_owned() };
        match self.calls.command(&lease.call(), give_back).await {
            Ok(_) | Err(RecordError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn claim_start(&self, lease: &LeaseKey) -> Result<StartClaim, RecordError> {
        let mut wait = FIRST_WAIT;
        let mut tried = 1;
        loop {
            match self.objects.claim_start(&lease.call(), lease.lease_id.as_str()).await {
                Ok(claim) => return Ok(claim),
                Err(error) if error.is_retryable() && tried < TRIES => {
                    tokio::time::sleep(wait).await;
                    (wait, tried) = (wait * 2, tried + 1);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn end_instead(&self, lease: &LeaseKey, error: ToolError) -> Result<(), RecordError> {
        let outcome = Box::new(ReportedOutcome {
            status: ResultStatus::SyntheticError,
            content: Vec::new(),
            model_facing_content: Vec::new(),
            structured_content: None,
            ui_facing_summary: String::new(),
            error: Some(error),
            persistence: Vec::new(),
            resource_refs: Vec::new(),
            artifact_refs: Vec::new(),
            evidence_refs: Vec::new(),
            context_modifiers: Vec::new(),
            hooks: Vec::new(),
            undeclared_modifiers: 0,
            redaction_state: None,
            cleaned: Vec::new(),
            rendering_hints: None,
            taints: Vec::new(),
            execution: None,
        });
        let command = |_: &Invocation| Command::Complete { lease: lease.clone(), outcome: outcome.clone() };
        match self.calls.command(&lease.call(), command).await {
            Ok(_) | Err(RecordError::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn started_before() -> ToolError {
    let message = "the call was started before, and its outcome is not known";
    let mut error = ToolError::of(codes::OUTCOME_UNKNOWN, message);
    error.side_effects = Some("unknown".to_owned());
    error
}

fn unguarded() -> ToolError {
    let message = "the call was not started: the object store that guards its start does not answer";
    let mut error = ToolError::of(codes::START_GUARD_UNAVAILABLE, message);
    error.side_effects = Some("none".to_owned());
    error
}
