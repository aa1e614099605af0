//! The wish that an execution stops.

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use toolplane_execution::KillSwitch;
use toolplane_records::vocabulary::AbortReason;

/// Why an execution is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The scheduler asks for it and wants to hear how it ended.
    Cancel(AbortReason),
    /// This worker ends.
    Shutdown,
    /// The lease holds an exclusive lock and could not be renewed for too long.
    InDoubt,
    /// The lease is another worker's: nothing may be reported any more.
    Fenced,
}

/// Whether and why an execution is to stop.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    reason: Mutex<Option<StopReason>>,
    given: CancellationToken,
    /// Kills the processes of the call without waiting for anything.
    pub(crate) kill: KillSwitch,
}

impl StopSignal {
    /// Asks the execution to stop. The first reason stays, but for the loss of the lease, which nothing outlives.
    pub(crate) fn give(&self, why: StopReason) {
        let mut reason = self.reason.lock();
        if why == StopReason::Fenced {
            *reason = Some(why);
        }
        reason.get_or_insert(why);
        drop(reason);
        self.given.cancel();
    }

    /// Why the execution is to stop, if it is.
    pub(crate) fn reason(&self) -> Option<StopReason> {
        *self.reason.lock()
    }

    /// Resolves with the first reason to stop.
    pub(crate) async fn given(&self) {
        self.given.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{AbortReason, StopReason, StopSignal};

    #[test]
    fn the_first_reason_stays_but_for_the_loss_of_the_lease() {
        let stop = StopSignal::default();
        assert!(stop.reason().is_none() && stop.given().now_or_never().is_none());
        stop.give(StopReason::Cancel(AbortReason::UserInterruption));
        stop.give(StopReason::Shutdown);
        assert_eq!(stop.reason(), Some(StopReason::Cancel(AbortReason::UserInterruption)));
        stop.give(StopReason::Fenced);
        assert_eq!(stop.reason(), Some(StopReason::Fenced));
        assert!(stop.given().now_or_never().is_some());
    }
}
