//! The signs of vectors, a bit for each of their numbers: how many two of them differ in tells about how near they are, for an eighth of
//! what it costs to compare their numbers.

/// The signs of many vectors, in the order of their rows.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    /// Numbers of 64 bits that one vector takes.
    words: usize,
    bits: Vec<u64>,
}

impl Signs {
    /// None yet; all will have this dimension.
    pub(crate) fn new(dimension: usize) -> Self {
        Self { words: dimension.div_ceil(64), bits: Vec::new() }
    }

    /// Adds a row behind the others.
    pub(crate) fn push(&mut self, codes: &[i8]) {
        self.bits.extend(of(codes));
    }

    /// Replaces a row.
    pub(crate) fn replace(&mut self, row: usize, codes: &[i8]) {
        let places = self.bits.iter_mut().skip(row * self.words).take(self.words);
        places.zip(of(codes)).for_each(|(place, word)| *place = word);
    }

    /// Takes a row out; the last one moves to its place.
    pub(crate) fn swap_remove(&mut self, row: usize) {
        let Some(last) = self.bits.len().checked_sub(self.words) else { return };
        self.bits.copy_within(last.., row * self.words);
        self.bits.truncate(last);
    }

    /// In how many signs each row differs from a vector.
    pub(crate) fn differ_from(&self, codes: &[i8]) -> Differences {
        let asked: Vec<u64> = of(codes).collect();
        let mut differences = Vec::with_capacity(self.bits.len() / self.words.max(1));
        differences.extend(self.bits.chunks_exact(self.words.max(1)).map(|row| {
            let differ = row.iter().zip(&asked).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
            u16::try_from(differ).unwrap_or(u16::MAX)
        }));
        let mut rows_with = vec![0; asked.len() * 64 + 1];
        for differ in &differences {
            if let Some(rows) = rows_with.get_mut(usize::from(*differ)) {
                *rows += 1;
            }
        }
        Differences { differences, rows_with, next: 0 }
    }

    /// Bytes of memory they take.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.bits.capacity() * size_of::<u64>()
    }
}

/// In how many signs rows differ, and how many of them were taken.
pub(crate) struct Differences {
    differences: Vec<u16>,
    /// How many rows there are of each difference.
    rows_with: Vec<usize>,
    /// Rows that differ less were taken.
    next: usize,
}

impl Differences {
    /// Takes the rows that differ least of those that are left: so many of them, and all that differ as much as the last one, so that it
    /// does not matter in which order they came. None when none is left.
    pub(crate) fn take(&mut self, rows: usize) -> Option<impl Iterator<Item = usize> + '_> {
        let from = self.next;
        let mut taken = 0;
        while let Some(more) = self.rows_with.get(self.next).filter(|_| taken < rows) {
            taken += more;
            self.next += 1;
        }
        let range = u16::try_from(from).ok()?..u16::try_from(self.next).unwrap_or(u16::MAX);
        (taken > 0)
            .then(|| (0..).zip(&self.differences).filter(move |(_, differ)| range.contains(differ)).map(|(row, _)| row))
    }
}

/// A bit for each number: whether it is below zero.
fn of(codes: &[i8]) -> impl Iterator<Item = u64> + '_ {
    codes.chunks(64).map(|codes| (0..).zip(codes).fold(0, |word, (at, code)| word | u64::from(*code < 0) << at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_come_in_the_order_of_their_differences_and_equal_ones_together() {
        let mut signs = Signs::new(70);
        let row = |below: usize| -> Vec<i8> { (0..70).map(|at| if at < below { -1 } else { 1 }).collect() };
        for below in [3, 70, 0, 3, 66] {
            signs.push(&row(below));
        }
        let mut differences = signs.differ_from(&row(0));
        let mut take = |rows| differences.take(rows).map(|taken| taken.collect::<Vec<_>>());
        assert_eq!(take(1), Some(vec![2]));
        assert_eq!(take(1), Some(vec![0, 3]));
        assert_eq!(take(9), Some(vec![1, 4]));
        assert_eq!(take(9), None);
    }

    proptest! {
        #[test]
        fn each_row_differs_as_its_numbers_do(
            rows in proptest::collection::vec(proptest::collection::vec(-2_i8..2, 67..68), 2..9),
        ) {
            let mut signs = Signs::new(67);
            rows.iter().for_each(|row| signs.push(row));
            signs.replace(0, &rows[1]);
            signs.swap_remove(1);
            let mut expected = rows.clone();
            expected[0] = rows[1].clone();
            expected.swap_remove(1);
            let differ = |row: &Vec<i8>| row.iter().zip(&rows[0]).filter(|(a, b)| (**a < 0) != (**b < 0)).count();
            let found: Vec<usize> = signs.differ_from(&rows[0]).differences.into_iter().map(usize::from).collect();
            prop_assert_eq!(found, expected.iter().map(differ).collect::<Vec<_>>());
        }
    }
}
