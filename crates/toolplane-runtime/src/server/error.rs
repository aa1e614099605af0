//! Why a server could not be started or ended with an error.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use toolplane_records::codes;

/// A server could not be started, or its transport failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The port cannot be taken.
    #[error("cannot listen on `{address}`: {reason}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        reason: String,
    },
    /// The listener can be reached from other machines and does not know or hide its callers.
    #[error(
        "`{address}` can be reached from other machines: TLS and a way to know callers are required, or listen on loopback"
    )]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
    /// A file of the configuration cannot be used.
    #[error("`{key}`: cannot use `{}`: {reason}", file.display())]
    File {
        /// Dotted path of the key.
        key: &'static str,
        /// The file.
        file: PathBuf,
        /// The rule it broke, or what the system said.
        reason: String,
    },
    /// The descriptors of the services are broken.
    #[error("service descriptors cannot be read: {0}")]
    Descriptors(String),
    /// The transport failed or refused its settings.
    #[error("transport failed: {0}")]
    Transport(String),
}

impl ServerError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Bind { .. } => codes::SERVER_BIND.as_str(),
            Self::Exposed { .. } => codes::SERVER_EXPOSED.as_str(),
            Self::File { .. } => codes::SERVER_FILE.as_str(),
            Self::Descriptors(_) => codes::SERVER_DESCRIPTORS.as_str(),
            Self::Transport(_) => codes::SERVER_TRANSPORT.as_str(),
        }
    }

    pub(crate) fn transport(error: impl std::error::Error) -> Self {
        // The transport's own text is only a headline; the reason is at the end of the chain.
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        Self::Transport(text)
    }
}

/// Reads a file named by the configuration.
pub(crate) fn read(key: &'static str, file: &Path) -> Result<Vec<u8>, ServerError> {
    std::fs::read(file).map_err(|source| ServerError::File { key, file: file.to_owned(), reason: source.to_string() })
}
