//! The one way a commit reaches the store, and the one place that deals with lost answers.

use std::time::Duration;

use tokio::time::Instant;
use toolplane_store::{Commit, CommitOutcome, RecordKey, Retry, Versioned};

use super::{Engine, EngineError};

/// How long the same commit is repeated while nobody knows what became of it.
const PATIENCE: Duration = Duration::from_secs(10);
/// First wait between repetitions; doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(20);
/// Longest wait between repetitions.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What became of a commit, once that is known for sure.
#[derive(Debug)]
pub(crate) enum Written {
    /// It is durable, now or since an attempt whose answer was lost.
    Applied,
    /// A compare did not hold; nothing was written. What stands there now.
    Lost(Vec<(RecordKey, Option<Versioned>)>),
    /// This index has no room; nothing was written.
    Full(String),
}

impl Engine {
    /// Commits, and repeats the same commit under the same operation id while its outcome is unknown.
    ///
    /// An error means that nothing was written, unless it says that the outcome is unknown even now. Must run in a task
    /// that nobody drops half way: a caller that went away would leave what follows a commit undone.
    pub(crate) async fn write(&self, mut commit: Commit) -> Result<Written, EngineError> {
        if !self.0.shared {
            // One process, one store: answers are not lost on the way.
            return Ok(written(self.0.store.commit(commit).await?));
        }
        commit.operation_id.get_or_insert_with(|| format!("op_{}", uuid::Uuid::new_v4().simple()));
        let (give_up, mut wait) = (Instant::now() + PATIENCE, FIRST_WAIT);
        let mut unsure = false;
        loop {
            let error = match self.0.store.commit(commit.clone()).await {
                Ok(outcome) => return Ok(written(outcome)),
                Err(error) => error,
            };
            match error.retry() {
                Retry::Ambiguous => unsure = true,
                // Once an attempt may have gone through, "nothing was written" is only said of the newest one.
                Retry::Definite if unsure => {}
                Retry::Definite | Retry::Never | Retry::Fatal => return Err(error.into()),
            }
            if Instant::now() + wait >= give_up {
                return Err(EngineError::OutcomeUnknown(error));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

fn written(outcome: CommitOutcome) -> Written {
    match outcome {
        CommitOutcome::Applied | CommitOutcome::Replayed => Written::Applied,
        CommitOutcome::Lost { current } => Written::Lost(current),
        CommitOutcome::Full { index } => Written::Full(index),
    }
}
