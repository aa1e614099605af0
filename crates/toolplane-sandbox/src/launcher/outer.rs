//! The outer stage: on the host, from the worker to bubblewrap.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;

use super::stage::{CONTROL_FD, StageFailure, control_channel};
use super::{staging, sys};
use crate::wire::{self, OuterPlan, PRIVATE_FILE_FD};

/// Becomes bubblewrap, or reports why it could not.
pub(super) fn run() -> ExitCode {
    if sys::claim_stdin_as(CONTROL_FD).is_err() {
        return ExitCode::FAILURE;
    }
    let mut control = control_channel();
    let failure = prepare(&mut control);
    let _ = wire::write_frame(&mut control, &failure.report());
    ExitCode::FAILURE
}

/// Returns only with what went wrong.
fn prepare(control: &mut File) -> StageFailure {
    let plan = match wire::read_frame::<OuterPlan>(control).map_err(StageFailure::at("plan")) {
        Ok(plan) => plan,
        Err(failure) => return failure,
    };
    match isolate(&plan).and_then(|()| hand_on_files(&plan)) {
        Ok(()) => become_bubblewrap(&plan),
        Err(failure) => failure,
    }
}

fn isolate(plan: &OuterPlan) -> Result<(), StageFailure> {
    std::env::set_current_dir("/").map_err(StageFailure::at("session"))?;
    // Signals of the worker's terminal are not for us.
    rustix::process::setsid().map_err(StageFailure::at("session"))?;
    for file in &plan.control_groups {
        fs::write(file, "0").map_err(StageFailure::at("control_group"))?;
    }
    sys::limit(libc::RLIMIT_CORE, 0, 0).map_err(StageFailure::at("rlimit"))?;
    let Some(slot) = plan.slot else {
        return if rustix::process::geteuid().is_root() {
            Err(StageFailure::new("user", "a root worker must give the sandbox a user of its own"))
        } else {
            Ok(())
        };
    };
    staging::prepare(plan, slot)?;
    // The tool may open `/dev/stdout` and `/dev/stderr` by name.
    for stream in [1, 2] {
        sys::give_to(stream, slot).map_err(StageFailure::at("streams"))?;
    }
    sys::become_user(slot).map_err(StageFailure::at("user"))
}

/// The private files as files in memory, at the numbers that the arguments of bubblewrap name. It reads and closes them.
fn hand_on_files(plan: &OuterPlan) -> Result<(), StageFailure> {
    for ((_, content), number) in plan.private_files.placed().zip(PRIVATE_FILE_FD..) {
        let file = sys::memory_file(content).map_err(StageFailure::at("private_files"))?;
        sys::place(file.as_fd(), number).map_err(StageFailure::at("private_files"))?;
    }
    Ok(())
}

fn become_bubblewrap(plan: &OuterPlan) -> StageFailure {
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| StageFailure::new("plan", "an argument contains NUL"));
    let path = |path: &Path| text(path.as_os_str().as_bytes());
    let prepared = path(&plan.bwrap).and_then(|program| {
        let rest = plan.arguments.iter().map(|argument| text(argument.as_bytes()));
        let argv = [path(&plan.bwrap)].into_iter().chain(rest).collect::<Result<Vec<_>, _>>()?;
        Ok((program, argv))
    });
    match prepared {
        Ok((program, argv)) => StageFailure::at("bubblewrap")(sys::execute(&program, &argv, &[])),
        Err(failure) => failure,
    }
}
