//! Timers that are due: of each kind the oldest first, a page at a time.

use futures_util::StreamExt;
use std::sync::Arc;
use tokio::sync::mpsc;
use toolplane_lifecycle::{Command, Timer};
use toolplane_records::ids::InvocationKey;
use toolplane_records::time::Timestamp;
use toolplane_store::{IndexEntry, ScoreRange};

use crate::calls::{Calls, is_race};
use crate::cluster::Members;
use crate::storage::{RecordError, commit, keys};

/// Timers of one kind read at once.
const PAGE: usize = 256;
/// Pages of one kind handled in one tick; what is left waits for the next.
const PAGES: usize = 16;
/// Timers handled at the same time.
const AT_ONCE: usize = 32;

/// Fires timers.
#[derive(Debug)]
pub(crate) struct DueTimers {
    calls: Calls,
    members: Arc<Members>,
    /// Hears of calls whose hooks should have answered by now.
    hooks_overdue: mpsc::UnboundedSender<InvocationKey>,
    /// How long another scheduler's timers are left to it, milliseconds.
    patience_ms: i64,
}

impl DueTimers {
    pub(crate) fn new(
        calls: Calls,
        members: Arc<Members>,
        hooks_overdue: mpsc::UnboundedSender<InvocationKey>,
        patience_ms: i64,
    ) -> Self {
        Self { calls, members, hooks_overdue, patience_ms }
    }

    /// Fires what is due of one kind, page by page. One bad record does not stop the others. Returns an error when the store does.
    pub(super) async fn fire_due(&self, timer: Timer, now: Timestamp) -> Result<(), RecordError> {
        let index = keys::timers(timer);
        let mut range = ScoreRange::up_to(commit::score(now));
        for _ in 0..PAGES {
            let page = self.calls.storage().scan(&index, range.clone(), PAGE).await?;
            let Some(last) = page.last().cloned() else { return Ok(()) };
            let mut fires = Vec::new();
            for entry in page.iter().filter(|entry| self.is_mine(entry, now) || self.knows_lease(entry, timer)) {
                fires.push(self.fire(&index, entry, timer));
            }
            futures_util::stream::iter(fires).buffer_unordered(AT_ONCE).collect::<()>().await;
            if page.len() < PAGE {
                return Ok(());
            }
            range = range.after(&last);
        }
        Ok(())
    }

    /// Whether this scheduler looks after `entry`; what was not handled for a while is the share of every scheduler.
    fn is_mine(&self, entry: &IndexEntry, now: Timestamp) -> bool {
        let overdue = i64::try_from(commit::score(now).saturating_sub(entry.score)).unwrap_or(i64::MAX);
        self.members.mine(&entry.member, overdue, self.patience_ms)
    }

    /// Whether this scheduler may know more about the end of a lease than others do.
    fn knows_lease(&self, entry: &IndexEntry, timer: Timer) -> bool {
        timer == Timer::Lease && InvocationKey::parse(&entry.member).is_ok_and(|id| self.calls.is_cached(&id))
    }

    async fn fire(&self, index: &str, entry: &IndexEntry, timer: Timer) {
        let Ok(id) = InvocationKey::parse(&entry.member) else {
            self.calls.set_aside(index, entry).await;
            return;
        };
        if timer == Timer::Lease {
            self.calls.tell_receipt(&id).await;
        }
        if timer == Timer::PostHooks {
            // The task that asks them sets the timer anew. There is no receiver when the process ends; another
            // scheduler sees it then.
            let _ = self.hooks_overdue.send(id);
            return;
        }
        match self.calls.command(&id, |_| Command::Fire(timer)).await {
            Ok(_) => {}
            Err(RecordError::Refused { refusal, .. }) if is_race(&refusal) => {}
            Err(RecordError::NotFound | RecordError::Damaged(_)) => {
                self.calls.set_aside(index, entry).await;
            }
            Err(error) => {
                tracing::warn!(invocation_id = %id, timer = timer.as_str(), %error, "could not fire a timer");
            }
        }
    }
}
