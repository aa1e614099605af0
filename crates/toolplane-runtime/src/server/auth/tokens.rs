//! Bearer tokens of a file: each is the whole cluster's, tenant `default` with every role.

use std::path::Path;

use super::credential_file::CredentialFileError;
use crate::keys::digest;
use crate::server::error::{self, ServerError};

/// The tokens a server takes, kept only as SHA-256.
pub(super) struct TokenSet(Vec<[u8; 32]>);

impl TokenSet {
    /// Tokens from text: one per line, empty lines and lines starting with `#` skipped. At least one is needed.
    pub(super) fn from_text(text: &str) -> Result<Self, CredentialFileError> {
        let tokens: Vec<[u8; 32]> = tokens_of(text).map(|token| digest(token.as_bytes())).collect();
        if tokens.is_empty() { Err(CredentialFileError::NoToken) } else { Ok(Self(tokens)) }
    }

    /// Compares with every token in full: neither which one nor how much of it was right shows in the time taken.
    pub(super) fn holds(&self, given: &[u8; 32]) -> bool {
        self.0.iter().fold(false, |found, known| found | same(known, given))
    }
}

/// Whether two digests are the same, in a time that does not tell where they differ.
pub(super) fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let difference = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(difference) == 0
}

/// The first token of a file, to be shown to peers.
pub(crate) fn first_token(key: &'static str, file: &Path) -> Result<String, ServerError> {
    let refuse =
        |error: CredentialFileError| ServerError::File { key, file: file.to_owned(), reason: error.to_string() };
    let text = String::from_utf8(error::read(key, file)?).map_err(|_| refuse(CredentialFileError::NotText))?;
    tokens_of(&text).next().map(str::to_owned).ok_or_else(|| refuse(CredentialFileError::NoToken))
}

fn tokens_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}
