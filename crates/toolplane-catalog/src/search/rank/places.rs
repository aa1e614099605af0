//! Sets of tools, one bit each.

/// Some of the tools of an index, by place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::search) struct PlaceSet {
    bits: Vec<u64>,
}

impl PlaceSet {
    pub(in crate::search) fn empty(places: usize) -> Self {
        Self { bits: vec![0; places.div_ceil(64)] }
    }

    pub(in crate::search) fn of(places: usize, some: impl Iterator<Item = u32>) -> Self {
        let mut set = Self::empty(places);
        set.extend(some);
        set
    }

    pub(in crate::search) fn extend(&mut self, some: impl Iterator<Item = u32>) {
        for place in some {
            if let Some(word) = self.bits.get_mut(place as usize / 64) {
                *word |= 1 << (place % 64);
            }
        }
    }

    pub(in crate::search) fn has(&self, place: u32) -> bool {
        self.bits.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Keeps only those that are in `other` too.
    pub(in crate::search) fn keep(&mut self, other: &Self) {
        for (word, other) in self.bits.iter_mut().zip(&other.bits) {
            *word &= other;
        }
    }

    pub(in crate::search) fn leave_out(&mut self, other: &Self) {
        for (word, other) in self.bits.iter_mut().zip(&other.bits) {
            *word &= !other;
        }
    }

    /// The tools in order of places.
    pub(in crate::search) fn places(&self) -> impl Iterator<Item = u32> {
        (0_u32..).step_by(64).zip(&self.bits).flat_map(|(first, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(first + bit)
            })
        })
    }
}
