//! Bearer tokens: who may call.

use std::path::Path;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};

use super::error::{self, ServerError};
use crate::status::ApiError;

/// The tokens a server takes, kept only as SHA-256. Cheap to clone.
#[derive(Clone)]
pub struct TokenSet(Arc<[[u8; 32]]>);

impl TokenSet {
    /// Tokens from text: one per line, empty lines and lines starting with `#` skipped.
    pub fn from_text(text: &str) -> Self {
        Self(tokens_of(text).map(digest).collect())
    }

    /// Tokens from the file a key of the configuration names; at least one is needed.
    pub fn read(key: &'static str, file: &Path) -> Result<Self, ServerError> {
        let set = Self::from_text(&text_of(key, file)?);
        if set.0.is_empty() {
            return Err(refuse(key, file, "it holds no token"));
        }
        Ok(set)
    }

    /// Whether a request carries one of the tokens.
    pub(super) fn check(&self, headers: &http::HeaderMap) -> Result<(), ApiError> {
        let Some(value) = headers.get(AUTHORIZATION) else {
            return Err(ApiError::Unauthenticated {
                reason: "TOKEN_MISSING",
                message: "a bearer token is required in `authorization`".to_owned(),
            });
        };
        let bytes = value.as_bytes();
        let token = match bytes.split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => token,
            _ => bytes,
        };
        if self.holds(token) {
            return Ok(());
        }
        Err(ApiError::Unauthenticated {
            reason: "TOKEN_UNKNOWN",
            message: "the bearer token is not known here".to_owned(),
        })
    }

    /// Compares with every token in full: neither which one nor how much of it was right shows in the time taken.
    fn holds(&self, token: &[u8]) -> bool {
        let given: [u8; 32] = Sha256::digest(token).into();
        let mut found = false;
        for known in self.0.iter() {
            let difference = known.iter().zip(given).fold(0, |all, (a, b)| all | (a ^ b));
            found |= std::hint::black_box(difference) == 0;
        }
        found
    }
}

impl std::fmt::Debug for TokenSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenSet({})", self.0.len())
    }
}

/// The first token of a file, to be shown to peers.
pub(crate) fn first_token(key: &'static str, file: &Path) -> Result<String, ServerError> {
    let text = text_of(key, file)?;
    tokens_of(&text).next().map(str::to_owned).ok_or_else(|| refuse(key, file, "it holds no token"))
}

fn text_of(key: &'static str, file: &Path) -> Result<String, ServerError> {
    String::from_utf8(error::read(key, file)?).map_err(|_| refuse(key, file, "it is not UTF-8 text"))
}

fn tokens_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn refuse(key: &'static str, file: &Path, reason: &str) -> ServerError {
    ServerError::File { key, file: file.to_owned(), reason: reason.to_owned() }
}
