//! What a check found.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A check, by the name it has in the test plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Check {
    /// Every accepted call is there, ended, and there is no other.
    C1,
    /// A result never changes.
    C2,
    /// Every change of status is legal, every log gapless.
    C3,
    /// Effects happen as often as promised.
    C4,
    /// Nothing under an old lease is taken.
    C5,
    /// Locks exclude, in the order of their tickets.
    C6,
    /// Results of a batch are handed out in order, progress before the end.
    C7,
    /// A watcher sees everything once.
    C8,
    /// After the last repair everything goes on.
    C9,
    /// Nothing is left behind.
    C11,
    /// A refusal says when to come again, and leaves nothing.
    C12,
    /// Every band and tenant gets a fair share.
    C13,
    /// What a result refers to is there.
    C14,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One broken promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Which.
    pub check: Check,
    /// What happened, in words.
    pub text: String,
}

/// The outcome of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Everything that was wrong.
    pub violations: Vec<Violation>,
    /// Calls that were accepted.
    pub invocations: u64,
    /// Accepted calls that are not there, or never ended.
    pub lost: u64,
    /// Calls with more than one end.
    pub double_terminal: u64,
    /// Calls that must not run twice and did.
    pub double_start: u64,
    /// Reports or writes under an old lease that were taken.
    pub stale_accepted: u64,
    /// Entries left behind.
    pub leaks: u64,
    /// Unknown outcomes that a fault explains.
    pub unknown_expected: u64,
    /// Unknown outcomes without a reason.
    pub unknown_unexpected: u64,
    /// Refusals for want of room.
    pub refusals: u64,
    /// Calls by how they ended: a status, with the error's code.
    pub ends: BTreeMap<String, u64>,
    /// How long calls took to go on after a fault hit them, sorted, in milliseconds.
    pub recoveries_ms: Vec<u64>,
}

impl Verdict {
    /// Nothing is wrong.
    pub fn is_green(&self) -> bool {
        self.violations.is_empty()
    }

    /// Notes something that is wrong.
    pub(crate) fn red(&mut self, check: Check, text: impl Into<String>) {
        self.violations.push(Violation { check, text: text.into() });
    }

    /// The checks that found something.
    pub fn red_checks(&self) -> Vec<Check> {
        let mut checks: Vec<_> = self.violations.iter().map(|violation| violation.check).collect();
        checks.sort_unstable();
        checks.dedup();
        checks
    }

    /// How long recovery took at most for this share of the calls that were hit, in milliseconds; 0 when none was.
    pub fn recovery_ms(&self, percent: usize) -> u64 {
        let last = self.recoveries_ms.len().saturating_sub(1);
        self.recoveries_ms.get(last * percent.min(100) / 100).copied().unwrap_or_default()
    }

    /// The first violations as lines of text.
    pub fn shown(&self, most: usize) -> String {
        let lines: Vec<_> = self
            .violations
            .iter()
            .take(most)
            .map(|violation| format!("{}: {}", violation.check, violation.text))
            .collect();
        let more = self.violations.len().saturating_sub(most);
        let rest = if more > 0 { format!("\n... and {more} more") } else { String::new() };
        lines.join("\n") + &rest
    }

    /// Adds the outcome of another part of the run.
    pub fn add(&mut self, other: Self) {
        self.violations.extend(other.violations);
        self.invocations += other.invocations;
        self.lost += other.lost;
        self.double_terminal += other.double_terminal;
        self.double_start += other.double_start;
        self.stale_accepted += other.stale_accepted;
        self.leaks += other.leaks;
        self.unknown_expected += other.unknown_expected;
        self.unknown_unexpected += other.unknown_unexpected;
        self.refusals += other.refusals;
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        self.recoveries_ms.extend(other.recoveries_ms);
        self.recoveries_ms.sort_unstable();
    }
}
