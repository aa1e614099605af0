//! The outcome of a scenario.

use crate::check::{Check, Verdict, Violation};
use crate::history::History;
use std::time::Duration;

/// The outcome of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The checker's word, and the scenario's own.
    pub verdict: Verdict,
    /// Processes that were killed.
    pub kills: u64,
    /// Calls asked for.
    pub asked: u64,
    /// How long the work took.
    pub took: Duration,
    /// What was recorded.
    pub history: History,
}

impl Outcome {
    /// Adds something that is wrong and that only the scenario itself can know, unless `holds`.
    pub(crate) fn expect(&mut self, holds: bool, check: Check, text: impl FnOnce() -> String) {
        if !holds {
            self.verdict.violations.push(Violation { check, text: text() });
        }
    }
}

/// Adds something that is wrong and that only the scenario itself can know.
pub(crate) fn wrong(verdict: &mut Verdict, check: Check, text: impl Into<String>) {
    verdict.violations.push(Violation { check, text: text.into() });
}
