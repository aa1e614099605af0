//! What of one worker's reports is in work: so much at a time, and the end of a call once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use toolplane_lifecycle::LeaseKey;

use crate::hash::DashSet;

/// Most tasks of one stream at which its next message is read. What a slow store leaves undone waits at the worker then, where it is
/// kept anyway, and not here, where it would be more with every repetition.
const MOST: usize = 1_024;

/// The work of one stream. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct InWork(Arc<State>);

#[derive(Debug, Default)]
struct State {
    tasks: AtomicUsize,
    freed: Notify,
    ends: DashSet<LeaseKey>,
}

/// A task that is in work, until this is dropped.
#[derive(Debug)]
pub(super) struct Working(Arc<State>);

/// The end of a call that is in work, until this is dropped.
#[derive(Debug)]
pub(super) struct End(Arc<State>, LeaseKey);

impl InWork {
    /// A task begins, whether there is room or not: what was read is taken.
    pub(super) fn begin(&self) -> Working {
        self.0.tasks.fetch_add(1, Ordering::Relaxed);
        Working(Arc::clone(&self.0))
    }

    /// The end of the call under `lease` is being taken; nothing where that is so already.
    pub(super) fn begin_end(&self, lease: &LeaseKey) -> Option<End> {
        self.0.ends.insert(lease.clone()).then(|| End(Arc::clone(&self.0), lease.clone()))
    }

    /// Resolves when there is room for another message. One task at a time may wait for it.
    pub(super) async fn room(&self) {
        while self.0.tasks.load(Ordering::Acquire) >= MOST {
            self.0.freed.notified().await;
        }
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        // Only the one that makes room wakes.
        if self.0.tasks.fetch_sub(1, Ordering::AcqRel) == MOST {
            self.0.freed.notify_one();
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.0.ends.remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn there_is_room_again_as_soon_as_one_of_the_most_has_ended() {
        let work = InWork::default();
        let mut tasks: Vec<_> = (1..MOST).map(|_| work.begin()).collect();
        assert!(work.room().now_or_never().is_some());
        tasks.extend([work.begin(), work.begin()]);
        let mut room = Box::pin(work.room());
        assert!(room.as_mut().now_or_never().is_none());
        tasks.pop();
        assert!(room.as_mut().now_or_never().is_none(), "there are as many as may be");
        tasks.pop();
        assert!(room.as_mut().now_or_never().is_some());
    }
}
