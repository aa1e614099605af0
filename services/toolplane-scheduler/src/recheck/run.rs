//! Going through the calls whose decision may not hold any more.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use toolplane_records::ids::InvocationKey;

use super::approvals::Approvals;
use super::in_force::DecisionsInForce;
use super::rechecker::Rechecker;
use crate::dispatch::ReadyQueues;

/// Calls decided about again at the same time.
const AT_ONCE: usize = 16;
/// Pause before a call is looked at once more when its decision could not be had.
const PAUSE: Duration = Duration::from_millis(500);

/// What goes through them.
pub(crate) struct RecheckLoop {
    /// Decides again.
    pub(crate) rechecker: Rechecker,
    /// Brings answers that are there already.
    pub(crate) approvals: Approvals,
    /// Who asks for which call.
    pub(crate) in_force: Arc<DecisionsInForce>,
    /// Woken when a call may go on.
    pub(crate) queues: Arc<ReadyQueues>,
    /// The calls that are asked for.
    pub(crate) asked: mpsc::UnboundedReceiver<InvocationKey>,
}

impl RecheckLoop {
    /// Looks at the calls that are asked for until `stop`. What is being stored then is stored.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let environment = self.rechecker.environment();
        let places = Arc::new(Semaphore::new(AT_ONCE));
        while let Some(Some(id)) = stop.run_until_cancelled(self.asked.recv()).await {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let (rechecker, approvals) = (self.rechecker.clone(), self.approvals.clone());
            let (in_force, queues) = (self.in_force.clone(), self.queues.clone());
            environment.spawn(async move {
                let rechecked = rechecker.recheck(&id).await;
                if let Ok(Some(question)) = &rechecked {
                    approvals.look(&id.tenant, question).await;
                }
                drop(place);
                if let Err(error) = rechecked {
                    // It waits: nothing starts on a decision that may not hold.
                    tracing::debug!(invocation_id = %id, %error, "a waiting call could not be decided about again yet");
                    tokio::time::sleep(PAUSE).await;
                }
                in_force.looked(&id);
                queues.ring();
            });
        }
    }
}
