//! A history, sorted by what it is about.

use super::faults::Faults;
use crate::history::{Answer, Effect, FinalBatch, FinalCall, History, Plan, Record};
use std::collections::{BTreeMap, BTreeSet};

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
    pub(super) fn of(history: &'a History) -> Self {
        let mut facts = Self { history: Some(history), ..Self::default() };
        let mut faults = Vec::new();
        for record in history.records() {
            match record {
                Record::Planned(plan) => drop(facts.plans.insert(&plan.key, plan)),
                Record::Submit { key, answer } => facts.answers.entry(key).or_default().push(answer),
                Record::Call(call) => drop(facts.calls.insert(&call.name.invocation, call)),
                Record::Batch(batch) => facts.batches.push(batch),
                Record::Ledger(effect) => facts.effects.entry(&effect.invocation).or_default().push(effect),
                Record::Fault(fault) => faults.push(fault),
                Record::Missing { invocation } => drop(facts.missing.insert(invocation)),
                _ => {}
            }
        }
        for call in facts.calls.values() {
            facts.by_key.entry(&call.name.key).or_default().push(&call.name.invocation);
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
        self.plans.get(call.name.key.as_str()).copied()
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
