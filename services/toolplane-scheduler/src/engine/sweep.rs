//! Due timers, and ready calls that nobody will ever take.

use std::time::Duration;

use toolplane_lifecycle::{Command, Timer};
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationId, WorkerId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use toolplane_store::ScoreRange;

use super::workers::Placement;
use super::{Engine, EngineError, commit, is_race, keys};

/// Timers of one kind handled in one pass.
const PASS: usize = 256;

impl Engine {
    pub(crate) async fn sweep_loop(&self) {
        let mut tick = tokio::time::interval(Duration::from_millis(self.0.options.tick_ms.max(10)));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Err(error) = self.sweep().await {
                tracing::warn!(%error, "a sweep failed; trying again");
            }
        }
    }

    async fn sweep(&self) -> Result<(), EngineError> {
        let now = self.now().await?;
        for timer in Timer::ALL {
            let due = ScoreRange::up_to(commit::score(now));
            for entry in self.0.store.scan(&keys::timers(*timer), due, PASS).await? {
                self.fire(&entry.member, *timer).await;
            }
        }
        self.refuse_unplaceable(now).await
    }

    /// Fires one timer. One bad record does not stop the others.
    async fn fire(&self, member: &str, timer: Timer) {
        let Ok(id) = InvocationId::parse(member) else {
            tracing::error!(member, timer = timer.as_str(), "a timer names something that is not an invocation id");
            return;
        };
        match self.command(&id, Vec::new(), |_| Command::Fire(timer)).await {
            Ok(_) => {}
            Err(EngineError::Refused { refusal, .. }) if is_race(&refusal) => {}
            Err(error) => {
                tracing::warn!(invocation_id = %id, timer = timer.as_str(), %error, "could not fire a timer");
            }
        }
    }

    /// Ends ready calls whose pool no worker serves: at once where workers say that they cannot, else after a grace.
    async fn refuse_unplaceable(&self, now: Timestamp) -> Result<(), EngineError> {
        for queue in self.0.store.indexes(keys::QUEUES).await? {
            let Some(pool) = super::dispatch::pool_of(&queue) else { continue };
            let (range, error) = match self.0.workers.placement(pool) {
                Placement::Served => continue,
                Placement::Gap(gap) => (ScoreRange::all(), gap_error(pool, &gap.reason_code, &gap.message)),
                Placement::Nobody => {
                    let waited = now.plus_millis(-self.0.options.placement_grace_ms);
                    (ScoreRange::up_to(commit::score(waited)), nobody_error(pool))
                }
            };
            for entry in self.0.store.scan(&queue, range, PASS).await? {
                let Ok(id) = InvocationId::parse(&entry.member) else { continue };
                let refused = self.command(&id, Vec::new(), |_| Command::Unplaceable { error: error.clone() }).await;
                if let Err(error) = refused {
                    tracing::debug!(invocation_id = %id, %error, "a call was not refused for want of a worker");
                }
            }
        }
        Ok(())
    }

    /// Ends every lease of an incarnation that is proven dead.
    pub async fn worker_gone(&self, worker_id: &WorkerId, alive: &str) -> Result<usize, EngineError> {
        let mut ended = 0;
        let mut range = ScoreRange::all();
        loop {
            let page = self.0.store.scan(&keys::timers(Timer::Lease), range, PASS).await?;
            for entry in &page {
                let Ok(id) = InvocationId::parse(&entry.member) else { continue };
                let record = self.load(&id).await?.record;
                let Some(lease) = &record.lease else { continue };
                if lease.worker_id == *worker_id && lease.incarnation != alive {
                    let incarnation = lease.incarnation.clone();
                    let gone =
                        |_: &_| Command::WorkerGone { worker_id: worker_id.clone(), incarnation: incarnation.clone() };
                    ended += usize::from(self.command(&id, Vec::new(), gone).await.is_ok());
                }
            }
            match page.last() {
                Some(last) if page.len() == PASS => range = ScoreRange::all().after(last),
                _ => return Ok(ended),
            }
        }
    }
}

/// The error of a call whose pool every worker declines.
pub(crate) fn gap_error(pool: &str, reason_code: &str, message: &str) -> ToolError {
    let mut error = ToolError::new(
        format!("placement.{reason_code}"),
        ErrorClass::CapabilityGap,
        Recoverability::CompleteSetup,
        format!("no worker can run calls of pool `{pool}`: {message}"),
    );
    error.side_effects = Some("none".to_owned());
    error
}

fn nobody_error(pool: &str) -> ToolError {
    let mut error = ToolError::new(
        "placement.no_worker",
        ErrorClass::CapabilityGap,
        Recoverability::RetryLater,
        format!("no connected worker serves pool `{pool}`"),
    );
    error.side_effects = Some("none".to_owned());
    error
}
