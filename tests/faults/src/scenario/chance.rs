//! Chance that can be repeated: the same seed makes the same choices.

/// A small generator of numbers (xorshift).
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// Choices of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`, which is at least 1.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let place = usize::try_from(self.below(of.len() as u64)).unwrap_or_default();
        of.get(place)
    }
}
