//! When which ended calls are to be looked at next; pure.
//!
//! Ended calls are found in the order of their ends, and each is read once: from then on its next time is known here. So nothing that is
//! kept for long is read again and again. What there is no room for is found by going through all of them once more, in time.

use std::collections::{BTreeSet, HashSet};

use toolplane_store::IndexEntry;

/// Most calls whose times are remembered.
const MOST: usize = 50_000;
/// All are looked at again so often, because one may have come into its place late.
const AGAIN_MS: i64 = 3_600_000;

/// What is remembered of ended calls. It is made anew by going through all of them.
#[derive(Debug)]
pub(crate) struct Agenda {
    due: BTreeSet<(i64, String)>,
    known: HashSet<String>,
    most: usize,
    /// The last call that was found; none at the beginning.
    place: Option<IndexEntry>,
    /// When to begin at the beginning again, at the latest.
    again: Option<i64>,
}

impl Default for Agenda {
    fn default() -> Self {
        Self { due: BTreeSet::new(), known: HashSet::new(), most: MOST, place: None, again: None }
    }
}

impl Agenda {
    /// Begins a round. Where the least time is `shortest_ms`, a call may come into its place among those that are old enough already when
    /// that is short: then each round begins at the beginning.
    pub(crate) fn begin(&mut self, now: i64, shortest_ms: i64) {
        const LATE_MS: i64 = 10_000;
        if shortest_ms < LATE_MS || self.again.is_none_or(|again| again <= now) {
            self.place = None;
            self.again = Some(now.saturating_add(AGAIN_MS));
        }
    }

    /// After which call further ones are looked for.
    pub(crate) fn place(&self) -> Option<&IndexEntry> {
        self.place.as_ref()
    }

    /// Takes note that calls were found up to the last of `page`; those that are new here.
    pub(crate) fn found(&mut self, page: Vec<IndexEntry>) -> Vec<IndexEntry> {
        if let Some(last) = page.last() {
            self.place = Some(last.clone());
        }
        page.into_iter().filter(|entry| !self.known.contains(&entry.member)).collect()
    }

    /// Looks at a call again when it is `at`.
    pub(crate) fn later(&mut self, member: &str, at: i64) {
        if self.known.insert(member.to_owned()) {
            self.due.insert((at, member.to_owned()));
        }
        if self.due.len() > self.most
            && let Some((at, member)) = self.due.pop_last()
        {
            self.known.remove(&member);
            self.again = Some(self.again.map_or(at, |again| again.min(at)));
        }
    }

    /// At most `most` calls whose time has come. They are not remembered any more.
    pub(crate) fn take(&mut self, now: i64, most: usize) -> Vec<String> {
        let mut taken = Vec::new();
        while taken.len() < most && self.due.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, member)) = self.due.pop_first() else { break };
            self.known.remove(&member);
            taken.push(member);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(member: &str, score: u64) -> IndexEntry {
        IndexEntry { member: member.to_owned(), score }
    }

    #[test]
    fn each_call_is_found_once_and_comes_back_when_its_time_has_come() {
        let mut agenda = Agenda::default();
        agenda.begin(0, 60_000);
        assert_eq!(agenda.found(vec![entry("a", 1), entry("b", 2)]).len(), 2);
        assert_eq!(agenda.place(), Some(&entry("b", 2)));
        agenda.later("a", 50);
        agenda.later("b", 10);
        assert_eq!(agenda.take(5, 9), Vec::<String>::new());
        assert_eq!(agenda.take(60, 1), ["b"]);
        assert_eq!(agenda.found(vec![entry("a", 1)]), [], "it is known");
        assert_eq!(agenda.take(60, 9), ["a"]);
        agenda.begin(100, 60_000);
        assert_eq!(agenda.place(), Some(&entry("a", 1)), "it goes on");
        agenda.begin(AGAIN_MS, 60_000);
        assert_eq!(agenda.place(), None, "and begins anew after a while");
        agenda.found(vec![entry("c", 3)]);
        agenda.begin(AGAIN_MS + 1, 50);
        assert_eq!(agenda.place(), None, "and at once where calls go early");
    }

    #[test]
    fn what_there_is_no_room_for_is_found_again_in_time() {
        let mut agenda = Agenda { most: 2, ..Agenda::default() };
        agenda.begin(0, 60_000);
        agenda.found(vec![entry("c", 3)]);
        for (member, at) in [("a", 70), ("b", 60), ("c", 50)] {
            agenda.later(member, at);
        }
        assert_eq!(agenda.take(60, 9), ["c", "b"]);
        agenda.begin(69, 60_000);
        assert!(agenda.place().is_some());
        agenda.begin(70, 60_000);
        assert_eq!(agenda.place(), None);
    }
}
