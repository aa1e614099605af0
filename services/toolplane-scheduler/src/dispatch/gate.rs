//! Whether a call may start now: what was decided about it still holds, and workers did not die of another call like it.

use std::fmt::Debug;
use std::sync::Arc;

use toolplane_records::error::ToolError;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;

use super::quarantine::Quarantine;
use crate::calls::Moment;
use crate::plan::DispatchPlan;

/// Knows whether the decision about a waiting call still holds. A call whose decision does not is not claimed: it is decided
/// about again, and the dispatcher is woken when it may go on.
pub(crate) trait Decisions: Debug + Send + Sync {
    /// Now.
    fn moment(&self) -> Moment;

    /// Whether the decision about `record` holds. `decided` is a moment before it was made, where that is known. Cheap: it
    /// is asked for every claim.
    fn hold(&self, record: &Invocation, plan: Option<&DispatchPlan>, decided: Option<Moment>, now: Timestamp) -> bool;

    /// The call has to be decided about again before it may start. Returns at once; asking twice does no harm.
    fn recheck(&self, id: &InvocationKey);
}

/// Every decision stays in force without end: for tests of everything else.
#[derive(Debug)]
pub(crate) struct EveryDecisionHolds;

impl Decisions for EveryDecisionHolds {
    fn moment(&self) -> Moment {
        Moment { policy: 0, catalog: 0, at: tokio::time::Instant::now() }
    }

    fn hold(&self, _: &Invocation, _: Option<&DispatchPlan>, _: Option<Moment>, _: Timestamp) -> bool {
        true
    }

    fn recheck(&self, _: &InvocationKey) {}
}

/// Looks at calls before they are claimed and before they start. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct StartGate {
    quarantine: Arc<Quarantine>,
    decisions: Arc<dyn Decisions>,
}

impl StartGate {
    pub(crate) fn new(quarantine: Arc<Quarantine>, decisions: Arc<dyn Decisions>) -> Self {
        Self { quarantine, decisions }
    }

    /// Why `record` may not be run now, when workers died of another call like it.
    pub(crate) fn kept_out(&self, record: &Invocation, now: Timestamp) -> Option<ToolError> {
        self.quarantine.kept_out(record, now)
    }

    /// Whether `record` may start as far as its decision goes. One that may not is decided about again.
    pub(crate) fn may_start(
        &self,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        decided: Option<Moment>,
        now: Timestamp,
    ) -> bool {
        let holds = self.decisions.hold(record, plan, decided, now);
        if !holds {
            self.decisions.recheck(&record.key());
        }
        holds
    }
}
