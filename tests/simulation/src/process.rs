//! The process a simulated scheduler runs in: its chance follows from the seed, and its tasks end when it is killed.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use toolplane_scheduler::simulation::{HostProcess, Task};

use crate::random::Random;

/// One start of one process.
#[derive(Debug)]
pub struct SimulatedProcess {
    random: Mutex<Random>,
    tasks: Mutex<Vec<AbortHandle>>,
    killed: Mutex<bool>,
}

impl SimulatedProcess {
    /// A process whose chance follows from `seed`.
    pub fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self { random: Mutex::new(Random::new(seed)), tasks: Mutex::default(), killed: Mutex::new(false) })
    }

    /// Ends everything that runs in it, wherever that is just now.
    pub fn kill(&self) {
        *self.killed.lock() = true;
        self.tasks.lock().drain(..).for_each(|task| task.abort());
    }
}

impl HostProcess for SimulatedProcess {
    fn random(&self) -> u128 {
        let mut random = self.random.lock();
        (u128::from(random.bits()) << 64) | u128::from(random.bits())
    }

    fn spawn(&self, task: Task) {
        if *self.killed.lock() {
            return;
        }
        let handle = tokio::spawn(task).abort_handle();
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| !task.is_finished());
        tasks.push(handle);
    }
}
