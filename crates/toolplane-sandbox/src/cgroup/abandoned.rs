//! Runs of workers that are gone: a worker killed with SIGKILL while it set a sandbox up leaves a process that waits for
//! it for ever, because that process had not yet asked to die with its parent. The next worker ends it.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, kill_process};

/// Marks a worker's directory as in use, until the file is closed or its process ends.
pub(super) fn lock(dir: &Path) -> Option<File> {
    let file = File::open(dir).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

/// Ends what is left of workers that are gone, and removes their directories beneath `base`.
///
/// A worker is gone when its process is not there **and** nobody holds its directory: a process of another namespace
/// is not seen here, but its lock is.
pub(super) fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let worker = entry.path();
        if owner(&worker).is_none_or(|pid| Path::new("/proc").join(pid.to_string()).exists()) {
            continue;
        }
        let Some(_lock) = lock(&worker) else { continue };
        for run in fs::read_dir(&worker).into_iter().flatten().flatten().filter(|run| run.path().is_dir()) {
            kill(&run.path());
            super::remove_when_empty(&run.path());
        }
        let _ = fs::remove_dir(&worker);
    }
}

/// The process whose directory this is, if it is one of a worker.
fn owner(dir: &Path) -> Option<u32> {
    dir.file_name()?.to_str()?.strip_prefix("toolplane-")?.split('-').next()?.parse().ok()
}

/// Kills every member. Version 1 has no file for that: its members are killed one by one.
fn kill(run: &Path) {
    if fs::write(run.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    for line in fs::read_to_string(run.join("cgroup.procs")).unwrap_or_default().lines() {
        if let Some(pid) = line.parse().ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::PathBuf;
    use std::process::{Child, Command};

    use super::*;
    use crate::cgroup::ControlGroups;

    /// The directory of a worker that has ended, with a run that still has a member. It is beneath the directory of a
    /// worker that lives, where nobody else sweeps.
    struct Abandoned {
        worker: PathBuf,
        left: Child,
        _living: ControlGroups,
    }

    impl Abandoned {
        /// None where no group can be made.
        fn new() -> Option<Self> {
            let living = ControlGroups::detect();
            let mut ended = Command::new("true").spawn().unwrap();
            ended.wait().unwrap();
            let worker = living.hierarchies.first()?.dir.join(format!("toolplane-{}-0", ended.id()));
            fs::create_dir(&worker).unwrap();
            fs::create_dir(worker.join("run-0")).unwrap();
            let left = Command::new("sleep").arg("60").spawn().unwrap();
            fs::write(worker.join("run-0/cgroup.procs"), left.id().to_string()).unwrap();
            Some(Self { worker, left, _living: living })
        }

        fn sweep(&self) {
            sweep(self.worker.parent().unwrap());
        }

        /// A process that another test is just starting may hold a copy of the lock until its program begins.
        fn sweep_until_gone(&self) {
            while self.worker.exists() {
                self.sweep();
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_process_left_by_a_worker_that_is_gone_is_ended() {
        let Some(mut abandoned) = Abandoned::new() else { return };
        abandoned.sweep_until_gone();
        assert_eq!(abandoned.left.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn a_directory_that_is_held_is_left_alone() {
        let Some(mut abandoned) = Abandoned::new() else { return };
        let held = lock(&abandoned.worker).unwrap();
        abandoned.sweep();
        assert!(abandoned.left.try_wait().unwrap().is_none() && abandoned.worker.join("run-0").exists());
        abandoned.left.kill().unwrap();
        abandoned.left.wait().unwrap();
        drop(held);
        abandoned.sweep_until_gone();
    }
}
