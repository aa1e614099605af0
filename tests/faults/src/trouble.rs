//! What can keep a fault test from being run at all; what the cluster does wrong is a violation, not a trouble.

use std::path::{Path, PathBuf};

use toolplane_testkit::Problem;

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// A file cannot be used.
    #[error("cannot use `{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A process or connection could not be had.
    #[error(transparent)]
    Kit(#[from] Problem),
    /// A call failed that must not.
    #[error("{0}")]
    Rpc(Box<tonic::Status>),
    /// Anything else, in words.
    #[error("{0}")]
    Said(String),
}

impl From<tonic::Status> for Trouble {
    fn from(status: tonic::Status) -> Self {
        Self::Rpc(Box::new(status))
    }
}

impl Trouble {
    /// A file trouble, as `map_err` wants it.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
