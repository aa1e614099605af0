//! What is done to a cluster, and what must come of it.

use std::time::Duration;

mod approvals;
mod cases;
mod chance;
mod executor_points;
mod fair;
mod links;
mod mutants;
mod pauses;
pub mod points;
mod poison;
mod races;
mod store_faults;
pub mod storm;
mod under_load;
mod watching;

pub use cases::{CASES, Case};
pub use executor_points::executor_points;
pub use mutants::{killed, mutants};

pub(crate) use chance::Chance;
pub(crate) use under_load::{Work, under_load};

use crate::check::{Check, Verdict, Violation};
use crate::history::History;

/// What a scenario came to.
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
