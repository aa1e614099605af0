//! One call at this worker, from its offer to the acknowledgement of its end.

use super::grant::StartGrant;
use super::moment::Moment;
use super::question::OpenQuestion;
use super::renewal::Renewal;
use super::stop::StopSignal;
use super::tool_clock::ToolClock;
use crate::messages::{CallTraits, Lease};

/// One call at this worker.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) lease: Lease,
    pub(crate) traits: CallTraits,
    /// Whether and why the execution is to stop.
    pub(crate) stop: StopSignal,
    /// For how long the lease is in force.
    pub(crate) renewal: Renewal,
    /// Whether the execution may start.
    pub(crate) grant: StartGrant,
    /// What the tool asks.
    pub(crate) question: OpenQuestion,
    /// How long the tool has worked.
    pub(crate) clock: ToolClock,
}

impl Assignment {
    /// A call that was offered just now.
    pub(crate) fn new(lease: Lease, traits: CallTraits) -> Self {
        Self {
            lease,
            traits,
            stop: StopSignal::default(),
            renewal: Renewal::offered(),
            grant: StartGrant::default(),
            question: OpenQuestion::default(),
            clock: ToolClock::start(),
        }
    }

    /// Whether the start has to wait for a first renewal: how long its offer travelled is not known, and a holder of an
    /// exclusive lock must not begin under a lease that may be over.
    pub(crate) fn must_be_renewed_first(&self) -> bool {
        self.traits.exclusive_lock && self.renewal.only_offered()
    }

    /// How long ago at `now` the request was sent that renewed the lease last.
    pub(crate) fn silent_for(&self, now: Moment) -> std::time::Duration {
        self.renewal.last().age(now)
    }

    /// The scheduler granted the start, and with it renewed the lease. A second grant changes nothing.
    pub(crate) fn granted(&self) {
        // Which of several requests this answers is not said: the first is the safe one.
        if let Some(asked) = self.grant.awaited_since() {
            self.renewal.renewed(asked);
            self.grant.give();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Assignment, CallTraits, Lease, Moment};

    #[test]
    fn a_grant_renews_from_when_it_was_first_asked_for() {
        let traits = CallTraits { exclusive_lock: true, ..CallTraits::default() };
        let assignment = Assignment::new(Lease::example("a"), traits);
        assert!(assignment.must_be_renewed_first());
        let _first = assignment.grant.expect();
        let asked = Moment::now();
        toolplane_wait::block(Duration::from_millis(10), "leases age by the clock of the machine, asleep or not");
        let mut granted = assignment.grant.expect();
        assignment.granted();
        assert!(granted.try_recv().is_ok() && !assignment.must_be_renewed_first());
        assert!(assignment.renewal.last() <= asked);
    }
}
