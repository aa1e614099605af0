//! The one place where records, log entries and effects of a transition are put together.

use toolplane_records::SmolStr;
use toolplane_records::codes;
use toolplane_records::error::{advice, can_retry};
use toolplane_records::event::LogEvent;
use toolplane_records::ids::ResultId;
use toolplane_records::invocation::{Invocation, Lease, StatusTransition};
use toolplane_records::payload::JsonPayload;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::{Cleaned, ToolResult};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{
    AbortReason, EventClass, Hold, InvocationStatus, PersistenceStrategy, QueueState, RedactionState,
};

use crate::command::LeaseKey;
use crate::data::{EventData, data};
use crate::legal::is_legal;
use crate::message::LeaseMessage;
use crate::scope::Scope;
use crate::transition::{Effect, Refusal, Terminal, Timer, Transition};
use crate::{shown, stages};

/// A transition being written.
pub(crate) struct Draft {
    pub(crate) invocation: Invocation,
    events: Vec<LogEvent>,
    terminal: Option<Terminal>,
    effects: Vec<Effect>,
    /// Context modifiers that are not let through, and why in one stable word; the log says so.
    pub(crate) dropped_modifiers: Option<(usize, &'static str)>,
    /// What cleaning found in the output; the log says so where something was taken out.
    pub(crate) cleaned: Vec<Cleaned>,
    /// What the tool declares of how its results are shown.
    pub(crate) rendering_hints: Option<JsonPayload>,
    now: Timestamp,
}

impl Draft {
    pub(crate) fn of(invocation: Invocation, now: Timestamp) -> Self {
        Self {
            invocation,
            events: Vec::new(),
            terminal: None,
            effects: Vec::new(),
            dropped_modifiers: None,
            cleaned: Vec::new(),
            rendering_hints: None,
            now,
        }
    }

    pub(crate) fn done(self) -> Transition {
        Transition { invocation: self.invocation, events: self.events, terminal: self.terminal, effects: self.effects }
    }

    /// Appends a log entry.
    pub(crate) fn event(&mut self, class: EventClass, data: EventData) {
        self.invocation.last_seq += 1;
        self.events.push(LogEvent { seq: self.invocation.last_seq, class, at: self.now, data: data.payload() });
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Moves to `to` with the event that announces it.
    pub(crate) fn status(
        &mut self,
        to: InvocationStatus,
        class: EventClass,
        cause: &'static str,
        data: EventData,
    ) -> Result<(), Refusal> {
        self.event(class, data);
        self.silent_status(to, cause)
    }

    /// Moves to `to` without an event of its own; the transition points at the last log entry.
    pub(crate) fn silent_status(&mut self, to: InvocationStatus, cause: &'static str) -> Result<(), Refusal> {
        may_become(&self.invocation, to)?;
        self.became(to, cause);
        Ok(())
    }

    /// The same where it is known to be legal: [`may_become`] said so.
    pub(crate) fn became(&mut self, to: InvocationStatus, cause: &'static str) {
        let from = last_status(&self.invocation);
        self.invocation.status = to;
        self.invocation.status_transitions.push(StatusTransition {
            seq: self.invocation.last_seq,
            from,
            to,
            at: self.now,
            cause: SmolStr::new_static(cause),
            attempt: self.invocation.attempt,
        });
        if self.invocation.background && !to.is_terminal() {
            self.stages(from, to);
        }
    }

    /// Reports the stages that begin, or end, with a change of status.
    fn stages(&mut self, from: Option<InvocationStatus>, to: InvocationStatus) {
        for stage in stages::stages(from, to) {
            self.invocation.progress_seq += 1;
            let record = stages::record(&self.invocation, *stage, self.now);
            self.event(EventClass::Progress, EventData::of(&record));
        }
    }

    /// Moves into the ready queue, or to where it waits for what holds it back.
    pub(crate) fn enqueue(&mut self, class: EventClass, cause: &'static str, data: EventData) -> Result<(), Refusal> {
        if self.invocation.status == InvocationStatus::Queued {
            self.event(class, data);
        } else {
            self.status(InvocationStatus::Queued, class, cause, data)?;
        }
        self.invocation.queue_state = Some(QueueState::Queued);
        if self.invocation.holds.is_empty() {
            self.effect(Effect::Enqueue);
        } else {
            self.event(EventClass::ExtHeld, data! { "holds": self.invocation.holds });
            self.settle_next_hold();
        }
        Ok(())
    }

    /// Leaves the ready queue, and gives the locks' ticket back: a call that comes back draws a new one.
    pub(crate) fn leave_queue(&mut self) {
        if self.invocation.queue_state.take() == Some(QueueState::Queued) && self.invocation.holds.is_empty() {
            self.effect(Effect::Dequeue);
        }
        if let Some(scope) = self.locks_scope() {
            self.effect(Effect::Settle(scope));
            if !self.invocation.holds.contains(&Hold::Locks) {
                self.invocation.holds.push(Hold::Locks);
            }
        }
    }

    /// Asks for the coordination of what holds the call now. Locks come last: a call that holds a lock must be able to
    /// run.
    pub(crate) fn settle_next_hold(&mut self) {
        let scope = if self.invocation.holds.contains(&Hold::Batch) {
            self.batch_scope()
        } else if self.invocation.holds.contains(&Hold::Locks) {
            self.locks_scope()
        } else {
            None
        };
        if let Some(scope) = scope {
            self.effect(Effect::Settle(scope));
        }
    }

    fn batch_scope(&self) -> Option<Scope> {
        let tenant = self.invocation.tenant.clone();
        self.invocation.batch.as_ref().map(|place| Scope::Batch { tenant, id: place.batch_id.clone() })
    }

    fn locks_scope(&self) -> Option<Scope> {
        let domain = self.invocation.lock_domain.clone().filter(|_| !self.invocation.resource_locks.is_empty())?;
        Some(Scope::Locks { tenant: self.invocation.tenant.clone(), domain })
    }

    /// Takes the lease away, with its timers, its permits and the question asked under it.
    pub(crate) fn drop_lease(&mut self) -> Option<Lease> {
        let mut lease = self.invocation.lease.take()?;
        self.effect(Effect::ClearTimer(Timer::Lease));
        self.effect(Effect::ClearTimer(Timer::Execution));
        for index in std::mem::take(&mut lease.permits) {
            self.effect(Effect::ReturnPermit { index });
        }
        if self.invocation.pending_input.take().is_some() {
            self.effect(Effect::ClearTimer(Timer::Input));
        }
        self.invocation.clock_stopped_at = None;
        Some(lease)
    }

    /// Clears the timers that are no lease's: those that may be set, by what the record says of its life.
    fn clear_timers(&mut self) {
        let record = &self.invocation;
        let was = |status| record.status_transitions.iter().filter(move |step| step.to == status);
        let may_be_set = [
            (Timer::Retry, was(InvocationStatus::Queued).nth(1).is_some()),
            (Timer::Deadline, record.deadline_at.is_some()),
            (Timer::Cancel, record.cancel.is_some()),
            (Timer::Approval, was(InvocationStatus::AwaitingApproval).next().is_some()),
        ];
        for (timer, _) in may_be_set.into_iter().filter(|(_, may_be_set)| *may_be_set) {
            self.effect(Effect::ClearTimer(timer));
        }
    }

    /// No hook is waited for any more.
    pub(crate) fn drop_post_hooks(&mut self) {
        if self.invocation.post_hooks.take().is_some() {
            self.effect(Effect::ClearTimer(Timer::PostHooks));
            self.effect(Effect::ForgetEnding);
        }
    }

    /// Takes the lease away and tells its holder to stop without reporting.
    pub(crate) fn fence_off(&mut self) {
        if let Some(lease) = self.drop_lease() {
            let key = LeaseKey::of(&self.invocation, &lease);
            self.effect(Effect::Tell(LeaseMessage::Fenced { lease: key }));
        }
    }

    /// Asks the holder of the lease, if any, to stop and report.
    pub(crate) fn send_cancel(&mut self, abort_reason: AbortReason) {
        if let Some(lease) = &self.invocation.lease {
            let lease = LeaseKey::of(&self.invocation, lease);
            self.effect(Effect::Tell(LeaseMessage::Cancel { lease, abort_reason }));
        }
    }

    /// Ends the invocation: result, events, queue, lease and timers, all in this transition.
    pub(crate) fn end(
        &mut self,
        to: InvocationStatus,
        cause: &'static str,
        mut result: ToolResult,
        mut persistence: Vec<ResultPersistence>,
    ) -> Result<(), Refusal> {
        if let Some(error) = &mut result.error {
            // What only reads leaves nothing behind, however far it came.
            if self.invocation.safety.is_read_only && error.side_effects.as_deref() == Some("unknown") {
                error.side_effects = Some("none".to_owned());
            }
            // What was never started had no effect, whether or not a report says so.
            let known = if self.invocation.attempt == 0 { Some("none") } else { error.side_effects.as_deref() };
            error.recoverability = advice(error.recoverability, self.invocation.safety.is_idempotent, known);
            error.can_retry = Some(can_retry(error.recoverability));
            if error.recovery_suggestion.is_none() {
                error.recovery_suggestion = Some(codes::cure_of(&error.error_code, error.recoverability).to_owned());
            }
        }
        let hints = self.rendering_hints.take();
        result.ui_facing_rendering = Some(shown::rendering(&result, &self.invocation.tool_name, hints.as_ref()));
        result.transcript_search_text = shown::search_text(&result);
        let was_queued = self.invocation.queue_state == Some(QueueState::Queued);
        result.telemetry_refs.clone_from(&self.invocation.telemetry_refs);
        for decision in &mut persistence {
            decision.result_id = Some(result.result_id.clone());
            result.persistence_refs.push(decision.decision_id.to_string());
        }
        for decision in persistence.iter().filter(|kept| kept.strategy != PersistenceStrategy::Inline) {
            self.event(
                EventClass::ResultPersisted,
                data! { "decision_id": decision.decision_id,
                "output": decision.output,
                "strategy": decision.strategy,
                "original_size_bytes": decision.original_size_bytes,
                "persisted_ref": decision.persisted_ref.as_ref().map(|kept| &kept.uri), },
            );
        }
        let mut created = data! { "result_id": result.result_id, "status": result.status, "is_error": result.is_error };
        if let Some((count, reason)) = self.dropped_modifiers {
            created.add("context_modifiers_dropped", &data! { "count": count, "reason": reason }.payload());
        }
        self.event(EventClass::ResultCreated, created);
        if result.redaction_state == Some(RedactionState::Redacted) {
            let mut redacted = data! { "result_id": result.result_id };
            if !self.cleaned.is_empty() {
                redacted.add("cleaned", &self.cleaned);
            }
            self.event(EventClass::ResultRedacted, redacted);
        }
        if let Some(cancel) = &mut self.invocation.cancel
            && to != InvocationStatus::Canceled
            && cancel.failed.is_none()
        {
            cancel.failed = Some("ended_first".to_owned());
            self.event(EventClass::ExtCancelFailed, data! { "reason": "ended_first" });
        }
        if self.invocation.background {
            self.stages(last_status(&self.invocation), to);
        }
        self.status(to, terminal_class(to), cause, terminal_data(&result))?;
        self.invocation.ended_at = Some(self.now);
        self.invocation.result_id = Some(result.result_id.clone());
        if self.invocation.queue_state.is_some() {
            self.invocation.queue_state = Some(QueueState::Completed);
        }
        // Only a call that was queued can be in a queue, hold a ticket or wait for one.
        if was_queued && self.invocation.holds.is_empty() {
            self.effect(Effect::Dequeue);
        }
        let was_ever_queued = self.invocation.status_transitions.iter().any(|step| step.to == InvocationStatus::Queued);
        let may_have_ticket = was_ever_queued && !self.invocation.holds.contains(&Hold::Batch);
        let scopes = [self.batch_scope(), self.locks_scope().filter(|_| may_have_ticket)];
        for scope in scopes.into_iter().flatten() {
            self.effect(Effect::Settle(scope));
        }
        self.invocation.holds.clear();
        self.drop_lease();
        self.drop_post_hooks();
        self.clear_timers();
        let mut decisions = persistence.into_iter();
        let persistence = decisions.next();
        let more_persistence = decisions.collect();
        self.terminal = Some(Terminal { result, persistence, more_persistence, outputs_removed_at: None });
        Ok(())
    }
}

/// Whether an invocation may move to `to` now.
pub(crate) fn may_become(invocation: &Invocation, to: InvocationStatus) -> Result<(), Refusal> {
    let from = last_status(invocation);
    if is_legal(from, to) {
        return Ok(());
    }
    Err(Refusal::Illegal { command: "transition", status: from.unwrap_or(to) })
}

fn last_status(invocation: &Invocation) -> Option<InvocationStatus> {
    invocation.status_transitions.last().map(|last| last.to)
}

/// The one result id an invocation can ever have.
pub(crate) fn result_id(invocation: &Invocation) -> ResultId {
    let id = invocation.invocation_id.as_str();
    let id = id.strip_prefix("inv_").unwrap_or(id);
    // Longer ones were accepted once.
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

fn terminal_data(result: &ToolResult) -> EventData {
    match &result.error {
        None => data! { "result_id": result.result_id },
        Some(error) => data! { "result_id": result.result_id,
        "error_class": error.error_class,
        "error_code": error.error_code,
        "abort_reason": error.abort_reason, },
    }
}
