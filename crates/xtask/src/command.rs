//! Running other programs from the root of the repository.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Why a task failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    /// The program could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program and its arguments.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The program ran and failed; its own output says why.
    #[error("`{program}` failed: {status}")]
    Failed {
        /// The program and its arguments.
        program: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A file cannot be read or written.
    #[error("cannot use `{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Rules of the project are broken, one line each.
    #[error("{} rules of the house are broken:\n{}", .0.len(), .0.join("\n"))]
    Untidy(Vec<String>),
    /// What a program said is not what was expected.
    #[error("{0}")]
    Answer(String),
}

impl TaskError {
    /// A file problem, as `map_err` wants it.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

/// The folder builds go to.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A cargo command, run with the cargo that runs this task.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command with its output shown and fails when it fails.
pub(crate) fn run(mut command: Command) -> Result<(), TaskError> {
    let program = shown(&command);
    let status = command.status().map_err(|source| TaskError::Start { program: program.clone(), source })?;
    if status.success() { Ok(()) } else { Err(TaskError::Failed { program, status }) }
}

/// Runs a command, shows its errors and returns what it wrote to standard output.
pub(crate) fn capture(mut command: Command) -> Result<Vec<u8>, TaskError> {
    let program = shown(&command);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| TaskError::Start { program: program.clone(), source })?;
    if output.status.success() { Ok(output.stdout) } else { Err(TaskError::Failed { program, status: output.status }) }
}

/// Whether a program can be run at all and ends well; its output is not shown.
pub(crate) fn works(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).current_dir(root()).output().is_ok_and(|output| output.status.success())
}

/// A command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
