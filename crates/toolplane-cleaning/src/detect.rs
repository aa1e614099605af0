//! What is found by its form: a table of patterns for each class, and a check where a pattern says too little.

mod credentials;
mod heads;
mod instructions;
mod key_block;
mod markup;
mod numbers;
mod personal;
mod secret_name;
mod secret_value;
mod table;
mod vendors;

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{CaptureLocations, Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use crate::cleaner::REPLACEMENT;
use crate::invisible;
use crate::policy::{Class, CleaningPolicy, Treatment};

pub(crate) use key_block::open_block;
pub(crate) use table::{Head, head_after};

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
    /// Where the group begins in a match that ends with it; patterns that are met often say so, because to ask the pattern takes most of the
    /// time.
    pub(crate) value_at: Option<fn(&[u8]) -> usize>,
}

impl Rule {
    const fn new(name: &'static str, pattern: &'static str) -> Self {
        Self { name, pattern, check: |_| true, before: |_| true, instead: None, value_at: None }
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

/// What one policy asks for.
#[derive(Debug)]
pub(crate) struct Detector {
    policy: CleaningPolicy,
    /// The rules of its classes; made when the first text is looked at.
    rules: &'static OnceLock<RuleSet>,
}

/// The rules of some classes. Patterns say nothing of treatments, so all policies of a process share them.
#[derive(Debug)]
struct RuleSet {
    /// Which rules have to be looked at: one pass over a text, whatever their number.
    set: RegexSet,
    rules: Vec<&'static Ready>,
    /// Whether each of them needs one of the heads of credentials. Sentences to models and markup have none.
    credentials_alone: bool,
}

#[derive(Debug)]
struct Ready {
    rule: &'static Rule,
    class: Class,
    regex: Regex,
    group: usize,
}

/// The rules of each class, once they were needed.
static READY: [OnceLock<Vec<Ready>>; Class::ALL.len()] = [const { OnceLock::new() }; Class::ALL.len()];
/// The rules of several classes; each class has a bit of the index.
static SETS: [OnceLock<RuleSet>; 1 << Class::ALL.len()] = [const { OnceLock::new() }; 1 << Class::ALL.len()];

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

/// The class a rule is of, by its name; nothing of what is no rule.
pub fn class_of(rule: &str) -> Option<Class> {
    let special = match rule {
        key_block::NAME | table::NAME => Some(Class::Credentials),
        _ => invisible::RULES.contains(&rule).then_some(Class::Invisible),
    };
    special.or_else(|| Class::ALL.into_iter().find(|class| rules(*class).any(|known| known.name == rule)))
}

fn rules(class: Class) -> impl Iterator<Item = &'static Rule> {
    tables(class).iter().copied().flatten()
}

impl Detector {
    /// What `policy` asks for. Nothing is made yet.
    pub(crate) fn new(policy: &CleaningPolicy) -> Self {
        let bits = Class::ALL.iter().enumerate().filter(|(_, class)| policy.looks_for(**class));
        let index = bits.fold(0, |index, (bit, _)| index | 1 << bit);
        Self { policy: policy.clone(), rules: &SETS[index] }
    }

    /// Whether nothing in `text` can be a credential, whatever a part of it is taken for, and nothing else is looked for.
    pub(crate) fn finds_nothing(&self, text: &[u8]) -> bool {
        let rules = self.rules.get_or_init(|| RuleSet::of(&self.policy));
        let visible = !self.policy.looks_for(Class::Invisible);
        rules.credentials_alone && visible && !heads::any(text) && !heads::any_name(text)
    }

    /// Every place in `text` that is found by its form, in order, none in another. A line begins at `from`, below the head of a table if
    /// there is one.
    pub(crate) fn find(&self, text: &[u8], from: usize, head: Option<&Head>) -> Vec<Span> {
        let mut spans = Vec::new();
        let RuleSet { set, rules, credentials_alone } = self.rules.get_or_init(|| RuleSet::of(&self.policy));
        let mut covered = Covered::default();
        let looked = (!credentials_alone || heads::any(text)).then(|| set.matches(text));
        // Of most texts nothing is to be looked at, which is told at once.
        for index in looked.iter().filter(|looked| looked.matched_any()).flatten() {
            let (rule, before) = (rules[index], spans.len());
            let treatment = self.policy.of_rule(rule.class, rule.rule.name);
            if treatment == Treatment::Keep {
                continue;
            }
            rule.find(text, treatment, &covered, &mut spans);
            covered.add(&spans[before..]);
        }
        let class = Class::Credentials;
        let of = |rule| Some(self.policy.of_rule(class, rule)).filter(|treatment| *treatment != Treatment::Keep);
        if let Some(treatment) = of(key_block::NAME) {
            let span = |range| Span { range, class, treatment, rule: key_block::NAME, instead: None };
            spans.extend(key_block::find(text).map(span));
        }
        if let Some(treatment) = of(table::NAME) {
            let span = |range| Span { range, class, treatment, rule: table::NAME, instead: None };
            spans.extend(table::find(text, from, head).into_iter().map(span));
        }
        spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
        merged(spans)
    }
}

impl RuleSet {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles each of them")]
    fn of(policy: &CleaningPolicy) -> Self {
        let wanted = Class::ALL.into_iter().enumerate().filter(|(_, class)| policy.looks_for(*class));
        let of_class = |(index, class): (usize, Class)| {
            READY[index].get_or_init(|| rules(class).map(|rule| Ready::new(class, rule)).collect())
        };
        let rules: Vec<&'static Ready> = wanted.flat_map(of_class).collect();
        let patterns = rules.iter().map(|ready| ready.rule.pattern);
        let set = RegexSetBuilder::new(patterns).dfa_size_limit(16 << 20).build().expect("patterns of tables");
        let credentials_alone = rules.iter().all(|ready| ready.class == Class::Credentials);
        Self { set, rules, credentials_alone }
    }
}

/// What earlier rules have found in a text and is replaced: in order, none in another.
#[derive(Debug, Default)]
struct Covered(Vec<Range<usize>>);

/// Asks for ever later places.
struct CoveredReader<'a> {
    ranges: &'a [Range<usize>],
    at: usize,
}

impl Covered {
    /// Adds what one rule has found.
    fn add(&mut self, found: &[Span]) {
        let before = self.0.len();
        let masked = found.iter().filter(|span| span.treatment.replaces());
        self.0.extend(masked.map(|span| span.range.clone()));
        if before == 0 || before == self.0.len() {
            return;
        }
        self.0.sort_by_key(|range| range.start);
        self.0.dedup_by(|later, earlier| {
            let joins = later.start < earlier.end;
            earlier.end = if joins { earlier.end.max(later.end) } else { earlier.end };
            joins
        });
    }

    fn reader(&self) -> CoveredReader<'_> {
        CoveredReader { ranges: &self.0, at: 0 }
    }
}

impl CoveredReader<'_> {
    /// Whether `value` lies within something that is found already.
    fn has(&mut self, value: Range<usize>) -> bool {
        while self.ranges.get(self.at).is_some_and(|range| range.end < value.end) {
            self.at += 1;
        }
        self.ranges.get(self.at).is_some_and(|range| range.start <= value.start && value.end <= range.end)
    }
}

/// Spans in order, those that overlap in one: a part of a credential is none to be shown. What is only marked stands beside what is replaced.
fn merged(spans: Vec<Span>) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        let alike = |earlier: &&mut Span| {
            earlier.treatment == span.treatment || earlier.treatment.replaces() && span.treatment.replaces()
        };
        let same = merged.iter_mut().rev().find(alike);
        match same.filter(|earlier| span.range.start < earlier.range.end) {
            Some(earlier) => {
                earlier.range.end = earlier.range.end.max(span.range.end);
                earlier.treatment = earlier.treatment.max(span.treatment);
            }
            None => merged.push(span),
        }
    }
    merged
}

impl Ready {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles each of them")]
    fn new(class: Class, rule: &'static Rule) -> Self {
        let regex = RegexBuilder::new(rule.pattern).build().expect("a pattern of a table");
        let group = regex.capture_names().position(|name| name == Some("v")).unwrap_or(0);
        Self { rule, class, regex, group }
    }

    /// Where the value of a match is.
    fn value(&self, text: &[u8], whole: Range<usize>, places: &mut CaptureLocations) -> Option<(usize, usize)> {
        if let Some(value_at) = self.rule.value_at {
            return Some((whole.start + value_at(&text[whole.clone()]), whole.end));
        }
        self.regex.captures_read_at(places, text, whole.start)?;
        places.get(self.group)
    }

    fn find(&self, text: &[u8], treatment: Treatment, covered: &Covered, spans: &mut Vec<Span>) {
        let (mut at, mut places, mut covered) = (0, self.regex.capture_locations(), covered.reader());
        while at <= text.len() {
            // Where a match is costs little; where its value begins costs most of the time.
            let Some(whole) = self.regex.find_at(text, at) else { return };
            at = whole.end().max(at + 1);
            // A pattern without its group is one whose group is not part of it: nothing is found.
            let Some((start, end)) = self.value(text, whole.range(), &mut places) else { continue };
            let value = &text[start..end];
            // What only stands around it may stand around the next one too.
            at = at.min(end.max(whole.start() + 1));
            if covered.has(start..end) {
                continue;
            }
            // What stands in the place of something is nothing to be found.
            let clean = value.starts_with(REPLACEMENT.as_bytes());
            if !clean && (self.rule.check)(value) && (self.rule.before)(&text[..whole.start()]) {
                let Self { rule, class, .. } = self;
                spans.push(Span {
                    range: start..end,
                    class: *class,
                    treatment,
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
        assert!(!names.contains(key_block::NAME) && !names.contains(table::NAME));
    }

    /// Where a rule says itself where its value begins, its pattern says the same.
    #[test]
    fn a_value_begins_where_its_group_does() {
        let corpus = include_str!("../tests/it/corpus/credentials.tsv");
        let mut compared = 0;
        for rule in rules(Class::Credentials).filter(|rule| rule.value_at.is_some()) {
            let (ready, plain) = (Ready::new(Class::Credentials, rule), Regex::new(rule.pattern).unwrap());
            for line in corpus.lines() {
                let text = line.replace(r#"\""#, "\"").replace(r"\n", "\n").into_bytes();
                for found in plain.captures_iter(&text) {
                    let said = ready.value(&text, found.get(0).unwrap().range(), &mut plain.capture_locations());
                    let group = found.name("v").unwrap();
                    assert_eq!(said, Some((group.start(), group.end())), "{}: {line}", rule.name);
                    compared += 1;
                }
            }
        }
        assert!(compared > 30, "{compared}");
    }
}
