//! The Redis programs: found on the machine, or installed from the system's packages.

use std::fs::File;
use std::process::{Command, Stdio};

use rustix::fs::{FlockOperation, flock};

use crate::problem::Problem;

/// The server's program.
pub(super) const SERVER: &str = "redis-server";
/// The command line client, which comes with it.
pub(super) const CLIENT: &str = "redis-cli";

/// Makes sure of both programs. Of tests that start side by side one installs and the others wait for it.
pub(super) fn make_sure() -> Result<(), Problem> {
    if works(SERVER) && works(CLIENT) {
        return Ok(());
    }
    let path = std::env::temp_dir().join("toolplane-install-redis.lock");
    let lock = File::create(&path).map_err(Problem::file(&path))?;
    // Held until `lock` is closed at the end of this function.
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| Problem::file(&path)(error.into()))?;
    if works(SERVER) && works(CLIENT) {
        return Ok(());
    }
    let installed =
        apt(&["update", "-qq"]) && apt(&["install", "-y", "-qq", "--no-install-recommends", "redis-server"]);
    match installed && works(SERVER) && works(CLIENT) {
        true => Ok(()),
        false => Err(Problem::Missing(
            "`redis-server` is missing and could not be installed: install Redis 7 or newer with the system's package manager"
                .to_owned(),
        )),
    }
}

fn works(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|done| done.success())
}

fn apt(args: &[&str]) -> bool {
    let mut command = Command::new("apt-get");
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
    command.status().is_ok_and(|done| done.success())
}
