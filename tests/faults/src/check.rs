//! The checker: from a history to what was wrong with it. It knows nothing of the cluster's code, only its promises.
//!
//! Each check has an id and is a pure function over the history. A check that finds nothing in a history of mutants is
//! broken; the mutant runs and the hand-written bad histories of the tests keep it honest. A history may hold several hundred
//! thousand calls: what a check asks of each of them is looked up, never searched for.

use crate::history::History;

mod accounting;
mod automaton;
mod effects;
mod ends;
mod facts;
mod fairness;
mod faults;
mod fences;
mod leaks;
mod liveness;
mod locks;
mod order;
mod refusals;
mod verdict;
mod watch;

pub use fairness::{Claim, WEIGHTS};
pub use verdict::{Check, Verdict, Violation};

/// Judges a whole run.
pub fn judge(history: &History) -> Verdict {
    let facts = Facts::of(history);
    let mut verdict = Verdict::default();
    accounting::check(&facts, &mut verdict);
    ends::check(&facts, &mut verdict);
    automaton::check(&facts, &mut verdict);
    effects::check(&facts, &mut verdict);
    fences::check(&facts, &mut verdict);
    locks::check(&facts, &mut verdict);
    order::check(&facts, &mut verdict);
    watch::check(&facts, &mut verdict);
    liveness::check(&facts, &mut verdict);
    leaks::check(&facts, &mut verdict);
    refusals::check(&facts, &mut verdict);
    verdict
}

/// Judges in which order waiting calls were claimed; see `check/fairness.rs`.
pub fn judge_fairness(claims: &[Claim]) -> Verdict {
    let mut verdict = Verdict::default();
    fairness::check(claims, &mut verdict);
    verdict
}

#[cfg(test)]
mod tests;

pub(crate) use facts::Facts;
