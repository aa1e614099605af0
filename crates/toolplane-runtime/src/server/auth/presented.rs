//! What a request shows of its sender.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use toolplane_records::codes;

use crate::status::ApiError;

/// Metadata: an API key by itself.
const API_KEY: &str = "x-api-key";

/// The credentials of one request. Never printed.
pub(super) struct Presented<'a> {
    /// Of `authorization`, with or without `Bearer`.
    pub(super) bearer: Option<&'a [u8]>,
    /// Of `x-api-key`.
    pub(super) key: Option<&'a [u8]>,
}

impl<'a> Presented<'a> {
    /// Reads the metadata of a request. The same header twice is refused: who sent which would be a guess.
    pub(super) fn of(headers: &'a HeaderMap) -> Result<Self, ApiError> {
        let one = |name: &str| {
            let mut values = headers.get_all(name).iter();
            match (values.next(), values.next()) {
                (Some(_), Some(_)) => Err(ApiError::Unauthenticated {
                    reason: codes::CREDENTIAL_AMBIGUOUS,
                    message: format!("`{name}` is there more than once"),
                }),
                (value, _) => Ok(value.map(http::HeaderValue::as_bytes)),
            }
        };
        let bearer = one(AUTHORIZATION.as_str())?.map(|bytes| match bytes.split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => token.trim_ascii(),
            _ => bytes,
        });
        Ok(Self { bearer, key: one(API_KEY)? })
    }
}
