//! Which operation ids were applied lately.

use std::collections::VecDeque;

use sha2::{Digest as _, Sha256};
use toolplane_store::commit::OPERATION_MEMORY_MILLIS;

use crate::hash::HashSet;

/// The first half of an operation id's SHA-256: ids may be long, and many are remembered.
pub(crate) type Digest = [u8; 16];

/// The digest of an operation id.
pub(crate) fn digest(operation_id: &str) -> Digest {
    let full = Sha256::digest(operation_id.as_bytes());
    let mut half = Digest::default();
    half.copy_from_slice(&full[..16]);
    half
}

/// The operations of the last [`OPERATION_MEMORY_MILLIS`], forgotten second by second.
#[derive(Debug, Default)]
pub(crate) struct OperationMemory {
    known: HashSet<Digest>,
    // Ascending by second.
    seconds: VecDeque<(i64, Vec<Digest>)>,
}

impl OperationMemory {
    pub(crate) fn contains(&self, digest: &Digest) -> bool {
        self.known.contains(digest)
    }

    /// Remembers `digest`, applied at `clock` milliseconds. Clocks never go back, so neither do calls.
    pub(crate) fn insert(&mut self, digest: Digest, clock: i64) {
        if !self.known.insert(digest) {
            return;
        }
        let second = clock.div_euclid(1000);
        match self.seconds.back_mut() {
            Some((last, digests)) if *last >= second => digests.push(digest),
            _ => self.seconds.push_back((second, vec![digest])),
        }
    }

    /// Forgets what need not be remembered at `clock` milliseconds.
    pub(crate) fn forget(&mut self, clock: i64) {
        while let Some((second, _)) = self.seconds.front()
            && expired(*second, clock)
        {
            for digest in self.seconds.pop_front().into_iter().flat_map(|(_, digests)| digests) {
                self.known.remove(&digest);
            }
        }
    }
}

/// True when everything of `second` lies further back than operations are remembered.
pub(crate) fn expired(second: i64, clock: i64) -> bool {
    clock.saturating_sub(second.saturating_add(1).saturating_mul(1000)) > OPERATION_MEMORY_MILLIS
}

#[cfg(test)]
mod tests {
    use super::{OPERATION_MEMORY_MILLIS, OperationMemory, digest};

    #[test]
    fn operations_are_kept_for_their_time_and_then_forgotten() {
        let mut memory = OperationMemory::default();
        let (first, second) = (digest("first"), digest("second"));
        memory.insert(first, 10_500);
        memory.insert(second, 40_000);
        for (clock, known) in [
            (10_500 + OPERATION_MEMORY_MILLIS, (true, true)),
            (12_000 + OPERATION_MEMORY_MILLIS, (false, true)),
            (42_000 + OPERATION_MEMORY_MILLIS, (false, false)),
        ] {
            memory.forget(clock);
            assert_eq!((memory.contains(&first), memory.contains(&second)), known, "at {clock}");
        }
        assert!(memory.seconds.is_empty());
    }
}
