//! What must hold inside the sandbox before a tool is started: checked on every run, from within.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::StatVfsMountFlags;

use super::stage::StageFailure;
use crate::inside::{CREDENTIALS, WORKSPACE};
use crate::wire::InnerPlan;

/// The step all failures here belong to.
const STAGE: &str = "verify";

pub(super) fn check(plan: &InnerPlan) -> Result<(), StageFailure> {
    if !rustix::process::getpid().is_init() {
        return Err(StageFailure::new(STAGE, "not process 1 of a process namespace"));
    }
    for (name, host) in &plan.host_namespaces {
        let ours = namespace(name).ok_or_else(|| StageFailure::new(STAGE, format!("no {name} namespace")))?;
        if ours == *host {
            return Err(StageFailure::new(STAGE, format!("the {name} namespace is that of the worker")));
        }
    }
    privileges()?;
    mounts(plan)
}

/// Inode of one of this process's namespaces.
pub(super) fn namespace(name: &str) -> Option<u64> {
    fs::metadata(format!("/proc/self/ns/{name}")).ok().map(|meta| meta.ino())
}

/// The lines of `/proc/self/status` that must have exactly these values.
pub(super) const STATUS: &[(&str, &str)] = &[
    ("CapInh:", "0000000000000000"),
    ("CapPrm:", "0000000000000000"),
    ("CapEff:", "0000000000000000"),
    ("CapBnd:", "0000000000000000"),
    ("CapAmb:", "0000000000000000"),
    ("NoNewPrivs:", "1"),
];

fn privileges() -> Result<(), StageFailure> {
    let status = fs::read_to_string("/proc/self/status").map_err(StageFailure::at(STAGE))?;
    for (key, expected) in STATUS {
        let found = status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        if found != Some(expected) {
            return Err(StageFailure::new(STAGE, format!("{key} {} instead of {expected}", found.unwrap_or("absent"))));
        }
    }
    if rustix::process::geteuid().is_root() {
        return Err(StageFailure::new(STAGE, "the tool would run as user 0"));
    }
    Ok(())
}

fn mounts(plan: &InnerPlan) -> Result<(), StageFailure> {
    for path in ["/", "/usr", "/etc", "/dev"] {
        expect_access(path, false)?;
    }
    match plan.workspace_writable {
        Some(writable) => expect_access(WORKSPACE, writable)?,
        None if Path::new(WORKSPACE).exists() => return Err(StageFailure::new(STAGE, "there is a workspace")),
        None => {}
    }
    for expected in &plan.protected {
        let found = fs::symlink_metadata(&expected.path).map_err(StageFailure::at(STAGE))?;
        if (found.dev(), found.ino()) != (expected.dev, expected.ino) {
            return Err(StageFailure::new(STAGE, format!("the protected path `{}` was replaced", expected.path)));
        }
        expect_access(&expected.path, false)?;
    }
    for path in &plan.hidden {
        let opened = fs::File::open(path).err().map(|error| error.kind());
        if opened != Some(std::io::ErrorKind::PermissionDenied) {
            return Err(StageFailure::new(STAGE, format!("`{path}` is not hidden")));
        }
    }
    private_files(&plan.private_files)
}

/// They are there, nobody but the tool's user may open them, and nothing can be put beside them.
fn private_files(places: &[String]) -> Result<(), StageFailure> {
    if places.is_empty() {
        return match Path::new(CREDENTIALS).exists() {
            true => Err(StageFailure::new(STAGE, format!("there is `{CREDENTIALS}`"))),
            false => Ok(()),
        };
    }
    expect_access(CREDENTIALS, false)?;
    let user = rustix::process::geteuid().as_raw();
    let modes = places.iter().map(|place| (place.as_str(), 0o400)).chain([(CREDENTIALS, 0o700)]);
    for (place, mode) in modes {
        let found = fs::symlink_metadata(place).map_err(StageFailure::at(STAGE))?;
        if (found.mode() & 0o7777, found.uid()) != (mode, user) {
            return Err(StageFailure::new(STAGE, format!("`{place}` is not for the tool alone")));
        }
    }
    Ok(())
}

fn expect_access(path: &str, writable: bool) -> Result<(), StageFailure> {
    let stat = rustix::fs::statvfs(path).map_err(StageFailure::at(STAGE))?;
    if stat.f_flag.contains(StatVfsMountFlags::RDONLY) == writable {
        let should = if writable { "writable" } else { "read-only" };
        return Err(StageFailure::new(STAGE, format!("`{path}` is not {should}")));
    }
    Ok(())
}
