//! Process 1 while the tool runs: answers the kernel's questions, carries out the worker's orders, collects the dead.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use super::filter::{self, SyscallDenial};
use super::sockets::{self, Connected};
use super::start::Tool;
use super::{sys, uses};
use crate::exit::{ProcessEnd, ResourceUse, Violation};
use crate::inside::SCRATCH;
use crate::wire::{self, LauncherReport, Order};

/// Distinct denied attempts that are told apart; further ones are counted with the last.
const MAX_DISTINCT: usize = 64;
/// How long to wait for killed processes before the kernel finishes the work alone.
const REAP_BOUND: Duration = Duration::from_secs(1);

pub(super) struct Reaper<'a> {
    control: &'a mut File,
    children: OwnedFd,
    tool: Tool,
    /// Sockets of other families are tried on the way to the one that is granted.
    network: bool,
    listening: bool,
    orders: Vec<u8>,
    denied: BTreeMap<SyscallDenial, u64>,
    ending: Option<ProcessEnd>,
}

impl<'a> Reaper<'a> {
    pub(super) fn new(control: &'a mut File, children: OwnedFd, tool: Tool, network: bool) -> Self {
        Self {
            control,
            children,
            tool,
            network,
            listening: true,
            orders: Vec::new(),
            denied: BTreeMap::new(),
            ending: None,
        }
    }

    /// Until the tool has ended or the worker is gone; then nothing else is left running.
    pub(super) fn run(mut self) -> LauncherReport {
        loop {
            let (alive, ended) = self.step(-1);
            if !alive {
                // No process is there to read a report. Ending this process ends the tree.
                std::process::exit(0);
            }
            if ended {
                break;
            }
        }
        self.clear();
        self.report()
    }

    /// Waits for one thing to happen and handles it. (the worker is there, the tool has ended)
    fn step(&mut self, timeout_ms: i32) -> (bool, bool) {
        let listener = if self.listening { self.tool.listener.as_raw_fd() } else { -1 };
        let fds = [self.control.as_raw_fd(), listener, self.children.as_raw_fd()];
        let Ok([control, question, child]) = sys::wait(fds, timeout_ms) else { return (false, false) };
        if question.readable {
            self.answer();
        } else if question.closed {
            // No process uses the filter any more; asking the kernel now would block.
            self.listening = false;
        }
        if (control.readable || control.closed) && !self.obey() {
            return (false, false);
        }
        if child.readable {
            self.collect();
        }
        (true, self.ending.is_some())
    }

    fn answer(&mut self) {
        let listener = self.tool.listener.as_fd();
        let question = match sys::next_question(listener) {
            Ok(Some(question)) => question,
            Ok(None) => return,
            Err(_) => {
                self.listening = false;
                return;
            }
        };
        let mut verdict = filter::judge(question.arch, question.number, &question.arguments);
        verdict.probe |= self.network && verdict.syscall == "socket";
        if verdict.connects
            && let Connected::Answered(errno) = sockets::connect(&question, listener)
        {
            return sys::answer(listener, question.id, errno);
        }
        if verdict.fatal {
            sys::signal(question.pid as i32, libc::SIGSYS);
        }
        sys::answer(listener, question.id, verdict.errno);
        if self.denied.len() < MAX_DISTINCT || self.denied.contains_key(&verdict) {
            *self.denied.entry(verdict).or_default() += 1;
        } else if let Some(mut last) = self.denied.last_entry() {
            *last.get_mut() += 1;
        }
    }

    /// `false` when the worker is gone.
    fn obey(&mut self) -> bool {
        let mut chunk = [0; 256];
        match self.control.read(&mut chunk) {
            Ok(0) | Err(_) => return false,
            Ok(length) => self.orders.extend_from_slice(&chunk[..length]),
        }
        loop {
            match wire::take_frame::<Order>(&mut self.orders) {
                Ok(Some(Order::Terminate)) => {
                    sys::signal_everyone(libc::SIGTERM);
                    // A stopped process would not see it otherwise.
                    sys::signal_everyone(libc::SIGCONT);
                }
                Ok(Some(Order::Kill)) => sys::signal_everyone(libc::SIGKILL),
                Ok(Some(Order::Tell)) => {
                    if wire::write_frame(self.control, &LauncherReport::Uses(uses::now())).is_err() {
                        return false;
                    }
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Collects what has ended. `false` when no children are left.
    fn collect(&mut self) -> bool {
        let mut note = [0; 128];
        let _ = rustix::io::read(&self.children, &mut note);
        loop {
            match sys::reap() {
                Ok(Some(ended)) if ended.pid == self.tool.pid => self.ending = Some(ending(ended.status)),
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Kills and collects everything the tool left behind.
    fn clear(&mut self) {
        let bound = Instant::now() + REAP_BOUND;
        sys::signal_everyone(libc::SIGKILL);
        while self.collect() && Instant::now() < bound {
            sys::signal_everyone(libc::SIGKILL);
            self.step(20);
        }
    }

    fn report(self) -> LauncherReport {
        let (user_cpu_us, system_cpu_us, max_rss_bytes) = sys::usage_of_children();
        let full = |path: &&&str| rustix::fs::statvfs(**path).is_ok_and(|fs| fs.f_bavail == 0 || fs.f_favail == 0);
        let violation = |(verdict, count): (SyscallDenial, u64)| Violation {
            layer: "seccomp".into(),
            syscall: verdict.syscall,
            detail: verdict.detail,
            count,
            probe: verdict.probe,
        };
        LauncherReport::Exited {
            ending: self.ending.unwrap_or(ProcessEnd::Signal(libc::SIGKILL)),
            resources: ResourceUse { user_cpu_us, system_cpu_us, max_rss_bytes },
            scratch_full: [SCRATCH, "/dev/shm"].iter().filter(full).map(|path| (*path).to_owned()).collect(),
            violations: self.denied.into_iter().map(violation).collect(),
        }
    }
}

fn ending(status: i32) -> ProcessEnd {
    if libc::WIFSIGNALED(status) {
        ProcessEnd::Signal(libc::WTERMSIG(status))
    } else {
        ProcessEnd::Code(libc::WEXITSTATUS(status))
    }
}
