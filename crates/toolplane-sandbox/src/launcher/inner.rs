//! The inner stage: process 1 of the sandbox.

use std::fs::File;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::ExitCode;

use rustix::process::{DumpableBehavior, Signal};

use super::reaper::Reaper;
use super::stage::{CONTROL_FD, StageFailure, control_channel};
use super::{start, sys, verify};
use crate::network::PROXY_PORT;
use crate::spec::MAX_STDIN_BYTES;
use crate::wire::{self, InnerPlan, LauncherReport, StdinPlan};

/// Checks the sandbox, runs the tool, and reports. When this process ends, the kernel ends everything in the sandbox.
pub(super) fn run() -> ExitCode {
    let _ = sys::set_close_on_exec(CONTROL_FD);
    let _ = sys::close_above(CONTROL_FD);
    let mut control = control_channel();
    let report = match supervise(&mut control) {
        Ok(report) => report,
        Err(failure) => failure.report(),
    };
    let _ = wire::write_frame(&mut control, &report);
    ExitCode::SUCCESS
}

fn supervise(control: &mut File) -> Result<LauncherReport, StageFailure> {
    // From here on the tool cannot look into or trace this process, although they are the same user.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(StageFailure::at("hide"))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(StageFailure::at("hide"))?;
    let plan: InnerPlan = wire::read_frame(control).map_err(StageFailure::at("plan"))?;
    let stdin = stdin(plan.stdin, control)?;
    verify::check(&plan)?;
    if plan.network {
        hand_over_listener(control)?;
    }
    wire::write_frame(control, &LauncherReport::Inside).map_err(StageFailure::at("report"))?;
    let children = sys::watch_children().map_err(StageFailure::at("signals"))?;
    let tool = start::tool(&plan, stdin)?;
    wire::write_frame(control, &LauncherReport::Started).map_err(StageFailure::at("report"))?;
    Ok(Reaper::new(control, children, tool, plan.network).run())
}

/// The one way out of this network namespace: a socket of it that the worker answers on. Nobody here keeps it.
fn hand_over_listener(control: &File) -> Result<(), StageFailure> {
    let failed = StageFailure::at("network");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT)).map_err(&failed)?;
    sys::send_message(control.as_fd(), &[0], Some(listener.as_fd())).map_err(&failed)
}

/// What the tool will read, as the worker sends it after the plan.
fn stdin(plan: StdinPlan, control: &mut File) -> Result<OwnedFd, StageFailure> {
    match plan {
        StdinPlan::Nothing => File::open("/dev/null").map(Into::into).map_err(StageFailure::at("stdin")),
        StdinPlan::Bytes(length) if length > MAX_STDIN_BYTES as u64 => {
            Err(StageFailure::new("plan", "standard input too large"))
        }
        StdinPlan::Bytes(length) => {
            let mut bytes = vec![0; length as usize];
            control.read_exact(&mut bytes).map_err(StageFailure::at("plan"))?;
            sys::memory_file(&bytes).map_err(StageFailure::at("stdin"))
        }
        StdinPlan::Pipe => {
            // One byte and no more: what follows are orders.
            let (_, pipe) = sys::receive_message(control.as_fd(), 1).map_err(StageFailure::at("plan"))?;
            pipe.ok_or_else(|| StageFailure::new("plan", "standard input did not arrive"))
        }
    }
}
