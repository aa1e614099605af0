//! How far two names are apart, for names that may have been meant.

/// How many characters have to be inserted, removed, replaced or swapped with their neighbour to make `b` of `a`; `usize::MAX` where
/// the lengths alone tell that it is more than `allowed`.
pub fn near(a: &str, b: &str, allowed: usize) -> usize {
    if a.len().abs_diff(b.len()) > allowed { usize::MAX } else { strsim::osa_distance(a, b) }
}
