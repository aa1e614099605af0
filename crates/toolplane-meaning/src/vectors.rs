//! Many vectors, and which of them are nearest to one.
//!
//! One block of bytes that is gone over from end to end: nothing to build, and adding, replacing and taking out one costs the same, however
//! many there are. Of many, their signs are gone over, and the numbers of a few of them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use crate::quantised::{Quantised, dot};
use crate::signs::Signs;

/// As many are compared by all their numbers: that takes less than half a millisecond.
const ALL_UP_TO: usize = 10_000;
/// How many times as many as are asked for are compared at first, of more than that. With 4, 300,000 take 0.9 ms less, and twice as many of
/// the nearest are missed.
const FIRST: usize = 8;

/// Vectors of one model, by key.
#[derive(Clone, Debug)]
pub struct Vectors<K> {
    dimension: usize,
    /// The codes of all of them behind each other, in the order of `keys`.
    codes: Vec<i8>,
    signs: Signs,
    scales: Vec<f32>,
    keys: Vec<K>,
    rows: HashMap<K, u32>,
    all_up_to: usize,
}

/// One that is near.
#[derive(Clone, Debug, PartialEq)]
pub struct Near<K> {
    /// Which.
    pub key: K,
    /// How near; see [`Quantised::similarity`].
    pub similarity: f32,
}

impl<K: Clone + Ord + Hash> Vectors<K> {
    /// None yet; all will have this dimension.
    pub fn new(dimension: usize) -> Self {
        let (signs, scales, keys, rows) = (Signs::new(dimension), Vec::new(), Vec::new(), HashMap::new());
        Self { dimension, codes: Vec::new(), signs, scales, keys, rows, all_up_to: ALL_UP_TO }
    }

    /// Adds a vector, or replaces that of the key. Says whether it is here now: one of another dimension never is.
    pub fn insert(&mut self, key: K, vector: &Quantised) -> bool {
        if vector.dimension() != self.dimension {
            return false;
        }
        if let Some(row) = self.rows.get(&key) {
            let row = *row as usize;
            let from = row * self.dimension;
            if let Some(codes) = self.codes.get_mut(from..from + self.dimension) {
                codes.copy_from_slice(&vector.codes);
            }
            self.signs.replace(row, &vector.codes);
            if let Some(scale) = self.scales.get_mut(row) {
                *scale = vector.scale;
            }
            return true;
        }
        let Ok(row) = u32::try_from(self.keys.len()) else { return false };
        self.codes.extend_from_slice(&vector.codes);
        self.signs.push(&vector.codes);
        self.scales.push(vector.scale);
        self.keys.push(key.clone());
        self.rows.insert(key, row);
        true
    }

    /// Takes one out; the last one moves to its place.
    pub fn remove(&mut self, key: &K) -> bool {
        let Some(row) = self.rows.remove(key) else { return false };
        let (row, last) = (row as usize, self.keys.len() - 1);
        self.codes.copy_within(last * self.dimension.., row * self.dimension);
        self.codes.truncate(last * self.dimension);
        self.signs.swap_remove(row);
        self.scales.swap_remove(row);
        self.keys.swap_remove(row);
        if let Some(moved) = self.keys.get(row) {
            self.rows.insert(moved.clone(), row as u32);
        }
        true
    }

    /// Whether the key has a vector.
    pub fn contains(&self, key: &K) -> bool {
        self.rows.contains_key(key)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The nearest `most` that are no less near than `least` and of which `fits` says so, nearest first; equal ones in order of
    /// their keys, so that it does not matter in which order they came. `fits` is asked only about those that would be among
    /// them.
    ///
    /// Of many vectors, only those are compared whose signs differ least, several times as many as are asked for; so one of the nearest is
    /// missed now and then. Where few fit, the others are compared too, as long as any of them is near.
    pub fn nearest(
        &self,
        query: &Quantised,
        most: usize,
        least: f32,
        mut fits: impl FnMut(&K) -> bool,
    ) -> Vec<Near<K>> {
        if most == 0 || query.dimension() != self.dimension {
            return Vec::new();
        }
        let mut best = Best { found: Vec::new(), most, bound: least };
        if self.keys.len() <= self.all_up_to {
            self.compare(query, 0..self.keys.len(), &mut best, &mut fits);
        } else {
            self.compare_some(query, &mut best, &mut fits);
        }
        best.found.into_iter().map(|(similarity, key)| Near { key: key.clone(), similarity }).collect()
    }

    /// Compares those whose signs differ least, twice as many each time: once more after there are enough, and until none is near.
    fn compare_some<'v>(&'v self, query: &Quantised, best: &mut Best<'v, K>, fits: &mut impl FnMut(&K) -> bool) {
        let mut differences = self.signs.differ_from(&query.codes);
        let (least, mut rows, mut enough) = (best.bound, FIRST * best.most, false);
        while let Some(some) = differences.take(rows) {
            let nearest = self.compare(query, some, best, fits);
            if enough || nearest < least {
                return;
            }
            enough = best.found.len() >= best.most;
            rows *= 2;
        }
    }

    /// Compares rows; how near the nearest of them is, whether it fits or not.
    fn compare<'v>(
        &'v self,
        query: &Quantised,
        rows: impl Iterator<Item = usize>,
        best: &mut Best<'v, K>,
        fits: &mut impl FnMut(&K) -> bool,
    ) -> f32 {
        let mut nearest = f32::MIN;
        for row in rows {
            let codes = self.codes.get(row * self.dimension..(row + 1) * self.dimension);
            let (Some(codes), Some(scale), Some(key)) = (codes, self.scales.get(row), self.keys.get(row)) else {
                continue;
            };
            let similarity = dot(&query.codes, codes) as f32 * query.scale * scale;
            nearest = nearest.max(similarity);
            if similarity >= best.bound && fits(key) {
                best.add(similarity, key);
            }
        }
        best.settle();
        nearest
    }

    /// Bytes of memory they take, without what keys have elsewhere.
    pub fn heap_bytes(&self) -> usize {
        let key = size_of::<K>();
        self.codes.capacity()
            + self.signs.heap_bytes()
            + self.scales.capacity() * size_of::<f32>()
            + self.keys.capacity() * key
            + self.rows.capacity() * (key + size_of::<u32>() + 1)
    }
}

/// The nearest so far.
struct Best<'v, K> {
    /// At most twice as many as there are to be.
    found: Vec<(f32, &'v K)>,
    most: usize,
    /// Those less near are not among them.
    bound: f32,
}

impl<'v, K: Ord> Best<'v, K> {
    fn add(&mut self, similarity: f32, key: &'v K) {
        self.found.push((similarity, key));
        if self.found.len() >= 2 * self.most {
            self.found.select_nth_unstable_by(self.most - 1, order);
            self.found.truncate(self.most);
            self.bound = self.found.last().map_or(self.bound, |(similarity, _)| *similarity);
        }
    }

    /// Leaves as many as there are to be, in their order.
    fn settle(&mut self) {
        self.found.sort_unstable_by(order);
        self.found.truncate(self.most);
        if let Some((similarity, _)) = self.found.get(self.most - 1) {
            self.bound = *similarity;
        }
    }
}

fn order<K: Ord>(a: &(f32, &K), b: &(f32, &K)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn vector(numbers: &[f32]) -> Quantised {
        Quantised::of(numbers).unwrap()
    }

    #[test]
    fn the_nearest_come_first_and_only_those_that_fit() {
        let mut all = Vectors::new(2);
        for (key, numbers) in [("east", [1.0, 0.0]), ("north", [0.0, 1.0]), ("northeast", [1.0, 1.0])] {
            assert!(all.insert(key, &vector(&numbers)));
        }
        let names = |most, least, fits: fn(&&str) -> bool| -> Vec<&str> {
            all.nearest(&vector(&[1.0, 0.2]), most, least, fits).into_iter().map(|near| near.key).collect()
        };
        assert_eq!(names(10, -1.0, |_| true), ["east", "northeast", "north"]);
        assert_eq!(names(1, -1.0, |key| *key != "east"), ["northeast"]);
        assert_eq!(names(10, 0.5, |_| true), ["east", "northeast"]);
        assert!(names(0, -1.0, |_| true).is_empty());
    }

    #[test]
    fn another_dimension_is_never_compared() {
        let mut all = Vectors::new(2);
        assert!(!all.insert(1, &vector(&[1.0])) && all.is_empty());
        all.insert(1, &vector(&[1.0, 0.0]));
        assert!(all.nearest(&vector(&[1.0, 0.0, 0.0]), 5, -1.0, |_| true).is_empty());
    }

    proptest! {
        #[test]
        fn none_that_fits_is_missed_of_many_and_their_order_does_not_matter(
            vectors in proptest::collection::btree_map(0_u32..500, proptest::array::uniform8(-9_i8..9), 20..200),
            query in proptest::array::uniform8(1_i8..9),
            parts in 1_u32..60,
        ) {
            let made = |numbers: &[i8; 8]| Quantised::of(&numbers.map(f32::from));
            let nearest = |all: &mut dyn Iterator<Item = (&u32, &[i8; 8])>, most, up_to| {
                let mut some = Vectors { all_up_to: up_to, ..Vectors::new(8) };
                for (key, numbers) in all {
                    if let Some(vector) = made(numbers) {
                        some.insert(*key, &vector);
                    }
                }
                some.nearest(&made(&query).unwrap(), most, -1.0, |key| key % parts == 0)
            };
            let few = nearest(&mut vectors.iter(), 3, 0);
            prop_assert_eq!(&few, &nearest(&mut vectors.iter().rev(), 3, 0));
            let (all, exact) = (nearest(&mut vectors.iter(), 200, 0), nearest(&mut vectors.iter(), 200, 1_000));
            prop_assert_eq!(few.len(), all.len().min(3));
            prop_assert_eq!(all, exact);
        }

        #[test]
        fn they_answer_as_a_plain_map_whatever_came_before(
            steps in proptest::collection::vec((0_u32..12, proptest::option::weighted(0.7, proptest::array::uniform3(-9_i8..9))), 1..80),
            most in 1_usize..8,
        ) {
            let (mut all, mut plain) = (Vectors::new(3), BTreeMap::new());
            for (key, numbers) in steps {
                let made = numbers.and_then(|numbers| Quantised::of(&numbers.map(f32::from)));
                if let Some(vector) = made {
                    all.insert(key, &vector);
                    plain.insert(key, vector);
                } else {
                    prop_assert_eq!(all.remove(&key), plain.remove(&key).is_some());
                }
            }
            let query = vector(&[3.0, -2.0, 5.0]);
            let mut expected: Vec<(f32, &u32)> = plain.iter().map(|(key, one)| (query.similarity(one), key)).collect();
            expected.sort_unstable_by(order);
            expected.truncate(most);
            let found = all.nearest(&query, most, -2.0, |_| true);
            let found: Vec<(f32, &u32)> = found.iter().map(|near| (near.similarity, &near.key)).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(all.len(), plain.len());
        }
    }
}
