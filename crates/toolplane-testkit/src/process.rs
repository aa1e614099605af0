//! One child process with its log: started, asked to end, killed; never left behind.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::problem::Problem;

/// A running child whose output goes to a log file. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command` with nothing on standard input and all output appended to `log`.
    pub fn start(name: &str, command: &mut Command, log: &Path) -> Result<Self, Problem> {
        let open = || -> std::io::Result<(File, File)> {
            let file = OpenOptions::new().create(true).append(true).open(log)?;
            Ok((file.try_clone()?, file))
        };
        let (out, err) = open().map_err(Problem::file(log))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(|error| Problem::Program { what: format!("starting {name}"), said: error.to_string() })?;
        Ok(Self { name: name.to_owned(), child, log: log.to_owned() })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// An error, with the end of the log, when the process has ended by itself.
    pub fn expect_running(&mut self) -> Result<(), Problem> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                Err(Problem::Program { what: format!("{} ended early ({status})", self.name), said: self.log_tail() })
            }
            Err(error) => Err(Problem::Program { what: self.name.clone(), said: error.to_string() }),
        }
    }

    /// SIGKILL, and waits until the process is gone.
    pub fn kill(&mut self) {
        // Both fail only when the process is already gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGSTOP: the process is paused until it is resumed, or killed.
    pub fn pause(&mut self) -> Result<(), Problem> {
        self.signal(Signal::STOP)
    }

    /// SIGCONT.
    pub fn resume(&mut self) -> Result<(), Problem> {
        self.signal(Signal::CONT)
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Problem> {
        self.expect_running()?;
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let id = id.ok_or_else(|| Problem::Missing(format!("{} has no process id", self.name)))?;
        kill_process(id, signal).map_err(|error| Problem::Program {
            what: format!("sending a signal to {}", self.name),
            said: error.to_string(),
        })
    }

    /// SIGTERM, then waits at most `patience` for the end.
    pub async fn terminate(&mut self, patience: Duration) -> Result<ExitStatus, Problem> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            // A process that is already gone is what was wanted.
            let _ = kill_process(id, Signal::TERM);
        }
        self.wait(patience).await
    }

    /// Waits at most `patience` for the end.
    pub async fn wait(&mut self, patience: Duration) -> Result<ExitStatus, Problem> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) if start.elapsed() < patience => toolplane_wait::look_again().await,
                Ok(None) => {
                    return Err(Problem::TooLate {
                        what: format!("the end of {}", self.name),
                        millis: patience.as_millis(),
                        said: format!("; its log ends with:\n{}", self.log_tail()),
                    });
                }
                Err(error) => return Err(Problem::Program { what: self.name.clone(), said: error.to_string() }),
            }
        }
    }

    /// Everything the process wrote so far.
    pub fn log(&self) -> String {
        std::fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// The last lines of the log.
    pub fn log_tail(&self) -> String {
        const LINES: usize = 40;
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- the log of {} ends with:\n{}\n---", self.name, self.log_tail());
        }
    }
}
