//! Starting the tool: the last steps between process 1 and the first instruction of the tool.

use std::ffi::CString;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::{fs, io};

use super::filter;
use super::stage::StageFailure;
use super::sys::{self, Fork};
use crate::environment::DEFAULT_PATH;
use crate::wire::InnerPlan;

/// A started tool.
pub(super) struct Tool {
    pub(super) pid: i32,
    /// Where the kernel puts its questions about denied calls.
    pub(super) listener: OwnedFd,
}

/// Longest message of the child.
const MAX_MESSAGE: usize = 16;
/// What the child says when a step failed: the step and the error number.
const STEPS: &[&str] = &["stdin", "rlimit", "cwd", "seccomp", "exec"];

/// Starts the tool and returns once its program runs.
pub(super) fn tool(plan: &InnerPlan, stdin: OwnedFd) -> Result<Tool, StageFailure> {
    let command = ExecVectors::prepare(plan)?;
    let (ours, theirs) = sys::message_pair().map_err(StageFailure::at("start"))?;
    match sys::fork().map_err(StageFailure::at("start"))? {
        Fork::Child => {
            drop(ours);
            let (step, error) = child(plan, &command, stdin.as_fd(), theirs.as_fd());
            let step = STEPS.iter().position(|name| *name == step).unwrap_or(0) as u8;
            let errno = error.raw_os_error().unwrap_or(libc::EIO).to_le_bytes();
            let _ = sys::send_message(theirs.as_fd(), &[&[step], errno.as_slice()].concat(), None);
            std::process::exit(1);
        }
        Fork::Parent(pid) => {
            drop(theirs);
            wait_for_exec(pid, &ours)
        }
    }
}

/// First message: the listener. Then the socket closes when the program runs, or a second message tells what failed.
fn wait_for_exec(pid: i32, socket: &OwnedFd) -> Result<Tool, StageFailure> {
    let (first, listener) = sys::receive_message(socket.as_fd(), MAX_MESSAGE).map_err(StageFailure::at("start"))?;
    let Some(listener) = listener else { return Err(failed_step(&first)) };
    let (second, _) = sys::receive_message(socket.as_fd(), MAX_MESSAGE).map_err(StageFailure::at("start"))?;
    if second.is_empty() { Ok(Tool { pid, listener }) } else { Err(failed_step(&second)) }
}

fn failed_step(message: &[u8]) -> StageFailure {
    let step = message.first().and_then(|step| STEPS.get(usize::from(*step))).copied();
    match (step, message.get(1..).and_then(<[u8]>::first_chunk)) {
        (Some(step), Some(errno)) => StageFailure::at(step)(io::Error::from_raw_os_error(i32::from_le_bytes(*errno))),
        _ => StageFailure::new("start", "the tool's process ended before its program was started"),
    }
}

/// What is handed to exec, made before the fork.
struct ExecVectors {
    programs: Vec<CString>,
    argv: Vec<CString>,
    env: Vec<CString>,
}

impl ExecVectors {
    fn prepare(plan: &InnerPlan) -> Result<Self, StageFailure> {
        let text = |text: String| CString::new(text).map_err(|_| StageFailure::new("plan", "a text contains NUL"));
        let list = |texts: Vec<String>| texts.into_iter().map(text).collect::<Result<Vec<_>, _>>();
        let program = plan.argv.first().cloned().unwrap_or_default();
        let path = plan.env.get("PATH").map_or(DEFAULT_PATH, String::as_str);
        let programs = if program.contains('/') {
            vec![program]
        } else {
            path.split(':').filter(|dir| dir.starts_with('/')).map(|dir| format!("{dir}/{program}")).collect()
        };
        Ok(Self {
            programs: list(programs)?,
            argv: list(plan.argv.clone())?,
            env: list(plan.env.iter().map(|(name, value)| format!("{name}={value}")).collect())?,
        })
    }

    /// Returns only if no candidate could be run, with the first error that says more than "not there".
    fn execute(&self) -> io::Error {
        let mut worst = io::Error::from_raw_os_error(libc::ENOENT);
        for program in &self.programs {
            let error = sys::execute(program, &self.argv, &self.env);
            if worst.raw_os_error() == Some(libc::ENOENT) {
                worst = error;
            }
        }
        worst
    }
}

/// The steps of the child, in order. Returns only with the one that failed.
fn child(
    plan: &InnerPlan,
    command: &ExecVectors,
    stdin: BorrowedFd<'_>,
    socket: BorrowedFd<'_>,
) -> (&'static str, io::Error) {
    match prepare_child(plan, stdin) {
        Err(failed) => failed,
        Ok(()) => match sys::install_filter(&filter::program(plan.network)) {
            Err(error) => ("seccomp", error),
            Ok(listener) => match sys::send_message(socket, b"listener", Some(listener.as_fd())) {
                Err(error) => ("seccomp", error),
                Ok(()) => ("exec", command.execute()),
            },
        },
    }
}

fn prepare_child(plan: &InnerPlan, stdin: BorrowedFd<'_>) -> Result<(), (&'static str, io::Error)> {
    let at = |step: &'static str| move |error: io::Error| (step, error);
    sys::reset_signals();
    sys::place(stdin, 0).map_err(at("stdin"))?;
    // When memory runs out, the tool goes before process 1. Only a preference: not being able to say so is no failure.
    let _ = fs::write("/proc/self/oom_score_adj", "500");
    for (resource, soft, hard) in &plan.rlimits {
        sys::limit(*resource, *soft, *hard).map_err(at("rlimit"))?;
    }
    std::env::set_current_dir(&plan.cwd).map_err(at("cwd"))
}
