//! Why the role does not start.

use toolplane_runtime::process::RoleError;
use toolplane_runtime::server::ServerError;

/// The role could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The listener cannot be made.
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl GatewayError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Server(error) => error.code(),
        }
    }
}

impl From<GatewayError> for RoleError {
    fn from(error: GatewayError) -> Self {
        Self::new(error.code(), error)
    }
}
