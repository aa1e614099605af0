//! Page sizes and page tokens: opaque, url-safe, bound to the list they came from.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolplane_records::payload::Digest;

use crate::error::CallError;

const DEFAULT: usize = 50;
const MAX: usize = 1_000;

/// The page size asked for: 0 means the default, too large is cut, negative is refused.
pub(crate) fn size(asked: i32) -> Result<usize, CallError> {
    match usize::try_from(asked) {
        Ok(0) => Ok(DEFAULT),
        Ok(size) => Ok(size.min(MAX)),
        Err(_) => Err(CallError::invalid("page_size", "must not be negative")),
    }
}

#[derive(Serialize, Deserialize)]
struct Token<P> {
    list: String,
    place: P,
}

/// A token for `place` in the list that `list` describes (tenant and filters).
pub(crate) fn token<P: Serialize>(list: &str, place: P) -> String {
    let token = Token { list: Digest::of(list.as_bytes()).hex()[..16].to_owned(), place };
    hex::encode(serde_json::to_vec(&token).unwrap_or_default())
}

/// The place a token names, if it belongs to the list that `list` describes.
pub(crate) fn place<P: DeserializeOwned>(list: &str, token: &str) -> Result<Option<P>, CallError> {
    if token.is_empty() {
        return Ok(None);
    }
    let refused = || CallError::invalid("page_token", "must be the `next_page_token` of an answer to the same list");
    let bytes = hex::decode(token).map_err(|_| refused())?;
    let token: Token<P> = serde_json::from_slice(&bytes).map_err(|_| refused())?;
    if token.list != Digest::of(list.as_bytes()).hex()[..16] {
        return Err(refused());
    }
    Ok(Some(token.place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_its_place_and_only_in_its_list() {
        let text = token("a", (7_u64, "x".to_owned()));
        assert_eq!(place::<(u64, String)>("a", &text).unwrap(), Some((7, "x".to_owned())));
        assert!(place::<(u64, String)>("b", &text).is_err());
        assert!(place::<(u64, String)>("a", "zz").is_err());
        assert_eq!(place::<(u64, String)>("a", "").unwrap(), None);
    }
}
