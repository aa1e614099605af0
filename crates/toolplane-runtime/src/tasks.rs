//! Background tasks with names: none ends unnoticed.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::Mutex;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::shutdown::Shutdown;

/// The background tasks of a process (or of one role in it).
///
/// A task that panics or fails is logged under its name and asks the process to stop: a process without one of its parts
/// would look alive and be broken. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tasks {
    tracker: TaskTracker,
    shutdown: Shutdown,
    failure: Arc<Mutex<Option<TaskFailure>>>,
}

/// A task ended in a way it must not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task `{task}` {cause}")]
pub struct TaskFailure {
    task: String,
    cause: String,
}

impl TaskFailure {
    /// Name of the task.
    pub fn task(&self) -> &str {
        &self.task
    }
}

impl Tasks {
    /// No task yet; a failing one will ask `shutdown` to stop.
    pub fn new(shutdown: Shutdown) -> Self {
        Self { tracker: TaskTracker::new(), shutdown, failure: Arc::default() }
    }

    /// The wish to stop that these tasks should follow.
    pub fn shutdown(&self) -> &Shutdown {
        &self.shutdown
    }

    /// Starts a task that cannot fail (it may still panic).
    pub fn spawn<F>(&self, name: impl Into<String>, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_fallible(name, task.map(Ok::<(), std::convert::Infallible>));
    }

    /// Starts a task whose error ends the process in order.
    pub fn spawn_fallible<F, E>(&self, name: impl Into<String>, task: F)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send,
    {
        let (name, tasks) = (name.into(), self.clone());
        // The tasks hold the tracker only while they run, so waiting for it still ends.
        self.tracker.spawn(async move {
            let outcome = AssertUnwindSafe(task).catch_unwind().await;
            let cause = match outcome {
                Ok(Ok(())) => return,
                Ok(Err(error)) => format!("failed: {error}"),
                Err(panic) => format!("panicked: {}", panic_text(&*panic)),
            };
            tasks.fail(TaskFailure { task: name, cause });
        });
    }

    /// Waits for all tasks; those that do not end within `limit` are left behind, which is no failure. Fails with the
    /// first [`TaskFailure`] when a task failed or panicked, now or before.
    pub async fn join(&self, limit: Duration) -> Result<(), TaskFailure> {
        self.tracker.close();
        if tokio::time::timeout(limit, self.tracker.wait()).await.is_err() {
            tracing::warn!(left = self.tracker.len(), "tasks did not end in time");
        }
        match self.failure() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// The first failure, if a task failed.
    pub fn failure(&self) -> Option<TaskFailure> {
        self.failure.lock().clone()
    }

    fn fail(&self, failure: TaskFailure) {
        tracing::error!(task = failure.task, cause = failure.cause, "task ended; stopping the process");
        self.failure.lock().get_or_insert(failure);
        self.shutdown.request();
    }
}

/// Starts work beside the request or the call it belongs to. A panic is logged under the name of the work, and reaches
/// the task that waits for the handle; the process goes on.
///
/// Whatever runs as long as the process belongs into [`Tasks`]. Work that belongs to a trace brings its span along.
#[expect(clippy::disallowed_methods, reason = "this is the way to start work that others are told to use")]
pub fn spawn<T>(name: &'static str, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T>
where
    T: Send + 'static,
{
    // A task is copied whole when it begins and when it ends: large ones go into a box first.
    if size_of_val(&work) > LARGE {
        tokio::spawn(guarded(name, Box::pin(work)))
    } else {
        tokio::spawn(guarded(name, work))
    }
}

/// Work of more bytes is better in a box.
const LARGE: usize = 512;

/// `work`, and a line in the log when it panics.
async fn guarded<T>(name: &'static str, work: impl Future<Output = T>) -> T {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => done,
        Err(panic) => {
            tracing::error!(work = name, cause = panic_text(&*panic), "work beside a request panicked");
            std::panic::resume_unwind(panic)
        }
    }
}

/// The text a panic was raised with.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_the_process_in_order() {
        let tasks = Tasks::new(Shutdown::new());
        let follower = tasks.shutdown().clone();
        tasks.spawn("follower", async move { follower.requested().await });
        tasks.spawn("breaker", async { panic!("of {}", "no use") });
        let failure = tasks.join(Duration::from_secs(20)).await.expect_err("a task failed");
        assert_eq!(failure.to_string(), "task `breaker` panicked: of no use");
        assert!(tasks.shutdown().is_requested());
    }

    #[tokio::test]
    async fn work_beside_a_request_answers_whoever_waits() {
        assert_eq!(spawn("counting", async { 1 + 1 }).await.ok(), Some(2));
        let lost = spawn("breaking", async { panic!("of {}", "no use") }).await.expect_err("it panicked");
        assert_eq!(panic_text(&*lost.into_panic()), "of no use");
    }

    #[tokio::test]
    async fn an_error_does_too_and_a_plain_end_does_not() {
        let tasks = Tasks::new(Shutdown::new());
        tasks.spawn("short", async {});
        assert_eq!(tasks.join(Duration::from_secs(20)).await, Ok(()));
        assert!(!tasks.shutdown().is_requested());
        tasks.spawn_fallible("listener", async { Err("address in use") });
        let failure = tasks.join(Duration::from_secs(20)).await.expect_err("a task failed");
        assert_eq!(
            (failure.task(), failure.to_string().as_str()),
            ("listener", "task `listener` failed: address in use")
        );
    }
}
