//! Whether any worker can run a call; ready calls that no worker will ever take are ended.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use toolplane_lifecycle::Command;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::InvocationKey;
use toolplane_records::profile::native_tool_of;
use toolplane_records::time::Timestamp;
use toolplane_store::ScoreRange;

use super::queues::ReadyQueues;
use super::workers::{Placement, Workers};
use crate::calls::Calls;
use crate::cluster::Members;
use crate::storage::{RecordError, commit};

/// Calls of one queue ended at once.
const PAGE: usize = 256;
/// Pools remembered at once. Beyond it those that were served longest ago are forgotten: their calls wait for a grace again.
const MAX_POOLS: usize = 4_096;

/// Knows which pools are served, here and by workers of other schedulers.
#[derive(Debug)]
pub(crate) struct Placements {
    calls: Calls,
    workers: Arc<Workers>,
    members: Arc<Members>,
    queues: Arc<ReadyQueues>,
    /// When a worker of each pool was last seen, or the pool was first asked for.
    served: Mutex<HashMap<String, Timestamp>>,
    /// How long a ready call waits for any worker of its pool to exist, milliseconds.
    grace_ms: i64,
}

impl Placements {
    pub(crate) fn new(
        calls: Calls,
        (workers, members, queues): (Arc<Workers>, Arc<Members>, Arc<ReadyQueues>),
        grace_ms: i64,
    ) -> Self {
        Self { calls, workers, members, queues, served: Mutex::default(), grace_ms }
    }

    /// Whether calls of `pool` can be run, by workers connected here or to another scheduler.
    pub(crate) fn placement(&self, pool: &str) -> Placement {
        match self.workers.placement(pool) {
            Placement::Served => Placement::Served,
            _ if self.members.serve(pool) => Placement::Served,
            other => other,
        }
    }

    /// Ends ready calls whose pool no worker serves: at once where workers say that they cannot, else after a grace in
    /// which none came. Returns an error when the store does.
    pub(crate) async fn refuse_unplaceable(&self, now: Timestamp) -> Result<(), RecordError> {
        for queue in self.queues.names() {
            let Some((range, error)) = self.verdict(&queue.pool, now) else { continue };
            for entry in self.calls.storage().scan(&queue.to_string(), range, PAGE).await? {
                let Ok(id) = InvocationKey::parse(&entry.member) else { continue };
                let block = |_: &_| Command::Block { cause: "placement", error: error.clone() };
                if let Err(error) = self.calls.command(&id, block).await {
                    tracing::debug!(invocation_id = %id, %error, "a call was not refused for want of a worker");
                }
            }
        }
        Ok(())
    }

    /// Which waiting calls of `pool` are ended, and with which error; `None` while they may wait.
    fn verdict(&self, pool: &str, now: Timestamp) -> Option<(ScoreRange, ToolError)> {
        let waited = ScoreRange::up_to(commit::score(now.plus_millis(-self.grace_ms)));
        match self.placement(pool) {
            Placement::Served => {
                self.note_served(pool, now);
                None
            }
            // Where workers may be connected to others too, one of them may be about to.
            Placement::Gap(gap) => {
                let range = if self.calls.storage().is_shared() { waited } else { ScoreRange::all() };
                Some((range, gap_error(pool, &gap.reason_code, &gap.message)))
            }
            Placement::NoWorker => {
                // A worker that was just there, or a scheduler that was not, is no reason to give up.
                let seen = self.served.lock().get(pool).copied();
                if seen.is_none() {
                    self.note_served(pool, now);
                }
                let waited_for = now.since_millis(seen.unwrap_or(now));
                (waited_for >= self.grace_ms).then(|| (waited, no_worker_error(pool)))
            }
        }
    }

    fn note_served(&self, pool: &str, now: Timestamp) {
        let mut served = self.served.lock();
        if served.len() >= MAX_POOLS && !served.contains_key(pool) {
            let median = {
                let mut seen: Vec<Timestamp> = served.values().copied().collect();
                seen.sort_unstable();
                seen[seen.len() / 2]
            };
            served.retain(|_, seen| *seen > median);
        }
        served.insert(pool.to_owned(), now);
    }
}

/// The error of a call whose pool every worker declines.
pub(crate) fn gap_error(pool: &str, reason_code: &str, message: &str) -> ToolError {
    let mut error =
        ToolError::of(codes::PLACEMENT_DECLINED, format!("no worker can run calls of pool `{pool}`: {message}"));
    error.error_code = codes::PLACEMENT_DECLINED.of(reason_code);
    error.side_effects = Some("none".to_owned());
    error
}

fn no_worker_error(pool: &str) -> ToolError {
    let mut error = ToolError::of(
        codes::PLACEMENT_NO_WORKER,
        match native_tool_of(pool) {
            Some(tool) => format!(
                "no connected worker serves the native tool `{tool}`: a worker that does names it in `native_tools` when it connects"
            ),
            None => format!("no connected worker serves pool `{pool}`"),
        },
    );
    error.side_effects = Some("none".to_owned());
    error
}
