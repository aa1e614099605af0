//! The inner stage: process 1 of the sandbox.

use std::fs::File;
use std::io::Read as _;
use std::process::ExitCode;

use rustix::process::{DumpableBehavior, Signal};

use super::reaper::Reaper;
use super::stage::{CONTROL_FD, StageFailure, control_channel};
use super::{start, sys, verify};
use crate::spec::MAX_STDIN_BYTES;
use crate::wire::{self, InnerPlan, LauncherReport};

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
    let stdin = match plan.stdin_len {
        None => None,
        Some(length) if length > MAX_STDIN_BYTES as u64 => {
            return Err(StageFailure::new("plan", "standard input too large"));
        }
        Some(length) => {
            let mut bytes = vec![0; length as usize];
            control.read_exact(&mut bytes).map_err(StageFailure::at("plan"))?;
            Some(bytes)
        }
    };
    verify::check(&plan)?;
    wire::write_frame(control, &LauncherReport::Inside).map_err(StageFailure::at("report"))?;
    let children = sys::watch_children().map_err(StageFailure::at("signals"))?;
    let tool = start::tool(&plan, stdin.as_deref())?;
    wire::write_frame(control, &LauncherReport::Started).map_err(StageFailure::at("report"))?;
    Ok(Reaper::new(control, children, tool).run())
}
