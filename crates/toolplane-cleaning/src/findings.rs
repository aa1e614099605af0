//! What was found, as far as it may be told: names and numbers, never the text.

use std::collections::BTreeMap;

use crate::policy::{Class, Treatment};

/// What was found in one output or in several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// In how many places. What one rule finds may be treated differently where it lies in what another one finds.
    places: BTreeMap<(Class, &'static str, Treatment), u64>,
}

impl Findings {
    pub(crate) fn add(&mut self, class: Class, rule: &'static str, treatment: Treatment) {
        *self.places.entry((class, rule, treatment)).or_default() += 1;
    }

    /// Adds what was found elsewhere.
    pub fn merge(&mut self, other: &Self) {
        for (found, more) in &other.places {
            *self.places.entry(*found).or_default() += more;
        }
    }

    /// Takes note of what was found in the same output in another form: each thing once.
    pub fn cover(&mut self, same: &Self) {
        for (found, places) in &same.places {
            let known = self.places.entry(*found).or_default();
            *known = (*known).max(*places);
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Each rule that found something, with its class, what is done about it, and how often it did; twice where that is not the same everywhere.
    pub fn iter(&self) -> impl Iterator<Item = (Class, &'static str, Treatment, u64)> {
        self.places.iter().map(|((class, rule, treatment), places)| (*class, *rule, *treatment, *places))
    }

    /// How many places were replaced.
    pub fn masked(&self) -> u64 {
        self.iter().filter(|(_, _, treatment, _)| treatment.replaces()).map(|(.., count)| count).sum()
    }

    /// The first rule for which the output is shown as a preview alone.
    pub fn by_reference(&self) -> Option<&'static str> {
        self.with(Treatment::Reference).map(|(_, rule, ..)| rule).next()
    }

    /// The first rule that has the whole output dropped.
    pub fn dropped_for(&self) -> Option<&'static str> {
        self.with(Treatment::Drop).map(|(_, rule, ..)| rule).next()
    }

    fn with(&self, treatment: Treatment) -> impl Iterator<Item = (Class, &'static str, Treatment, u64)> {
        self.iter().filter(move |(_, _, found, _)| *found == treatment)
    }
}

/// Whether what is found by a rule of this class taints what it was found in: text that means to be obeyed, and what hides text. Nobody writes that by mistake, as they
/// do a control character or a place where a long word may be broken.
pub fn taints(class: Class, rule: &str) -> bool {
    match class {
        Class::Credentials | Class::Personal => false,
        Class::Invisible => ![crate::invisible::CONTROL, crate::invisible::ZERO_WIDTH].contains(&rule),
        Class::Instructions | Class::Markup => true,
    }
}
