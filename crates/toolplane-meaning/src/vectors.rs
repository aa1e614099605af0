//! Many vectors, and which of them are nearest to one.
//!
//! One block of bytes that is gone over from end to end: exact, and nothing to build. Adding, replacing and taking out
//! one costs the same, however many there are.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use crate::quantised::{Quantised, dot};

/// Vectors of one model, by key.
#[derive(Clone, Debug)]
pub struct Vectors<K> {
    dimension: usize,
    /// The codes of all of them behind each other, in the order of `keys`.
    codes: Vec<i8>,
    scales: Vec<f32>,
    keys: Vec<K>,
    rows: HashMap<K, u32>,
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
        Self { dimension, codes: Vec::new(), scales: Vec::new(), keys: Vec::new(), rows: HashMap::new() }
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
            if let Some(scale) = self.scales.get_mut(row) {
                *scale = vector.scale;
            }
            return true;
        }
        let Ok(row) = u32::try_from(self.keys.len()) else { return false };
        self.codes.extend_from_slice(&vector.codes);
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
    pub fn nearest(
        &self,
        query: &Quantised,
        most: usize,
        least: f32,
        mut fits: impl FnMut(&K) -> bool,
    ) -> Vec<Near<K>> {
        let mut best: Vec<(f32, &K)> = Vec::with_capacity(2 * most.min(4_096));
        if most == 0 || query.dimension() != self.dimension {
            return Vec::new();
        }
        let mut bound = least;
        for ((codes, scale), key) in self.codes.chunks_exact(self.dimension).zip(&self.scales).zip(&self.keys) {
            let similarity = dot(&query.codes, codes) as f32 * query.scale * scale;
            if similarity < bound || !fits(key) {
                continue;
            }
            best.push((similarity, key));
            if best.len() >= 2 * most {
                best.select_nth_unstable_by(most - 1, order);
                best.truncate(most);
                bound = best.last().map_or(least, |(similarity, _)| *similarity);
            }
        }
        best.sort_unstable_by(order);
        best.truncate(most);
        best.into_iter().map(|(similarity, key)| Near { key: key.clone(), similarity }).collect()
    }

    /// Bytes of memory they take, without what keys have elsewhere.
    pub fn heap_bytes(&self) -> usize {
        let key = size_of::<K>();
        self.codes.capacity()
            + self.scales.capacity() * size_of::<f32>()
            + self.keys.capacity() * key
            + self.rows.capacity() * (key + size_of::<u32>() + 1)
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
