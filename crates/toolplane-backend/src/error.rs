//! Why a role's store cannot be used.

use std::path::PathBuf;
use toolplane_records::codes;

use toolplane_runtime::process::RoleError;
use toolplane_store_redis::OpenError;

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The embedded store cannot be opened.
    #[error("`{path}`: {reason}")]
    Embedded {
        /// Its directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A store was made here before and is gone.
    #[error("`{path}` has no store any more: restore a backup, or remove `{note}` to begin without everything it held")]
    Missing {
        /// Its directory.
        path: PathBuf,
        /// The file that says it was made.
        note: PathBuf,
    },
    /// Redis cannot be used.
    #[error(transparent)]
    Redis(#[from] OpenError),
    /// The password cannot be read.
    #[error("the password of Redis cannot be read from {place}: {reason}")]
    Password {
        /// The file or variable.
        place: String,
        /// Why.
        reason: String,
    },
    /// Redis may lose what it has answered.
    #[error(
        "Redis may lose answered calls in a crash: set `appendonly yes` and `appendfsync always`, or accept that with \
         `store.redis.accept_buffered = true`"
    )]
    Buffered,
}

impl BackendError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Embedded { .. } => codes::STORE_EMBEDDED.as_str(),
            Self::Missing { .. } => codes::STORE_MISSING.as_str(),
            Self::Redis(error) => error.code(),
            Self::Password { .. } => codes::STORE_PASSWORD.as_str(),
            Self::Buffered => codes::STORE_BUFFERED.as_str(),
        }
    }
}

impl From<BackendError> for RoleError {
    fn from(error: BackendError) -> Self {
        Self::new(error.code(), error)
    }
}
