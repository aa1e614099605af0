//! Which of several equal processes a call goes to: the one that answered last, until it is away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Rest of a process after its first failure in a row; doubled each time.
const FIRST_REST: Duration = Duration::from_millis(100);
/// Longest rest.
const LONGEST_REST: Duration = Duration::from_secs(5);

/// Several ways that lead to the same. Cheap to clone; clones share what they learn.
#[derive(Clone, Debug)]
pub(super) struct Choice<T> {
    all: Arc<[T]>,
    standing: Arc<Mutex<EndpointStates>>,
}

/// The way a call takes.
#[derive(Clone, Debug)]
pub(super) struct Picked<T> {
    /// Its place among all.
    pub(super) at: usize,
    pub(super) one: T,
}

#[derive(Debug)]
struct EndpointStates {
    /// The one that is taken while it works.
    current: usize,
    /// Failures in a row and the end of the rest, for each.
    resting: Vec<(u32, Option<Instant>)>,
}

impl<T: Clone> Choice<T> {
    /// All ways, which must be at least one; `first` (taken modulo their number) is tried first.
    pub(super) fn new(all: Vec<T>, first: usize) -> Self {
        let standing = EndpointStates { current: first % all.len().max(1), resting: vec![(0, None); all.len()] };
        Self { all: all.into(), standing: Arc::new(Mutex::new(standing)) }
    }

    /// The way for the next call: the current one or, while it rests, the next that does not. When all rest, the one
    /// that has rested most: an answer about the absence of all is better than none.
    pub(super) fn pick(&self, now: Instant) -> Picked<T> {
        let mut standing = self.standing.lock();
        let number = self.all.len();
        let places = (0..number).map(|step| (standing.current + step) % number);
        let rest_of =
            |at: usize| standing.resting[at].1.map_or(Duration::ZERO, |end| end.saturating_duration_since(now));
        // Of equal rests the first counts, so there is always a failure to report.
        let at = places.min_by_key(|at| rest_of(*at)).unwrap_or_default();
        standing.current = at;
        Picked { at, one: self.all[at].clone() }
    }

    /// Takes note of how a call went.
    pub(super) fn note(&self, at: usize, answered: bool, now: Instant) {
        let mut standing = self.standing.lock();
        let Some((failures, rest)) = standing.resting.get_mut(at) else { return };
        if answered {
            (*failures, *rest) = (0, None);
        } else {
            let length = FIRST_REST.saturating_mul(1 << (*failures).min(16)).min(LONGEST_REST);
            (*failures, *rest) = (failures.saturating_add(1), Some(now + length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_stay_with_one_until_it_fails_and_come_to_those_that_work() {
        let choice = Choice::new(vec!['a', 'b', 'c'], 4);
        let start = Instant::now();
        assert_eq!((choice.pick(start).one, choice.pick(start).one), ('b', 'b'));
        choice.note(1, false, start);
        assert_eq!(choice.pick(start).one, 'c');
        assert_eq!(choice.pick(start + FIRST_REST).one, 'c', "one that works is not left");
        choice.note(2, false, start);
        choice.note(0, false, start);
        choice.note(0, false, start);
        let all_rest = choice.pick(start);
        assert_ne!(all_rest.one, 'a', "the one that rests longest comes last");
        choice.note(0, true, start);
        assert_eq!(choice.pick(start).one, 'a');
    }

    #[test]
    fn rests_grow_within_a_bound() {
        let choice = Choice::new(vec!['a', 'b'], 0);
        let start = Instant::now();
        for _ in 0..40 {
            choice.note(0, false, start);
        }
        assert_eq!(choice.pick(start + LONGEST_REST - Duration::from_millis(1)).one, 'b');
        choice.note(1, false, start + LONGEST_REST);
        assert_eq!(choice.pick(start + LONGEST_REST).one, 'a', "after the longest rest it is asked again");
    }
}
