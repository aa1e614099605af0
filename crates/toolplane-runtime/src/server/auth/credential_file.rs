//! What is wrong with a file of credentials. Never with what is in the file.

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

/// Most keys of one set.
pub(super) const MAX_KEYS: usize = 100;

/// Why a text is no usable key set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeySetError {
    #[error("it says something twice in one object")]
    SaidTwice,
    #[error("it is not a JWK set")]
    NotAKeySet,
    #[error("it holds more than {MAX_KEYS} keys")]
    TooManyKeys,
    #[error("it holds two keys with the same `kid`")]
    SameId,
    #[error("it holds no key that checks signatures")]
    NoKey,
}
