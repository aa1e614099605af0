//! What is found by its form: a table of patterns for each class, and a check where a pattern says too little.

mod credentials;
mod instructions;
mod key_block;
mod markup;
mod numbers;
mod personal;
mod secret_name;
mod secret_value;
mod vendors;

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::cleaner::REPLACEMENT;
use crate::policy::{Class, CleaningPolicy, Treatment};

pub(crate) use key_block::open_block;

/// One way to know something by its form.
#[derive(Debug)]
pub(crate) struct Rule {
    /// What it finds, as records and metrics name it.
    pub(crate) name: &'static str,
    /// A pattern. Where it has a group `v`, that is what is found, and the rest only stands around it.
    pub(crate) pattern: &'static str,
    /// Whether what is found is one, beyond its form.
    pub(crate) check: fn(&[u8]) -> bool,
    /// Whether it may be one after what stands before the whole of it.
    pub(crate) before: fn(&[u8]) -> bool,
    /// What stands in its place; the name in brackets where there is nothing better.
    pub(crate) instead: Option<&'static str>,
}

impl Rule {
    const fn new(name: &'static str, pattern: &'static str) -> Self {
        Self { name, pattern, check: |_| true, before: |_| true, instead: None }
    }

    const fn checked(name: &'static str, pattern: &'static str, check: fn(&[u8]) -> bool) -> Self {
        Self { check, ..Self::new(name, pattern) }
    }
}

/// A place in a text, and the rule by which it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) class: Class,
    pub(crate) treatment: Treatment,
    pub(crate) rule: &'static str,
    pub(crate) instead: Option<&'static str>,
}

/// The rules that one policy asks for, ready to be used.
#[derive(Debug)]
pub(crate) struct Detector {
    /// Which rules have to be looked at: one pass over a text, whatever their number.
    set: RegexSet,
    rules: Vec<Ready>,
    /// What is done about blocks of private keys, which are no pattern.
    key_blocks: Option<Treatment>,
}

#[derive(Debug)]
struct Ready {
    rule: &'static Rule,
    class: Class,
    treatment: Treatment,
    regex: Regex,
    group: usize,
}

/// The rules of each class.
fn tables(class: Class) -> &'static [&'static [Rule]] {
    match class {
        Class::Credentials => &[vendors::RULES, credentials::RULES],
        Class::Personal => &[personal::RULES],
        Class::Instructions => &[instructions::ENGLISH, instructions::CHINESE],
        Class::Markup => &[markup::RULES],
        // Found character by character.
        Class::Invisible => &[],
    }
}

fn rules(class: Class) -> impl Iterator<Item = &'static Rule> {
    tables(class).iter().copied().flatten()
}

impl Detector {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles each of them")]
    pub(crate) fn new(policy: &CleaningPolicy) -> Self {
        let wanted = Class::ALL.into_iter().filter(|class| policy.of(*class) != Treatment::Keep);
        let rules = wanted.flat_map(|class| rules(class).map(move |rule| (class, rule)));
        let rules: Vec<Ready> = rules
            .map(|(class, rule)| {
                let regex = RegexBuilder::new(rule.pattern).build().expect("a pattern of a table");
                let group = regex.capture_names().position(|name| name == Some("v")).unwrap_or(0);
                Ready { rule, class, treatment: policy.of(class), regex, group }
            })
            .collect();
        let patterns = rules.iter().map(|ready| ready.rule.pattern);
        let set = RegexSetBuilder::new(patterns).dfa_size_limit(16 << 20).build().expect("patterns of tables");
        let key_blocks = Some(policy.credentials).filter(|treatment| *treatment != Treatment::Keep);
        Self { set, rules, key_blocks }
    }

    /// Every place in `text` that is found by its form, in order, none in another.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<Span> {
        let mut spans = Vec::new();
        for index in self.set.matches(text) {
            self.rules[index].find(text, &mut spans);
        }
        if let Some(treatment) = self.key_blocks {
            let (class, rule) = (Class::Credentials, key_block::NAME);
            spans.extend(key_block::find(text).map(|range| Span { range, class, treatment, rule, instead: None }));
        }
        spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
        merged(spans)
    }
}

/// Spans in order, those that overlap in one: a part of a credential is none to be shown. What is only marked stands beside what is replaced.
fn merged(spans: Vec<Span>) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        let same = merged.iter_mut().rev().find(|earlier| earlier.treatment == span.treatment);
        match same.filter(|earlier| span.range.start < earlier.range.end) {
            Some(earlier) => earlier.range.end = earlier.range.end.max(span.range.end),
            None => merged.push(span),
        }
    }
    merged
}

impl Ready {
    fn find(&self, text: &[u8], spans: &mut Vec<Span>) {
        let mut at = 0;
        while at <= text.len() {
            let Some(found) = self.regex.captures_at(text, at) else { return };
            // A pattern without its group is one whose group is not part of it: nothing is found.
            let Some(whole) = found.get(0) else { return };
            at = whole.end().max(at + 1);
            let Some(value) = found.get(self.group) else { continue };
            // What only stands around it may stand around the next one too.
            at = at.min(value.end().max(whole.start() + 1));
            // What stands in the place of something is nothing to be found.
            let clean = value.as_bytes().starts_with(REPLACEMENT.as_bytes());
            if !clean && (self.rule.check)(value.as_bytes()) && (self.rule.before)(&text[..whole.start()]) {
                let Self { rule, class, treatment, .. } = self;
                spans.push(Span {
                    range: value.range(),
                    class: *class,
                    treatment: *treatment,
                    rule: rule.name,
                    instead: rule.instead,
                });
            }
        }
    }
}

/// What a member with a telling key is found by.
pub(crate) const MEMBER: &str = "named_secret";

/// Whether a member is a credential by its key, as far as its value may be one.
pub(crate) fn is_secret_member(key: &str, value: &str) -> bool {
    credentials::is_secret_member(key, value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_pattern_is_one_and_every_name_is_used_once() {
        let mut names = BTreeSet::new();
        for class in Class::ALL {
            for rule in rules(class) {
                let regex = Regex::new(rule.pattern).unwrap_or_else(|error| panic!("{}: {error}", rule.name));
                assert!(!regex.is_match(b""), "{}", rule.name);
                assert!(names.insert(rule.name), "{} is there twice", rule.name);
            }
        }
        assert!(!names.contains(key_block::NAME));
    }
}
