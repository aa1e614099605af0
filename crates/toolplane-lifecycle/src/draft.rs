//! The one place where records, log entries and effects of a transition are put together.

use serde_json::{Value, json};
use toolplane_records::event::LogEvent;
use toolplane_records::ids::ResultId;
use toolplane_records::invocation::{Invocation, Lease, StatusTransition};
use toolplane_records::payload::JsonPayload;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::ToolResult;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{AbortReason, EventClass, InvocationStatus, PersistenceStrategy, QueueState};

use crate::command::LeaseKey;
use crate::legal::is_legal;
use crate::transition::{Effect, Refusal, Terminal, Timer, Transition};

/// A transition being written.
pub(crate) struct Draft {
    pub(crate) invocation: Invocation,
    events: Vec<LogEvent>,
    terminal: Option<Terminal>,
    effects: Vec<Effect>,
    now: Timestamp,
}

impl Draft {
    pub(crate) fn of(invocation: Invocation, now: Timestamp) -> Self {
        Self { invocation, events: Vec::new(), terminal: None, effects: Vec::new(), now }
    }

    pub(crate) fn done(self) -> Transition {
        Transition { invocation: self.invocation, events: self.events, terminal: self.terminal, effects: self.effects }
    }

    /// Appends a log entry.
    pub(crate) fn event(&mut self, class: EventClass, data: Value) {
        self.invocation.last_seq += 1;
        let data = match data {
            Value::Object(fields) if fields.is_empty() => None,
            data => Some(JsonPayload::of(&data)),
        };
        self.events.push(LogEvent { seq: self.invocation.last_seq, class, at: self.now, data });
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Moves to `to` with the event that announces it.
    pub(crate) fn status(
        &mut self,
        to: InvocationStatus,
        class: EventClass,
        cause: &str,
        data: Value,
    ) -> Result<(), Refusal> {
        self.event(class, data);
        self.silent_status(to, cause)
    }

    /// Moves to `to` without an event of its own; the transition points at the last log entry.
    pub(crate) fn silent_status(&mut self, to: InvocationStatus, cause: &str) -> Result<(), Refusal> {
        let from = self.invocation.status_transitions.last().map(|last| last.to);
        if !is_legal(from, to) {
            return Err(Refusal::Illegal { command: "transition", status: from.unwrap_or(to) });
        }
        self.invocation.status = to;
        self.invocation.status_transitions.push(StatusTransition {
            seq: self.invocation.last_seq,
            from,
            to,
            at: self.now,
            cause: cause.to_owned(),
            attempt: self.invocation.attempt,
        });
        Ok(())
    }

    /// Moves into the ready queue.
    pub(crate) fn enqueue(&mut self, class: EventClass, cause: &str, data: Value) -> Result<(), Refusal> {
        if self.invocation.status == InvocationStatus::Queued {
            self.event(class, data);
        } else {
            self.status(InvocationStatus::Queued, class, cause, data)?;
        }
        self.invocation.queue_state = Some(QueueState::Queued);
        self.effect(Effect::Enqueue);
        Ok(())
    }

    /// Takes the lease away, with its timers.
    pub(crate) fn drop_lease(&mut self) -> Option<Lease> {
        let lease = self.invocation.lease.take()?;
        self.effect(Effect::ClearTimer(Timer::Lease));
        self.effect(Effect::ClearTimer(Timer::Execution));
        Some(lease)
    }

    /// Takes the lease away and tells its holder to stop without reporting.
    pub(crate) fn fence_off(&mut self) {
        if let Some(lease) = self.drop_lease() {
            let key = LeaseKey::of(&self.invocation.invocation_id, &lease);
            self.effect(Effect::SendFenced { worker_id: lease.worker_id, lease: key });
        }
    }

    /// Asks the holder of the lease, if any, to stop and report.
    pub(crate) fn send_cancel(&mut self, abort_reason: AbortReason) {
        if let Some(lease) = &self.invocation.lease {
            let effect = Effect::SendCancel {
                worker_id: lease.worker_id.clone(),
                lease: LeaseKey::of(&self.invocation.invocation_id, lease),
                abort_reason,
            };
            self.effect(effect);
        }
    }

    /// Ends the invocation: result, events, queue, lease and timers, all in this transition.
    pub(crate) fn end(
        &mut self,
        to: InvocationStatus,
        cause: &str,
        mut result: ToolResult,
        mut persistence: Option<ResultPersistence>,
    ) -> Result<(), Refusal> {
        let was_queued = self.invocation.queue_state == Some(QueueState::Queued);
        result.telemetry_refs.clone_from(&self.invocation.telemetry_refs);
        if let Some(decision) = &mut persistence {
            decision.result_id = Some(result.result_id.clone());
            result.persistence_refs.push(decision.decision_id.to_string());
        }
        if let Some(decision) = persistence.as_ref().filter(|kept| kept.strategy != PersistenceStrategy::Inline) {
            self.event(
                EventClass::ResultPersisted,
                json!({
                    "decision_id": decision.decision_id,
                    "strategy": decision.strategy,
                    "original_size_bytes": decision.original_size_bytes,
                    "persisted_ref": decision.persisted_ref.as_ref().map(|kept| &kept.uri),
                }),
            );
        }
        self.event(
            EventClass::ResultCreated,
            json!({ "result_id": result.result_id, "status": result.status, "is_error": result.is_error }),
        );
        self.status(to, terminal_class(to), cause, terminal_data(&result))?;
        self.invocation.ended_at = Some(self.now);
        self.invocation.result_id = Some(result.result_id.clone());
        if self.invocation.queue_state.is_some() {
            self.invocation.queue_state = Some(QueueState::Completed);
        }
        if was_queued {
            self.effect(Effect::Dequeue);
        }
        self.drop_lease();
        for timer in [Timer::Retry, Timer::Deadline, Timer::Cancel, Timer::Approval] {
            self.effect(Effect::ClearTimer(timer));
        }
        self.terminal = Some(Terminal { result, persistence });
        Ok(())
    }
}

/// The one result id an invocation can ever have.
pub(crate) fn result_id(invocation: &Invocation) -> ResultId {
    let id = invocation.invocation_id.as_str();
    let id = id.strip_prefix("inv_").unwrap_or(id);
    ResultId::from_trusted(format!("res_{}", &id[..id.len().min(240)]))
}

fn terminal_class(status: InvocationStatus) -> EventClass {
    match status {
        InvocationStatus::Succeeded => EventClass::Succeeded,
        InvocationStatus::Canceled => EventClass::Canceled,
        InvocationStatus::TimedOut => EventClass::TimedOut,
        InvocationStatus::ValidationFailed => EventClass::ValidationFailed,
        InvocationStatus::SchemaParseFailed => EventClass::ExtSchemaParseFailed,
        InvocationStatus::Denied => EventClass::ExtDenied,
        InvocationStatus::Blocked => EventClass::ExtBlocked,
        _ => EventClass::Failed,
    }
}

fn terminal_data(result: &ToolResult) -> Value {
    match &result.error {
        None => json!({ "result_id": result.result_id }),
        Some(error) => json!({
            "result_id": result.result_id,
            "error_class": error.error_class,
            "error_code": error.error_code,
            "abort_reason": error.abort_reason,
        }),
    }
}
