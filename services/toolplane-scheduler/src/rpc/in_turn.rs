//! Reports that must be taken one after the other: the partial results of a call, and what its worker says after them.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use toolplane_proto::v1::worker_report::Report;

/// Most reports of one call that wait for their turn.
const MOST: usize = 1_024;

/// Reports of one session that wait, by the name of their lease.
#[derive(Debug, Default)]
pub(super) struct InTurn(Mutex<HashMap<String, VecDeque<Report>>>);

/// What becomes of a report that was put down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// The caller takes the reports of this lease now, with [`InTurn::next`].
    Begin,
    /// Another task is taking them.
    Waits,
    /// The end of the call waits already: a worker that hears nothing says it again.
    Known,
    /// Too many wait: it is lost.
    Full,
}

fn is_end(report: &Report) -> bool {
    matches!(report, Report::Done(_))
}

impl InTurn {
    /// Whether reports of this lease are being taken.
    pub(super) fn any(&self, lease: &str) -> bool {
        self.0.lock().contains_key(lease)
    }

    /// Puts a report behind those that wait. The end of a call always finds a place.
    pub(super) fn put(&self, lease: &str, report: Report) -> Put {
        let mut calls = self.0.lock();
        match calls.get_mut(lease) {
            Some(waiting) if is_end(&report) && waiting.iter().any(is_end) => Put::Known,
            Some(waiting) if waiting.len() >= MOST && !is_end(&report) => Put::Full,
            Some(waiting) => {
                waiting.push_back(report);
                Put::Waits
            }
            None => {
                calls.insert(lease.to_owned(), VecDeque::from([report]));
                Put::Begin
            }
        }
    }

    /// The report whose turn it is; after `None` no task takes any more.
    pub(super) fn next(&self, lease: &str) -> Option<Report> {
        let mut calls = self.0.lock();
        let report = calls.get_mut(lease)?.pop_front();
        if report.is_none() {
            calls.remove(lease);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use toolplane_proto::v1;

    use super::*;

    fn partial(text: &str) -> Report {
        let resume_token = Some(text.to_owned());
        Report::Partial(v1::PartialReported { resume_token, ..Default::default() })
    }

    #[test]
    fn reports_come_in_their_order_by_one_task_at_a_time() {
        let turns = InTurn::default();
        assert_eq!(turns.put("a", partial("1")), Put::Begin);
        assert_eq!(turns.put("a", partial("2")), Put::Waits);
        assert_eq!(turns.put("b", partial("3")), Put::Begin, "calls do not wait for each other");
        assert_eq!(turns.next("a"), Some(partial("1")));
        assert_eq!(turns.put("a", Report::Done(Default::default())), Put::Waits);
        assert_eq!(turns.next("a"), Some(partial("2")));
        assert_eq!(turns.next("a"), Some(Report::Done(Default::default())));
        assert!(turns.any("a"), "the last one is still being taken");
        assert_eq!(turns.next("a"), None);
        assert!(!turns.any("a"));
        assert_eq!(turns.put("a", partial("4")), Put::Begin);
    }

    #[test]
    fn what_comes_too_fast_is_refused_and_the_end_is_not() {
        let turns = InTurn::default();
        turns.put("a", partial("1"));
        (1..MOST).for_each(|_| assert_eq!(turns.put("a", partial("x")), Put::Waits));
        assert_eq!(turns.put("a", partial("x")), Put::Full);
        assert_eq!(turns.put("a", Report::Done(Default::default())), Put::Waits);
        assert_eq!(turns.put("a", Report::Done(Default::default())), Put::Known, "it waits once");
    }
}
