//! Bytes that nobody prints, and that are overwritten when they are dropped.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// Fewest bytes of a secret. A shorter one would be found in texts it has nothing to do with, so it could not be masked; it is
/// refused where it is read.
pub const MIN_SECRET_BYTES: usize = 8;
/// Most bytes of a secret. What masks it grows with it.
pub const MAX_SECRET_BYTES: usize = 16 * 1024;

/// A secret. It is never printed, compared or written: only [`Secret::reveal`] gives it away, so every place that does can be found.
///
/// Clones share the bytes; with the last of them they are overwritten. Copies that others make (an HTTP client, the environment
/// of a process) are not.
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<Vec<u8>>>);

impl Secret {
    /// Takes the bytes over.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Arc::new(Zeroizing::new(bytes.into())))
    }

    /// The bytes. Whoever calls this hands them to what needs them, and to nothing else.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }

    /// The same as text, if it is text.
    pub fn reveal_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether somebody else has a clone of it.
    pub(crate) fn is_held_elsewhere(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Whether both are the same bytes.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.as_slice() == other.0.as_slice()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::new(*b"hunter22hunter22");
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "Secret Some(\n    Secret,\n)");
        assert_eq!(secret.reveal(), b"hunter22hunter22");
    }
}
