//! What the parts take from the process they run in beside time: chance and tasks. Both are passed in, so that a whole cluster
//! can be run in a simulation that is the same for the same seed. Time is the store's clock, and tokio's for waiting.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use uuid::Uuid;

/// A task that runs until it ends, or until its process does.
pub type Task = BoxFuture<'static, ()>;

/// Chance and tasks of one process.
pub trait HostProcess: Send + Sync {
    /// 128 bits of chance that no outsider can guess.
    fn random(&self) -> u128;

    /// Runs a task beside the caller.
    fn spawn(&self, task: Task);
}

/// The operating system's chance, and tasks of the tokio runtime.
#[derive(Debug)]
struct RealProcess;

impl HostProcess for RealProcess {
    fn random(&self) -> u128 {
        Uuid::new_v4().as_u128()
    }

    fn spawn(&self, task: Task) {
        toolplane_runtime::tasks::spawn("a task of the scheduler", task);
    }
}

/// The process the parts run in. Cheap to clone.
#[derive(Clone)]
pub struct Environment(Arc<dyn HostProcess>);

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Environment")
    }
}

impl Environment {
    /// An environment in which chance and tasks are those of `process`.
    pub fn new(process: Arc<dyn HostProcess>) -> Self {
        Self(process)
    }

    /// This very process.
    pub(crate) fn real() -> Self {
        Self(Arc::new(RealProcess))
    }

    /// An identifier that no outsider can guess (UUID version 4).
    pub(crate) fn uuid(&self) -> Uuid {
        uuid::Builder::from_u128(self.0.random()).with_version(uuid::Version::Random).into_uuid()
    }

    /// A number below `bound`, which is at least 1.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        let [.., low] = split(self.0.random());
        low % bound.max(1)
    }

    /// Runs `task` beside the caller, who does not wait for it.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(Box::pin(task));
    }
}

fn split(bits: u128) -> [u64; 2] {
    let bytes = bits.to_be_bytes();
    let half = |at: usize| bytes[at..at + 8].iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
    [half(0), half(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_differ_and_numbers_keep_their_bound() {
        let environment = Environment::real();
        assert_ne!(environment.uuid(), environment.uuid());
        assert_eq!(environment.uuid().get_version_num(), 4);
        assert!((0..100).all(|_| environment.below(3) < 3));
    }
}
