//! Progress of running calls: of reports that come faster than they are stored the newest counts, so that nothing else a worker
//! has to say waits behind them.

use std::collections::HashMap;

use parking_lot::Mutex;
use toolplane_records::progress::ToolProgress;

/// Most calls of one session whose news wait; more than a worker has slots.
const MOST: usize = 8_192;

/// News of one call.
#[derive(Debug, Default)]
struct Waiting {
    /// The newest report that is not stored.
    newest: Option<ToolProgress>,
    /// A task is storing what is here.
    busy: bool,
    /// Reports that were not stored and never will be.
    left_out: u64,
}

/// News of the calls of one session, by the name of their lease.
#[derive(Debug, Default)]
pub(super) struct News(Mutex<HashMap<String, Waiting>>);

impl News {
    /// Takes a report. True when the caller has to store it, with [`Self::next`]; false when another task is storing
    /// reports of this lease.
    pub(super) fn put(&self, lease: &str, report: ToolProgress) -> bool {
        let mut calls = self.0.lock();
        if calls.len() >= MOST && !calls.contains_key(lease) {
            return false;
        }
        let call = calls.entry(lease.to_owned()).or_default();
        call.left_out += u64::from(call.newest.replace(report).is_some());
        !std::mem::replace(&mut call.busy, true)
    }

    /// The report to be stored next; after `None` no task is storing any more.
    pub(super) fn next(&self, lease: &str) -> Option<ToolProgress> {
        let mut calls = self.0.lock();
        let call = calls.get_mut(lease)?;
        let report = call.newest.take();
        call.busy = report.is_some();
        report
    }

    /// The report that was to be stored was one too many.
    pub(super) fn left_out(&self, lease: &str) {
        if let Some(call) = self.0.lock().get_mut(lease) {
            call.left_out += 1;
        }
    }

    /// Nothing more is stored of this call; how many reports were left out.
    pub(super) fn end(&self, lease: &str) -> u64 {
        self.0.lock().remove(lease).map_or(0, |call| call.left_out + u64::from(call.newest.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(sequence: u64) -> ToolProgress {
        serde_json::from_value(serde_json::json!({
            "progress_id": "p", "invocation_id": "inv_1", "sequence": sequence, "status": "running",
            "timestamp": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn the_newest_report_counts_and_the_others_are_counted() {
        let news = News::default();
        assert!(news.put("a", report(1)), "nobody is at it");
        assert_eq!(news.next("a").map(|report| report.sequence), Some(1));
        // While that one is being stored.
        for sequence in 2..=5 {
            assert!(!news.put("a", report(sequence)));
        }
        assert!(news.put("b", report(1)), "another call's");
        assert_eq!(news.next("a").map(|report| report.sequence), Some(5));
        assert_eq!(news.next("a"), None);
        assert!(news.put("a", report(6)), "nobody is at it any more");
        news.left_out("a");
        assert_eq!((news.end("a"), news.end("a"), news.end("b")), (5, 0, 1));
        assert!(news.0.lock().is_empty());
    }
}
