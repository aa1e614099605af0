//! How long a group of commits waits for more.
//!
//! A flush costs the machine as much as many commits do, whatever it carries, so commits that come together should be flushed
//! together. But nobody may wait for commits that do not come: lone commits, and pairs, never wait; a group that is as large as
//! the last one does not wait either, except now and then, to find out whether there would be more.

use std::time::Duration;

/// A group waits this long at most.
const LONGEST: Duration = Duration::from_millis(2);
/// No commit for this long: the others wait for this group's flush, or for something else.
const SILENCE: Duration = Duration::from_micros(250);
/// Groups of fewer commits do not wait.
const FEWEST: usize = 3;
/// After a group waited for more in vain, so many do not.
const REST: u32 = 16;

/// What the last groups were like.
#[derive(Debug)]
pub(crate) struct Company {
    /// How many commits the last group had.
    last: usize,
    /// How many groups will not wait for more than the last one had.
    rest: u32,
}

impl Default for Company {
    fn default() -> Self {
        Self { last: 1, rest: 0 }
    }
}

impl Company {
    /// Whether a group of `size` commits, begun `age` ago, should wait for more, when none came for `silence`.
    pub(crate) fn is_expected(&self, size: usize, age: Duration, silence: Duration) -> bool {
        let more = size < self.last || self.rest == 0;
        size > 0 && self.last >= FEWEST && more && age < LONGEST && silence < SILENCE
    }

    /// Takes note of a group of `size` commits.
    pub(crate) fn note(&mut self, size: usize) {
        let in_vain = self.rest == 0 && size <= self.last;
        self.rest = if in_vain { REST } else { self.rest.saturating_sub(1) };
        self.last = size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_micros(100);

    fn after(sizes: &[usize]) -> Company {
        let mut company = Company::default();
        sizes.iter().for_each(|size| company.note(*size));
        company
    }

    #[test]
    fn lone_commits_and_pairs_never_wait() {
        for sizes in [&[][..], &[1], &[2, 2], &[64, 2]] {
            let company = after(sizes);
            for size in 0..4 {
                assert!(!company.is_expected(size, SOON, SOON), "{size} after {sizes:?}");
            }
        }
    }

    #[test]
    fn a_group_waits_until_it_is_as_large_as_the_last_one() {
        let company = after(&[8, 8]);
        assert!(company.is_expected(7, SOON, SOON));
        assert!(!company.is_expected(8, SOON, SOON), "the eight of the last group are all there");
        assert!(!company.is_expected(7, LONGEST, SOON));
        assert!(!company.is_expected(7, SOON, SILENCE));
    }

    #[test]
    fn groups_that_grow_wait_for_more() {
        let mut company = after(&[4, 5, 6]);
        assert!(company.is_expected(6, SOON, SOON));
        company.note(6);
        for _ in 0..REST {
            assert!(!company.is_expected(6, SOON, SOON));
            company.note(6);
        }
        assert!(company.is_expected(6, SOON, SOON), "now and then they find out");
    }
}
