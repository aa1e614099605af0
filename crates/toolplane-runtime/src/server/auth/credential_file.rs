//! What is wrong with a file of credentials. Never with what is in the file.

use super::jwt::KeySetError;
use crate::keys::KeyError;

/// Why what a file of credentials says cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum CredentialFileError {
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("it holds no token")]
    NoToken,
    #[error(transparent)]
    ApiKeys(#[from] KeyError),
    #[error(transparent)]
    KeySet(#[from] KeySetError),
}
