//! What can go wrong around a test.

use std::path::PathBuf;

/// Why a test cannot have what it needs. The text says what to do where something can be done.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A file or folder cannot be used.
    #[error("cannot use `{path}`: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program cannot be started or ended badly.
    #[error("{what}: {said}")]
    Program {
        /// What was to be done.
        what: String,
        /// What came out of it.
        said: String,
    },
    /// Something did not happen in time.
    #[error("{what} did not happen within {millis} ms{said}")]
    TooLate {
        /// What was waited for.
        what: String,
        /// How long.
        millis: u128,
        /// What is known, e.g. the end of a log.
        said: String,
    },
    /// A call failed.
    #[error("{0}")]
    Rpc(Box<tonic::Status>),
    /// A connection cannot be made.
    #[error("cannot connect: {0}")]
    Connect(#[from] tonic::transport::Error),
    /// Something that must be there is not; the text says what to do.
    #[error("{0}")]
    Missing(String),
}

impl From<tonic::Status> for Problem {
    fn from(status: tonic::Status) -> Self {
        Self::Rpc(Box::new(status))
    }
}

impl Problem {
    /// A file problem, as `map_err` wants it.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
