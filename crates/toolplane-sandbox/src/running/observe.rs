//! Looking at a run while it lasts.

use tokio::sync::{mpsc, oneshot};

use super::Captures;
use crate::capture::{Captured, OutputStream};
use crate::exit::UseNow;

/// Most questions that wait for the same driver.
pub(super) const MAX_WAITING: usize = 16;

/// Where an answer goes.
pub(super) type Ask = oneshot::Sender<UseNow>;

/// Looks at a run from elsewhere. Holding one keeps nothing alive but what was kept of the output.
#[derive(Clone)]
pub struct Observer {
    ask: mpsc::Sender<Ask>,
    captures: Captures,
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

impl Observer {
    pub(super) fn new(ask: mpsc::Sender<Ask>, captures: Captures) -> Self {
        Self { ask, captures }
    }

    /// What the tree uses now, as process 1 of the sandbox sees it. Takes about a millisecond; nothing when the run has ended.
    pub async fn uses(&self) -> Option<UseNow> {
        let (ask, answer) = oneshot::channel();
        self.ask.send(ask).await.ok()?;
        answer.await.ok()
    }

    /// What was kept of a stream so far: its beginning and its end. Of the standard output of a session, nothing.
    pub fn kept(&self, stream: OutputStream) -> Captured {
        self.captures.lock()[stream.index()].clone().finish(false)
    }
}
