//! What was cleaned lately, by its digest: what a running tool says once more, or its worker reports again, is not looked through again.

use std::collections::VecDeque;

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use toolplane_records::payload::Digest;
use toolplane_records::result::Cleaned;

/// Most things that are remembered.
const MOST: usize = 64;
/// Largest thing that is remembered, in bytes.
const LARGEST: usize = 64 * 1024;

/// Things of one kind as they are after cleaning. Of what was taken out only a digest is here.
#[derive(Debug)]
pub(super) struct Lately<T>(Mutex<VecDeque<(Digest, T, Vec<Cleaned>)>>);

impl<T> Default for Lately<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Lately<T> {
    /// Cleans `value`, which is `bytes` cleaned in the way called `way`, with `clean`, unless that was done lately. What was found in it.
    pub(super) fn once(
        &self,
        way: &str,
        bytes: &[u8],
        value: &mut T,
        clean: impl FnOnce(&mut T) -> Vec<Cleaned>,
    ) -> Vec<Cleaned> {
        if bytes.len() > LARGEST {
            return clean(value);
        }
        let digest = Digest::from_bytes(
            Sha256::new()
                .chain_update(way.len().to_le_bytes())
                .chain_update(way.as_bytes())
                .chain_update(bytes)
                .finalize()
                .into(),
        );
        if let Some((_, known, found)) = self.0.lock().iter().find(|(known, ..)| *known == digest) {
            value.clone_from(known);
            return found.clone();
        }
        let found = clean(value);
        let mut all = self.0.lock();
        all.truncate(MOST - 1);
        all.push_front((digest, value.clone(), found.clone()));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_cleaned_once_and_nothing_is_remembered_for_ever() {
        let (lately, mut cleaned) = (Lately::default(), 0);
        let mut clean = |way: &str, text: &str| {
            let mut value = text.to_owned();
            lately.once(way, text.as_bytes(), &mut value, |value| {
                cleaned += 1;
                value.push('!');
                Vec::new()
            });
            value
        };
        assert_eq!([clean("0", "a"), clean("0", "a"), clean("1", "a"), clean("0", "b")].concat(), "a!a!a!b!");
        for number in 0..MOST {
            clean("0", &number.to_string());
        }
        clean("0", "a");
        let large = "x".repeat(LARGEST + 1);
        assert!(clean("0", &large).ends_with('!') && clean("0", &large).ends_with('!'));
        assert_eq!(cleaned, 3 + MOST + 1 + 2);
    }
}
