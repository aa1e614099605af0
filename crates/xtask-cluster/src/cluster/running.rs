//! A process this command started earlier, found again by its id and its time of birth: ids are used again.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// A drain has bounds of its own; this is beyond all of them.
const PATIENCE: Duration = Duration::from_secs(45);
const LOOK: Duration = Duration::from_millis(20);

/// A process, as it was when it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Running {
    pub(super) pid: u32,
    /// Ticks since the machine started.
    born: u64,
}

impl Running {
    /// The process with this id; `None` when it is gone already.
    pub(super) fn find(pid: u32) -> Option<Self> {
        birth(pid).map(|born| Self { pid, born })
    }

    /// Starts `command` so that it outlives this one and hears no signals of its terminal.
    pub(super) fn start(command: &mut Command) -> std::io::Result<Self> {
        use std::os::unix::process::CommandExt as _;
        let child = command.process_group(0).spawn()?;
        Self::find(child.id()).ok_or_else(|| std::io::Error::other("it ended at once"))
    }

    /// Whether it still runs.
    pub(super) fn lives(self) -> bool {
        birth(self.pid) == Some(self.born)
    }

    /// SIGKILL; true when there was something to kill. It is gone then, and its port is free.
    pub(super) async fn kill(self) -> bool {
        let killed = self.signal(Signal::KILL);
        let begin = Instant::now();
        while self.lives() && begin.elapsed() < PATIENCE {
            tokio::time::sleep(LOOK).await;
        }
        killed
    }

    /// SIGTERM, and SIGKILL when that is not heard; true when it ended by itself.
    pub(super) async fn stop(self) -> bool {
        self.signal(Signal::TERM);
        let begin = Instant::now();
        while self.lives() {
            if begin.elapsed() > PATIENCE {
                self.kill().await;
                return false;
            }
            tokio::time::sleep(LOOK).await;
        }
        true
    }

    fn signal(self, signal: Signal) -> bool {
        let id = i32::try_from(self.pid).ok().and_then(Pid::from_raw).filter(|_| self.lives());
        id.is_some_and(|id| kill_process(id, signal).is_ok())
    }
}

/// When the process with this id was started; `None` when there is none, or only its remains.
fn birth(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything; what follows it are words: state first, birth as the twentieth.
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    if matches!(state, "Z" | "X") { None } else { words.nth(18)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_is_found_and_stopped_and_never_confused() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let running = Running::find(child.id()).unwrap();
        assert!(running.lives() && running.pid == child.id());
        assert!(!Running { born: running.born + 1, ..running }.lives(), "another process with the same id");
        assert!(!Running { born: running.born + 1, ..running }.kill().await);
        assert!(running.stop().await);
        assert!(!running.lives() && !running.kill().await);
        child.wait().unwrap();
        assert_eq!(Running::find(child.id()), None);
    }
}
