//! What is done to the processes of a bed: started, killed, halted, armed. All of it is written into the history.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use toolplane_faultpoint::FAULT_VARIABLE;
use toolplane_testkit::process::Process;

use super::{Bed, LEASE, arms, connected};
use crate::history::{Fault, Record, now_ms};
use crate::trouble::Trouble;

/// How long a worker may take to be known to a scheduler.
const READY: Duration = Duration::from_secs(30);

impl Bed {
    /// Arms a fault point of a running process; an empty text disarms it. Only where the plan has `points`.
    pub fn arm(&self, name: &str, fault: &str) -> Result<(), Trouble> {
        let path = self.folder.join(format!("{name}.arms"));
        // Written aside and renamed: a process that looks in between meets the old text or the new one.
        let aside = self.folder.join(format!("{name}.arms.new"));
        std::fs::write(&aside, fault).map_err(Trouble::file(&aside))?;
        std::fs::rename(&aside, &path).map_err(Trouble::file(&path))
    }

    /// SIGKILL. The caller starts it again.
    pub async fn kill(&mut self, name: &str) -> Result<(), Trouble> {
        match self.workers.iter_mut().find(|seat| seat.name == name) {
            Some(seat) => seat.process = None,
            None if name == "store" => self.store.server()?.kill(),
            None => self.processes.kill(name)?,
        }
        Ok(())
    }

    /// Starts a process without waiting for it.
    pub fn launch(&mut self, name: &str) -> Result<(), Trouble> {
        let Some(place) = self.workers.iter().position(|seat| seat.name == name) else {
            return Ok(self.processes.launch(name)?);
        };
        let mut command = self.worker_command(name)?;
        if self.points {
            command.env(FAULT_VARIABLE, arms(&self.folder, name));
        }
        let log = self.folder.join(format!("{name}.log"));
        self.workers[place].process = Some(Process::start(name, &mut command, &log)?);
        Ok(())
    }

    /// Waits until a process does its work again.
    pub async fn ready(&mut self, name: &str) -> Result<(), Trouble> {
        if !self.workers.iter().any(|seat| seat.name == name) {
            return Ok(self.processes.ready_one(name).await?);
        }
        let start = Instant::now();
        while start.elapsed() < READY {
            for clients in self.clients()? {
                if connected(clients.invocations(), name).await {
                    return Ok(());
                }
            }
            toolplane_wait::look_again().await;
        }
        Err(Trouble::Said(format!("{name} does not become ready")))
    }

    /// SIGKILL, and a new start; records the fault. Returns when the process is ready again.
    pub async fn kill_and_restart(&mut self, name: &str) -> Result<(), Trouble> {
        let from_ms = now_ms();
        self.kill(name).await?;
        self.restart(name, "kill", from_ms).await
    }

    /// Starts a process that died at `from_ms`, and records how long it was away.
    pub async fn restart(&mut self, name: &str, verb: &str, from_ms: u64) -> Result<(), Trouble> {
        if name == "store" {
            self.store.server()?.restart().await?;
        } else {
            self.launch(name)?;
            self.ready(name).await?;
        }
        self.record_fault(name, verb, from_ms);
        Ok(())
    }

    /// SIGSTOP for a while, then SIGCONT.
    pub async fn halt(&mut self, name: &str, time: Duration) -> Result<(), Trouble> {
        let from_ms = now_ms();
        self.signal(name, true)?;
        toolplane_wait::pause(time, "the process stands still for so long").await;
        self.signal(name, false)?;
        self.record_fault(name, "stop", from_ms);
        Ok(())
    }

    /// Schedulers and workers are paused together, as on a machine that is put to sleep; the workers go on a moment
    /// later than the schedulers.
    pub async fn sleep(&mut self, time: Duration) -> Result<(), Trouble> {
        let from_ms = now_ms();
        let (schedulers, workers) = (self.scheduler_names(), self.worker_names());
        let all = [schedulers.clone(), workers.clone()].concat();
        all.iter().try_for_each(|name| self.signal(name, true))?;
        toolplane_wait::pause(time, "the process stands still for so long").await;
        schedulers.iter().try_for_each(|name| self.signal(name, false))?;
        toolplane_wait::pause(LEASE / 3, "the process stands still for so long").await;
        workers.iter().try_for_each(|name| self.signal(name, false))?;
        // Not of the workers: no scheduler watched them while they were paused, so they are not to blame.
        schedulers.iter().for_each(|name| self.record_fault(name, "stop", from_ms));
        Ok(())
    }

    fn signal(&mut self, name: &str, stop: bool) -> Result<(), Trouble> {
        if name == "store" {
            let server = self.store.server()?;
            if stop {
                server.pause()?
            } else {
                server.resume()?
            };
            return Ok(());
        }
        let process = match self.workers.iter_mut().find(|seat| seat.name == name) {
            Some(seat) => seat.process.as_mut().ok_or_else(|| Trouble::Said(format!("{name} does not run")))?,
            None => self.processes.running(name)?,
        };
        if stop {
            process.pause()?
        } else {
            process.resume()?
        };
        Ok(())
    }

    /// Waits until a process ends by itself, as at an armed fault point; false when it does not in time.
    pub async fn died(&mut self, name: &str, patience: Duration) -> Result<bool, Trouble> {
        let process = match self.workers.iter_mut().find(|seat| seat.name == name) {
            Some(seat) => seat.process.as_mut().ok_or_else(|| Trouble::Said(format!("{name} does not run")))?,
            None => self.processes.running(name)?,
        };
        let died = process.wait(patience).await.is_ok();
        if died {
            self.kill(name).await?;
        }
        Ok(died)
    }

    /// Notes that a process was away, or halted, from `from_ms` until now.
    pub fn record_fault(&self, name: &str, verb: &str, from_ms: u64) {
        let fault = Fault { verb: verb.to_owned(), target: name.to_owned(), from_ms, until_ms: now_ms() };
        self.recorder.record(Record::Fault(fault));
    }

    fn worker_command(&self, name: &str) -> Result<Command, Trouble> {
        let mut command = Command::new(worker_program()?);
        command.args(["--worker-id", name, "--schedulers", &self.endpoints()?.join(",")]);
        command.args(["--register", &self.register.address(), "--folder"]).arg(self.folder.join("ledgers"));
        command.args(["--slots", &self.slots.to_string()]);
        if self.deaf {
            command.arg("--deaf");
        }
        Ok(command)
    }
}

/// The worker beside this program: both are built from this package.
fn worker_program() -> Result<PathBuf, Trouble> {
    let own = std::env::current_exe().map_err(Trouble::file(Path::new("this program")))?;
    // Tests lie one folder deeper than programs.
    let found = own.ancestors().skip(1).take(2).map(|folder| folder.join("ledger-worker")).find(|path| path.is_file());
    found.ok_or_else(|| Trouble::Said(format!("no `ledger-worker` beside {}; build the package", own.display())))
}
