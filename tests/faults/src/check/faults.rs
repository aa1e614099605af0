//! What was broken, when: answered from sorted lists, so that asking once for every call costs no pass over every fault.

use std::collections::BTreeMap;

use crate::history::Fault;

/// How long schedulers or their store are away, at least, when a worker doubts a lease of 1.5 s: 11/15 of it, less the
/// time since the last renewal.
const DOUBT_MS: u64 = 750;

/// Every fault of a run.
#[derive(Debug, Default)]
pub(crate) struct Faults<'a> {
    all: BTreeMap<&'a str, Spans>,
    /// Those that halted their target without ending it.
    stops: BTreeMap<&'a str, Spans>,
    /// Those that kept the task that renews leases away for so long that a worker doubts its lease.
    unrenewed: Spans,
}

impl<'a> Faults<'a> {
    pub(super) fn of(faults: impl IntoIterator<Item = &'a Fault>) -> Self {
        let mut sorted: Vec<_> = faults.into_iter().collect();
        sorted.sort_by_key(|fault| fault.from_ms);
        let mut found = Self::default();
        for fault in sorted {
            found.all.entry(&fault.target).or_default().push(fault);
            if fault.verb == "stop" {
                found.stops.entry(&fault.target).or_default().push(fault);
            }
            let renews = fault.target.starts_with("scheduler") || fault.target == "store";
            if renews && fault.until_ms.saturating_sub(fault.from_ms) >= DOUBT_MS {
                found.unrenewed.push(fault);
            }
        }
        found
    }

    /// Whether something was broken at `target` between two instants.
    pub(super) fn broken(&self, target: &str, from_ms: u64, until_ms: u64) -> bool {
        self.all.get(target).is_some_and(|spans| spans.touch(from_ms, until_ms))
    }

    /// Whether `target` was halted, and not killed, between two instants.
    pub(super) fn stopped(&self, target: &str, from_ms: u64, until_ms: u64) -> bool {
        self.stops.get(target).is_some_and(|spans| spans.touch(from_ms, until_ms))
    }

    /// Whether those that renew leases were away, between two instants, for so long that a lease came into doubt.
    pub(super) fn nobody_renewed(&self, from_ms: u64, until_ms: u64) -> bool {
        self.unrenewed.touch(from_ms, until_ms)
    }

    /// When the first fault at `target` between two instants began.
    pub(super) fn first_begun(&self, target: &str, from_ms: u64, until_ms: u64) -> Option<u64> {
        self.all.get(target)?.first_begun(from_ms).filter(|begun| *begun <= until_ms)
    }
}

/// Stretches of time, in the order of their beginnings.
#[derive(Debug, Default)]
struct Spans {
    /// Beginning, and the latest end of this stretch and all before it.
    spans: Vec<(u64, u64)>,
}

impl Spans {
    /// Adds a stretch that begins no earlier than those that are there.
    fn push(&mut self, fault: &Fault) {
        let latest = self.spans.last().map_or(0, |(_, latest)| *latest);
        self.spans.push((fault.from_ms, fault.until_ms.max(latest)));
    }

    /// Whether a stretch has an instant in common with this one, ends included.
    fn touch(&self, from_ms: u64, until_ms: u64) -> bool {
        let begun = self.spans.partition_point(|(from, _)| *from <= until_ms);
        begun > 0 && self.spans[begun - 1].1 >= from_ms
    }

    fn first_begun(&self, from_ms: u64) -> Option<u64> {
        self.spans.get(self.spans.partition_point(|(from, _)| *from < from_ms)).map(|(from, _)| *from)
    }
}
