//! One order out of several: reciprocal ranks.
//!
//! Scores of words and of meaning have no common measure; places in an order have. Sums are of whole numbers, so the same orders
//! give the same bytes.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// What the first place of an order of weight 100 is worth.
pub const FUSED_ONE: u32 = 65_536;

/// How fast places lose their worth: the first is worth twice the place that is so far behind it.
const DEPTH: u64 = 60;

/// What each order counts, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// The order by words.
    pub words: u32,
    /// The order by meaning.
    pub meaning: u32,
}

impl Default for Weights {
    /// Both the same.
    fn default() -> Self {
        Self { words: 100, meaning: 100 }
    }
}

/// One in the order that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fused<K> {
    /// Which.
    pub key: K,
    /// What its places are worth together.
    pub score: u32,
}

/// Everything that is in any of the orders, each with what it counts in percent, by its places there; equal ones in order of their keys. A key
/// that is twice in one order counts where it is first.
pub fn fuse<K: Clone + Ord + Hash>(orders: &[(&[K], u32)]) -> Vec<Fused<K>> {
    let mut scores: HashMap<&K, u32> = HashMap::with_capacity(orders.iter().map(|(keys, _)| keys.len()).sum());
    for (keys, percent) in orders {
        let mut seen = HashSet::with_capacity(keys.len());
        for (place, key) in (1..).zip(*keys) {
            if seen.insert(key) {
                let score = scores.entry(key).or_default();
                *score = score.saturating_add(worth(place, *percent));
            }
        }
    }
    let mut fused: Vec<Fused<K>> = scores.into_iter().map(|(key, score)| Fused { key: key.clone(), score }).collect();
    fused.sort_unstable_by(|a, b| b.score.cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    fused
}

fn worth(place: u64, percent: u32) -> u32 {
    let first = u64::from(FUSED_ONE) * u64::from(percent) / 100;
    u32::try_from(first * (DEPTH + 1) / (DEPTH + place)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(fused: &[Fused<u32>]) -> Vec<u32> {
        fused.iter().map(|one| one.key).collect()
    }

    #[test]
    fn what_both_orders_have_comes_before_what_one_has() {
        let fused = fuse(&[(&[1, 2, 3], 100), (&[3, 4, 3], 100)]);
        assert_eq!(keys(&fused), [3, 1, 2, 4]);
        assert_eq!(fuse(&[(&[7], 100), (&[], 100)])[0].score, FUSED_ONE);
    }

    #[test]
    fn an_order_without_weight_changes_nothing_in_front() {
        let fused = fuse(&[(&[5, 1], 100), (&[9, 1], 0)]);
        assert_eq!(keys(&fused), [5, 1, 9]);
        assert!(fuse::<u32>(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn nobody_falls_behind_by_being_further_in_front(
            words in proptest::collection::hash_set(0_u32..60, 2..30),
            meaning in proptest::collection::vec(0_u32..60, 0..30),
            at in 1_usize..29,
        ) {
            let mut words: Vec<u32> = words.into_iter().collect();
            let at = at.min(words.len() - 1);
            let (moved, place_of) = (words[at], |fused: &[Fused<u32>], key| keys(fused).iter().position(|one| *one == key));
            let before = place_of(&fuse(&[(&words[..], 100), (&meaning[..], 100)]), moved);
            words.swap(at, at - 1);
            let after = fuse(&[(&words[..], 100), (&meaning[..], 100)]);
            prop_assert!(place_of(&after, moved) <= before);
            prop_assert_eq!(&after, &fuse(&[(&words[..], 100), (&meaning[..], 100)]));
            prop_assert!(after.is_sorted_by(|a, b| a.score > b.score || (a.score == b.score && a.key < b.key)));
        }
    }
}
