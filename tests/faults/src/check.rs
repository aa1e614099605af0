//! The checker: from a history to what was wrong with it. It knows nothing of the cluster's code, only its promises.
//!
//! Each check has an id and is a pure function over the history. A check that finds nothing in a history of mutants is
//! broken; the mutant runs and the hand-written bad histories of the tests keep it honest. A history may hold several hundred
//! thousand calls: what a check asks of each of them is looked up, never searched for.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{Answer, Effect, FinalBatch, FinalCall, History, Plan, Record};

mod accounting;
mod automaton;
mod effects;
mod ends;
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

use faults::Faults;

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

/// A history, sorted by what it is about.
#[derive(Debug, Default)]
pub(crate) struct Facts<'a> {
    /// What was planned, by key.
    pub(crate) plans: BTreeMap<&'a str, &'a Plan>,
    /// Answers by key, in order.
    pub(crate) answers: BTreeMap<&'a str, Vec<&'a Answer>>,
    /// Calls at the end, by id.
    pub(crate) calls: BTreeMap<&'a str, &'a FinalCall>,
    /// The ids of the calls that exist at the end, by the key they were asked for with.
    pub(crate) by_key: BTreeMap<&'a str, Vec<&'a str>>,
    /// Accepted calls that were asked for at the end and were not there.
    pub(crate) missing: BTreeSet<&'a str>,
    /// Batches at the end.
    pub(crate) batches: Vec<&'a FinalBatch>,
    /// What tools wrote, by call.
    pub(crate) effects: BTreeMap<&'a str, Vec<&'a Effect>>,
    /// Everything that was broken.
    pub(crate) faults: Faults<'a>,
    /// All of it.
    pub(crate) history: Option<&'a History>,
}

impl<'a> Facts<'a> {
    fn of(history: &'a History) -> Self {
        let mut facts = Self { history: Some(history), ..Self::default() };
        let mut faults = Vec::new();
        for record in history.records() {
            match record {
                Record::Planned(plan) => drop(facts.plans.insert(&plan.key, plan)),
                Record::Submit { key, answer } => facts.answers.entry(key).or_default().push(answer),
                Record::Call(call) => drop(facts.calls.insert(&call.invocation, call)),
                Record::Batch(batch) => facts.batches.push(batch),
                Record::Ledger(effect) => facts.effects.entry(&effect.invocation).or_default().push(effect),
                Record::Fault(fault) => faults.push(fault),
                Record::Missing { invocation } => drop(facts.missing.insert(invocation)),
                _ => {}
            }
        }
        for call in facts.calls.values() {
            facts.by_key.entry(&call.key).or_default().push(&call.invocation);
        }
        facts.faults = Faults::of(faults);
        facts
    }

    /// Everything that was recorded, in order.
    pub(crate) fn records(&self) -> impl Iterator<Item = &'a Record> {
        self.history.into_iter().flat_map(History::records)
    }

    /// The plan behind a call, where there is one.
    pub(crate) fn plan(&self, call: &FinalCall) -> Option<&'a Plan> {
        self.plans.get(call.key.as_str()).copied()
    }

    /// The ids a key was answered with.
    pub(crate) fn accepted(&self, key: &str) -> BTreeSet<&'a str> {
        let answers = self.answers.get(key).into_iter().flatten();
        answers
            .filter_map(|answer| match answer {
                Answer::Accepted { invocation, .. } => Some(invocation.as_str()),
                _ => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
