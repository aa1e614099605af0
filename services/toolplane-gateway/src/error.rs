//! Why the role does not start.

use std::path::{Path, PathBuf};

use toolplane_records::codes;
use toolplane_runtime::process::RoleError;
use toolplane_runtime::server::ServerError;

/// The role could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The listener cannot be made.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// There is no key that could seal what clients of MCP keep.
    #[error("{setting}: cannot use `{}`: {reason}", file.display())]
    Key {
        /// The setting that names the file, or the folder it is in.
        setting: &'static str,
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl GatewayError {
    pub(crate) fn key(setting: &'static str, file: &Path, reason: String) -> Self {
        Self::Key { setting, file: file.to_owned(), reason }
    }

    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Server(error) => error.code(),
            Self::Key { .. } => codes::GATEWAY_KEY.as_str(),
        }
    }
}

impl From<GatewayError> for RoleError {
    fn from(error: GatewayError) -> Self {
        Self::new(error.code(), error)
    }
}
