//! Lists of a record that may go on for days: the first entries and the newest ones are kept, the others are counted.
//!
//! Every entry has a number, counted from 1 over all there ever were, so that a reader who comes back finds its place whatever
//! was left out meanwhile.

/// How much of such a list is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trail {
    first: usize,
    newest: usize,
}

/// Decisions of one call: how it came to be accepted, and what was found last. Its log names each of them.
pub const DECISIONS: Trail = Trail { first: 8, newest: 56 };

/// Hook runs of one call: those before it was accepted, and the newest. Its log names each of them.
pub const HOOKS: Trail = Trail { first: 64, newest: 192 };

impl Trail {
    /// Most entries that are kept.
    pub const fn most(self) -> usize {
        self.first + self.newest
    }

    /// Adds an entry. What comes back has to make room for it, and `left_out` counts it.
    pub fn add<T>(self, kept: &mut Vec<T>, left_out: &mut u64, entry: T) -> Option<T> {
        let oldest = (kept.len() >= self.most()).then(|| kept.remove(self.first));
        *left_out += u64::from(oldest.is_some());
        kept.push(entry);
        oldest
    }

    /// The number of the entry at `index` of those that are kept.
    pub fn number(self, index: usize, left_out: u64) -> u64 {
        let place = index as u64 + 1;
        if index < self.first { place } else { place + left_out }
    }

    /// The number of the last of `kept` entries; 0 when there are none.
    pub fn newest_number(self, kept: usize, left_out: u64) -> u64 {
        kept.checked_sub(1).map_or(0, |index| self.number(index, left_out))
    }

    /// The index of the first kept entry with a number above `number`; how many are kept when there is none.
    pub fn after(self, number: u64, kept: usize, left_out: u64) -> usize {
        let first = self.first as u64;
        let index = if number < first { number } else { number.saturating_sub(left_out).max(first) };
        usize::try_from(index).map_or(kept, |index| index.min(kept))
    }

    /// Whether `after` is `before` with entries added: what both have is the same, and no more is left out than has to be.
    pub fn goes_on<T: PartialEq>(self, before: (&[T], u64), after: (&[T], u64)) -> bool {
        let total = |(kept, left_out): (&[T], u64)| kept.len() as u64 + left_out;
        let known = |number: u64| {
            let index = self.after(number - 1, before.0.len(), before.1);
            before.0.get(index).filter(|_| self.number(index, before.1) == number)
        };
        let same = after.0.iter().enumerate().all(|(index, entry)| {
            let number = self.number(index, after.1);
            number > total(before) || known(number) == Some(entry)
        });
        let fits = after.1 == total(after).saturating_sub(self.most() as u64);
        // A record of a time without this bound may have more: it grows no further.
        same && total(after) >= total(before) && (fits || before.0.len() > self.most())
    }
}

#[cfg(test)]
mod tests {
    use super::Trail;

    const FEW: Trail = Trail { first: 2, newest: 3 };

    fn filled(count: u64) -> (Vec<u64>, u64) {
        let (mut kept, mut left_out) = (Vec::new(), 0);
        for number in 1..=count {
            let before = (kept.clone(), left_out);
            let gone = FEW.add(&mut kept, &mut left_out, number);
            assert_eq!(gone.is_some(), number > 5, "{number}");
            assert!(FEW.goes_on((&before.0, before.1), (&kept, left_out)));
        }
        (kept, left_out)
    }

    #[test]
    fn the_first_and_the_newest_are_kept_and_the_others_counted() {
        assert_eq!(filled(0), (vec![], 0));
        assert_eq!(filled(5), (vec![1, 2, 3, 4, 5], 0));
        assert_eq!(filled(100), (vec![1, 2, 98, 99, 100], 95));
    }

    /// Wherever a reader was, it goes on with the next entry there is.
    #[test]
    fn a_number_leads_to_the_next_entry_whatever_was_left_out() {
        for count in 0..20 {
            let (kept, left_out) = filled(count);
            for (index, entry) in kept.iter().enumerate() {
                assert_eq!(FEW.number(index, left_out), *entry);
            }
            for seen in 0..25 {
                let next = kept.get(FEW.after(seen, kept.len(), left_out));
                assert_eq!(next, kept.iter().find(|entry| **entry > seen), "{seen} of {count}");
            }
        }
    }

    #[test]
    fn a_list_that_lost_or_changed_an_entry_does_not_go_on() {
        let (kept, left_out) = filled(7);
        let goes_on = |after: &[u64], left_out_after| FEW.goes_on((&kept, left_out), (after, left_out_after));
        assert!(goes_on(&kept, left_out) && goes_on(&[1, 2, 6, 7, 8], 3));
        assert!(!goes_on(&[1, 2, 5, 6], 2), "the last is missing");
        assert!(!goes_on(&[1, 2, 5, 9, 7], 2), "one is another one");
        assert!(!goes_on(&[1, 2, 7, 8], 4), "more is left out than has to be");
        assert!(!goes_on(&[9, 2, 6, 7, 8], 3), "the first are kept");
    }
}
