//! A secret that a program writes.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use crate::config::CommandConfig;
use crate::error::SourceFault;
use crate::secret::{MAX_SECRET_BYTES, Secret};

/// Runs the program and takes what it writes to standard output. It has no environment, no input, no shell, and nobody hears what it
/// says on standard error. When its time is up, or nobody waits any more, it ends with all it started.
pub(super) async fn run(config: &CommandConfig) -> Result<Secret, SourceFault> {
    let deadline = Duration::from_millis(config.timeout_ms);
    tokio::time::timeout(deadline, output(config)).await.map_err(|_| SourceFault::CommandLate)?
}

async fn output(config: &CommandConfig) -> Result<Secret, SourceFault> {
    let (program, arguments) = config.argv.split_first().ok_or(SourceFault::NotStarted)?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir("/").process_group(0).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|_| SourceFault::NotStarted)?;
    let mut group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let mut bytes = Vec::with_capacity(MAX_SECRET_BYTES + 2);
    if let Some(output) = child.stdout.take() {
        let most = u64::try_from(MAX_SECRET_BYTES + 1).unwrap_or(u64::MAX);
        output.take(most).read_to_end(&mut bytes).await.map_err(|_| SourceFault::Io)?;
    }
    let secret = Secret::new(bytes);
    if secret.len() > MAX_SECRET_BYTES {
        return Err(SourceFault::TooLong);
    }
    let status = child.wait().await.map_err(|_| SourceFault::Io)?;
    // From here on its number may be another one's.
    group.0 = None;
    match status.code() {
        Some(0) => Ok(secret),
        Some(code) => Err(SourceFault::ExitCode(code)),
        None => Err(SourceFault::Signal),
    }
}

/// A program and all it started, ended when this is dropped.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
