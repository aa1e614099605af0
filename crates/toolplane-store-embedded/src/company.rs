//! How long a group of commits waits for more.
//!
//! A flush costs the machine as much as many commits do, whatever it carries, so commits that come close together should be
//! flushed together. But nobody may wait for commits that do not come: where few come, none waits; a group that is as large as
//! groups lately were does not wait either, except now and then, to find out whether there would be more.

use std::time::Duration;

/// A group waits this long at most.
const LONGEST: Duration = Duration::from_millis(2);
/// No commit for this long: the others wait for this group's flush, or for something else.
const SILENCE: Duration = Duration::from_micros(250);
/// About as long as a flush. Where fewer than two commits come meanwhile, waiting costs more than it saves.
const FLUSH: Duration = Duration::from_micros(300);
const WORTH_WAITING: f64 = 2.0;
/// After a group waited for more in vain, so many do not.
const REST: u32 = 16;

/// What the last groups were like.
#[derive(Debug, Default)]
pub(crate) struct Company {
    /// How many commits come during a flush; the newest groups count most.
    rate: f64,
    /// How large groups lately became; forgotten by and by.
    size: usize,
    /// How many groups will not wait for more than that.
    rest: u32,
}

impl Company {
    /// Whether a group of `size` commits, begun `age` ago, should wait for more, when none came for `silence`.
    pub(crate) fn is_expected(&self, size: usize, age: Duration, silence: Duration) -> bool {
        let more = size < self.size || self.rest == 0;
        size > 0 && self.rate >= WORTH_WAITING && more && age < LONGEST && silence < SILENCE
    }

    /// Takes note of a group of `size` commits, begun so long `after` the one before.
    pub(crate) fn note(&mut self, size: usize, after: Duration) {
        let flushes = after.max(Duration::from_micros(1)).as_secs_f64() / FLUSH.as_secs_f64();
        self.rate = self.rate * 0.875 + size as f64 / flushes * 0.125;
        let in_vain = self.rest == 0 && size <= self.size;
        self.rest = if in_vain { REST } else { self.rest.saturating_sub(1) };
        self.size = size.max(self.size - self.size / 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_micros(100);

    /// After many groups of this size, one in each span of this many microseconds.
    fn after(size: usize, micros: u64) -> Company {
        let mut company = Company::default();
        (0..100).for_each(|_| company.note(size, Duration::from_micros(micros)));
        company
    }

    #[test]
    fn where_few_commits_come_none_waits() {
        // One caller after the other, two, and three that all wait for the flush.
        for (size, micros) in [(1, 300), (2, 350), (1, 700)] {
            let company = after(size, micros);
            assert!((0..4).all(|size| !company.is_expected(size, SOON, SOON)), "{size} in {micros} us");
        }
    }

    #[test]
    fn a_group_waits_until_it_is_as_large_as_groups_were() {
        let mut company = after(8, 600);
        company.rest = 1;
        assert!(company.is_expected(7, SOON, SOON));
        assert!(!company.is_expected(8, SOON, SOON), "the eight of the last groups are all there");
        assert!(!company.is_expected(7, LONGEST, SOON));
        assert!(!company.is_expected(7, SOON, SILENCE));
        assert!(!company.is_expected(0, SOON, SOON), "nobody is there");
        company.note(2, Duration::from_micros(400));
        assert!(company.is_expected(6, SOON, SOON), "one small group is not what groups are like");
    }

    #[test]
    fn small_groups_wait_where_many_commits_come() {
        let company = after(2, 150);
        assert!(company.is_expected(1, SOON, SOON));
    }

    #[test]
    fn groups_find_out_now_and_then_whether_there_would_be_more() {
        let mut company = after(6, 500);
        let waits: Vec<bool> = (0..34)
            .map(|_| {
                let waits = company.is_expected(6, SOON, SOON);
                company.note(6, Duration::from_micros(500));
                waits
            })
            .collect();
        assert_eq!(waits.iter().filter(|waits| **waits).count(), 2, "{waits:?}");
        // While waiting helps, they go on.
        company.rest = 0;
        company.note(8, Duration::from_micros(500));
        assert!(company.is_expected(8, SOON, SOON));
    }
}
