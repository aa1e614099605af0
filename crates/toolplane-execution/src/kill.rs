//! The hard end of a call: at once, from any thread, whether or not the runtime that runs the call still turns.

use std::sync::Arc;

use parking_lot::Mutex;
use toolplane_sandbox::running::Killer;

/// Kills the processes of one call. Clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct KillSwitch(Arc<Mutex<KillState>>);

#[derive(Debug, Default)]
struct KillState {
    killer: Option<Killer>,
    thrown: bool,
}

impl KillSwitch {
    /// Kills what the call runs outside of this process with SIGKILL, now and whenever it starts anything later. Returns
    /// without waiting for the end; a call that runs inside this process goes on until it is dropped.
    pub fn throw(&self) {
        let mut state = self.0.lock();
        state.thrown = true;
        if let Some(killer) = &state.killer {
            killer.kill();
        }
    }

    /// Whether it was thrown.
    pub fn is_thrown(&self) -> bool {
        self.0.lock().thrown
    }

    /// Puts a run under the switch; a switch that was thrown kills it here and now.
    pub(crate) fn arm(&self, killer: Killer) {
        let mut state = self.0.lock();
        if state.thrown {
            killer.kill();
        }
        state.killer = Some(killer);
    }
}
