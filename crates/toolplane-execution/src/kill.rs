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

    /// Like [`KillSwitch::arm`], until the returned value is dropped: for a run that goes on after the call.
    pub(crate) fn arm_for_now(&self, killer: Killer) -> Armed<'_> {
        self.arm(killer);
        Armed(self)
    }
}

/// A run that is under a switch for as long as this lives.
#[derive(Debug)]
pub(crate) struct Armed<'a>(&'a KillSwitch);

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        self.0.0.lock().killer = None;
    }
}
