//! Why a worker cannot start. Once it runs it has no errors of its own: everything is a report or a log line.

use std::path::PathBuf;

use toolplane_records::codes;
use toolplane_runtime::process::RoleError;

/// A worker that cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutorError {
    /// Another worker process uses the same data directory.
    #[error("another executor holds `{}`: give each its own `server.data_dir`", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A file of the worker cannot be made, read or locked.
    #[error("cannot use `{}`: {source}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The kept name of the worker is damaged.
    #[error("`{}` holds `{text}`, which {rule}: correct it, or remove the file to get a new name", path.display())]
    WorkerId {
        /// The file.
        path: PathBuf,
        /// What it holds, cut.
        text: String,
        /// The rule it breaks.
        rule: toolplane_records::ids::InvalidId,
    },
    /// The configuration asks for something this worker does not have.
    #[error("`{key}` {rule}")]
    Option {
        /// The key.
        key: &'static str,
        /// The rule it breaks.
        rule: String,
    },
    /// The thread of the session cannot be started.
    #[error("cannot start a thread or task of the worker: {0}")]
    Session(std::io::Error),
}

impl ExecutorError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Locked { .. } => codes::EXECUTOR_LOCKED.as_str(),
            Self::File { .. } => codes::EXECUTOR_FILE.as_str(),
            Self::WorkerId { .. } => codes::EXECUTOR_WORKER_ID.as_str(),
            Self::Option { .. } => codes::EXECUTOR_OPTION.as_str(),
            Self::Session(_) => codes::EXECUTOR_SESSION.as_str(),
        }
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

impl From<ExecutorError> for RoleError {
    fn from(error: ExecutorError) -> Self {
        Self::new(error.code(), error)
    }
}
