//! Page sizes and page tokens of list calls.
//!
//! A token says where a list goes on. It is bound to the tenant and the filter it was given for and grants nothing: the
//! list is filtered again with the caller's own tenant.

use std::fmt;

use toolplane_records::payload::Digest;

use crate::status::ApiError;

/// Rows of a page when the caller leaves the choice open.
pub const DEFAULT_SIZE: usize = 50;
/// Most rows of a page.
pub const MAX_SIZE: usize = 1000;

/// An answer that lists things takes no further one once it is this large, in bytes. With one thing more it stays below
/// what gRPC clients take by default (4 MiB), as long as no single one is larger than the rest.
pub const FULL_BYTES: usize = 1024 * 1024;

const SEAL_LEN: usize = 8;

/// Why a page was refused; names the field and the rule it broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPage {
    /// The field.
    pub field: &'static str,
    /// The rule it broke, as a phrase that follows the field's name.
    pub rule: &'static str,
}

impl From<BadPage> for ApiError {
    fn from(bad: BadPage) -> Self {
        Self::invalid_argument(bad.field, bad.rule)
    }
}

/// Rows to return for a requested page size: 0 takes [`DEFAULT_SIZE`], more than [`MAX_SIZE`] is cut to that. A
/// negative size is refused with [`BadPage`].
pub fn size(requested: i32) -> Result<usize, BadPage> {
    match usize::try_from(requested) {
        Err(_) => Err(BadPage { field: "page_size", rule: "must not be negative" }),
        Ok(0) => Ok(DEFAULT_SIZE),
        Ok(size) => Ok(size.min(MAX_SIZE)),
    }
}

/// The first of `items` that fill a page: at most `size` of them, and none once those taken hold [`FULL_BYTES`] by
/// `bytes_of`. A page has one item at least, if there is one.
pub fn fill<T>(items: impl IntoIterator<Item = T>, size: usize, bytes_of: impl Fn(&T) -> usize) -> Vec<T> {
    let mut bytes = 0;
    let fits = |item: &T| {
        let fits = bytes < FULL_BYTES;
        bytes += bytes_of(item);
        fits
    };
    items.into_iter().take(size).take_while(fits).collect()
}

/// All of `items`, in order, in parts of at most [`FULL_BYTES`] by `bytes_of`; an item that is larger is a part of its own.
pub fn split<T>(items: impl IntoIterator<Item = T>, bytes_of: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let (mut parts, mut full): (Vec<Vec<T>>, usize) = (Vec::new(), 0);
    for item in items {
        let bytes = bytes_of(&item);
        full += bytes;
        match parts.last_mut().filter(|_| full <= FULL_BYTES) {
            Some(part) => part.push(item),
            None => {
                parts.push(vec![item]);
                full = bytes;
            }
        }
    }
    parts
}

/// The token for going on after `position` in the list that `scope` names (call, tenant and filter).
pub fn token(scope: &impl fmt::Debug, position: &str) -> String {
    let mut bytes = seal(scope, position).to_vec();
    bytes.extend_from_slice(position.as_bytes());
    hex::encode(bytes)
}

/// The position in a token; nothing when the token is empty: the first page. A text that [`token`] did not make for
/// this `scope` is refused with [`BadPage`].
pub fn position(scope: &impl fmt::Debug, token: &str) -> Result<Option<String>, BadPage> {
    if token.is_empty() {
        return Ok(None);
    }
    let bad = BadPage { field: "page_token", rule: "is not a token of this list; start again without one" };
    let bytes = hex::decode(token).map_err(|_| bad.clone())?;
    let (sealed, position) = bytes.split_at_checked(SEAL_LEN).ok_or(bad.clone())?;
    let position = std::str::from_utf8(position).map_err(|_| bad.clone())?;
    if sealed == seal(scope, position) { Ok(Some(position.to_owned())) } else { Err(bad) }
}

fn seal(scope: &impl fmt::Debug, position: &str) -> [u8; SEAL_LEN] {
    let digest = Digest::of(format!("{scope:?} {position}").as_bytes());
    let mut sealed = [0; SEAL_LEN];
    sealed.copy_from_slice(&digest.as_bytes()[..SEAL_LEN]);
    sealed
}

#[cfg(test)]
mod tests {
    use super::{BadPage, FULL_BYTES, MAX_SIZE, position, size, split, token};

    #[test]
    fn what_is_small_goes_together_and_what_is_large_alone() {
        let parts = split([10, FULL_BYTES + 1, 10, FULL_BYTES - 10, 1], |bytes| *bytes);
        assert_eq!(parts, [vec![10], vec![FULL_BYTES + 1], vec![10, FULL_BYTES - 10], vec![1]]);
        assert!(split([], |bytes: &usize| *bytes).is_empty());
    }

    #[test]
    fn a_token_leads_back_to_its_position_in_its_own_list_only() {
        let given = token(&("ListTools", "files"), "17 surface_1");
        assert_eq!(position(&("ListTools", "files"), &given), Ok(Some("17 surface_1".to_owned())));
        assert!(position(&("ListTools", "shell"), &given).is_err());
        assert!(position(&("ListSurfaces", "files"), &given).is_err());
    }

    #[test]
    fn forged_tokens_are_refused() {
        for forged in ["x", "zz", "00", "00000000000000003137"] {
            let BadPage { field, .. } = position(&"list", forged).unwrap_err();
            assert_eq!(field, "page_token", "{forged}");
        }
    }

    #[test]
    fn a_page_ends_by_count_or_by_bytes_and_is_never_empty() {
        let sizes = |items: &[usize], size| super::fill(items.iter().copied(), size, |item| *item).len();
        assert_eq!((sizes(&[1; 9], 5), sizes(&[1; 3], 5), sizes(&[], 5)), (5, 3, 0));
        assert_eq!(sizes(&[super::FULL_BYTES * 9, 1], 5), 1);
        assert_eq!(sizes(&[super::FULL_BYTES - 1, 1, 1], 5), 2);
    }

    #[test]
    fn sizes_are_bounded() {
        assert_eq!(size(7), Ok(7));
        assert_eq!(size(i32::MAX), Ok(MAX_SIZE));
        assert!(size(-1).is_err());
        assert!(size(0).is_ok_and(|size| size > 0));
    }
}
