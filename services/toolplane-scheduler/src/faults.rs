//! Where fault tests end or delay a scheduler: around the two seams every call passes, so that the code of the call has
//! nothing of it. A release build passes the seams as they are.

use std::sync::Arc;

use toolplane_faultpoint::point;
use toolplane_lifecycle::{Effect, Timer, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;

use crate::calls::{CachedCall, EffectHandler, Moment, Update};
use crate::dispatch::Decisions;
use crate::plan::DispatchPlan;
use crate::storage::commit::Builder;
use crate::storage::keys::QueueName;

/// The points before a commit, by what it stores: `scheduler.before_admit`, `.mid_cancel`, `.mid_decide`, `.before_done`.
/// Those after it: `.after_admit`, `.after_done`, and `.before_offer`.
pub(crate) fn around_commits(handler: impl EffectHandler + 'static) -> Arc<dyn EffectHandler> {
    match cfg!(debug_assertions) {
        true => Arc::new(CommitPoints(handler)),
        false => Arc::new(handler),
    }
}

/// The point before hooks or people are asked about a call: `scheduler.mid_prepare`.
pub(crate) fn before_decisions(decisions: Arc<dyn Decisions>) -> Arc<dyn Decisions> {
    match cfg!(debug_assertions) {
        true => Arc::new(DecisionPoints(decisions)),
        false => decisions,
    }
}

struct CommitPoints<H>(H);

impl<H: EffectHandler> EffectHandler for CommitPoints<H> {
    fn announce(&self, builder: &mut Builder, transition: &Transition, queue: Option<&QueueName>) {
        self.0.announce(builder, transition, queue);
        let told = |class| tells(&transition.events, class);
        if is_new(&transition.events) {
            point("scheduler.before_admit");
        } else if told(EventClass::ExtCancelRequested) {
            point("scheduler.mid_cancel");
        } else if told(EventClass::ExtApproved) {
            point("scheduler.mid_decide");
        } else if transition.terminal.is_some() || told(EventClass::HookPostStarted) {
            point("scheduler.before_done");
        }
    }

    fn carry_out(&self, call: &CachedCall, effects: &[Effect], queue: Option<&QueueName>, update: Update) {
        if is_new(&update.events) {
            point("scheduler.after_admit");
        }
        if update.terminal.is_some() || tells(&update.events, EventClass::HookPostStarted) {
            point("scheduler.after_done");
        }
        let offered = call.record.lease.as_ref().is_some_and(|lease| !lease.confirmed);
        if offered && effects.iter().any(|effect| matches!(effect, Effect::SetTimer(Timer::Lease, _))) {
            point("scheduler.before_offer");
        }
        self.0.carry_out(call, effects, queue, update);
    }

    fn decided(&self, record: &Invocation, decisions: &[PermissionDecision]) {
        self.0.decided(record, decisions);
    }
}

fn is_new(events: &[LogEvent]) -> bool {
    events.first().is_some_and(|event| event.seq == 1)
}

fn tells(events: &[LogEvent], class: EventClass) -> bool {
    events.iter().any(|event| event.class == class)
}

#[derive(Debug)]
struct DecisionPoints(Arc<dyn Decisions>);

impl Decisions for DecisionPoints {
    fn moment(&self) -> Moment {
        point("scheduler.mid_prepare");
        self.0.moment()
    }

    fn hold(&self, record: &Invocation, plan: Option<&DispatchPlan>, decided: Option<Moment>, now: Timestamp) -> bool {
        self.0.hold(record, plan, decided, now)
    }

    fn recheck(&self, id: &InvocationKey) {
        self.0.recheck(id);
    }
}
