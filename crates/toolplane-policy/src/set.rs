//! The rules in force, ready to be found by what a call is.

mod index;
mod keys;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use toolplane_records::error::FieldViolation;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::RuleSource;

use self::index::RuleIndex;
use crate::looked_at::LookedAt;
use crate::rule::Rule;
use crate::scene::Scene;

/// Most rules of one set.
pub const MAX_RULES: usize = 100_000;
/// Most faults that are named; the first ones are.
pub const MAX_FAULTS: usize = 1000;
/// Version of what the digest is made over.
const DIGEST_VERSION: u32 = 1;

/// Rules, never changed in place: other rules are another set with another digest.
///
/// The order rules are given in decides nothing. Of several that would decide alike, the first by source (policy settings
/// first) and then by id is named.
#[derive(Clone, Debug)]
pub struct RuleSet {
    rules: Vec<Rule>,
    index: RuleIndex,
    /// Positions of the denies of [`RuleSet::path_denies`].
    path_denies: Vec<u32>,
    looked_at: LookedAt,
    digest: Digest,
}

impl RuleSet {
    /// Checks rules and builds their set; see [`Rule::from_record`] for what is refused.
    ///
    /// One wrong rule refuses the whole set: a deny rule that is skipped is a hole. Every fault is named by its place, e.g.
    /// `rules[3].matcher`, at most [`MAX_FAULTS`] of them.
    pub fn build(records: &[PermissionRule]) -> Result<Self, Vec<FieldViolation>> {
        let violation = |field: String, description: String| FieldViolation { field, description };
        if records.len() > MAX_RULES {
            let description = format!("has {} entries; at most {MAX_RULES} are allowed", records.len());
            return Err(vec![violation("rules".to_owned(), description)]);
        }
        let mut faults = Vec::new();
        let mut rules = Vec::with_capacity(records.len());
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (index, record) in records.iter().enumerate() {
            if let Some(first) = seen.insert(&record.rule_id, index) {
                let description = format!("`{}` is also the name of rules[{first}]", record.rule_id);
                faults.push(violation(format!("rules[{index}].rule_id"), description));
            }
            match Rule::from_record(record) {
                Ok(rule) => rules.push(rule),
                Err(found) => faults.extend(
                    found
                        .into_iter()
                        .map(|fault| violation(format!("rules[{index}].{}", fault.field), fault.description)),
                ),
            }
            if faults.len() >= MAX_FAULTS {
                break;
            }
        }
        faults.truncate(MAX_FAULTS);
        if faults.is_empty() { Ok(Self::of(rules)) } else { Err(faults) }
    }

    /// The set of checked rules. Their ids must differ.
    pub fn of(mut rules: Vec<Rule>) -> Self {
        rules.sort_by(|left, right| {
            (precedence(left.source()), left.id()).cmp(&(precedence(right.source()), right.id()))
        });
        let records: Vec<&PermissionRule> = rules.iter().map(Rule::record).collect();
        let digest = JsonPayload::of(&("rules", DIGEST_VERSION, &records)).digest();
        let path_denies = (0u32..).zip(&rules).filter(|(_, rule)| rule.denies_paths()).map(|(at, _)| at).collect();
        let looked_at = looked_at(&rules);
        Self { index: RuleIndex::of(&rules), path_denies, looked_at, rules, digest }
    }

    /// The rules, by source and id.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule of that name.
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id() == id)
    }

    /// SHA-256 over everything the rules say: equal digests mean equal decisions for equal facts at equal times.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// When the next rule goes out of force: decisions may change then, though the digest does not.
    pub fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        self.rules.iter().filter_map(|rule| rule.record().expires_at).filter(|end| *end > now).min()
    }

    /// What is looked at of every call, whichever rules are about it.
    pub(crate) fn looked_at(&self) -> LookedAt {
        self.looked_at
    }

    /// The rules that deny every call of some tools, in order: they look at no more of it than its tool and its tenant. Whatever else
    /// there is, none of them is let through.
    pub fn denied_outright(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| rule.denies_outright())
    }

    /// The denies about some of the files that file tools read or edit, in order.
    pub(crate) fn path_denies(&self) -> impl Iterator<Item = &Rule> {
        self.path_denies.iter().filter_map(|position| self.rules.get(*position as usize))
    }

    /// The rules that can be about a call, in order: all that fit or may fit are among them, and few others. With each of them
    /// comes whether its pattern is one of [`UnlistedPrograms`](toolplane_matching::target::UnlistedPrograms).
    pub(crate) fn candidates(&self, scene: &Scene<'_>) -> impl Iterator<Item = (&Rule, bool)> {
        let found = self.index.candidates(scene).into_iter();
        found.filter_map(|found| Some((self.rules.get(found.position as usize)?, found.unlisted)))
    }
}

impl Default for RuleSet {
    /// No rules: every call is asked about.
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl PartialEq for RuleSet {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for RuleSet {}

/// Rules are looked up by session and surface where any names one, and the denies about paths are gone through for every call.
fn looked_at(rules: &[Rule]) -> LookedAt {
    let of_all = rules.iter().map(|rule| LookedAt { input: false, time: false, ..rule.looks_at() });
    let of_denies = rules.iter().filter(|rule| rule.denies_paths()).map(Rule::looks_at);
    of_all.chain(of_denies).fold(LookedAt::NOTHING, LookedAt::and)
}

/// Which of equal rules is named first: the one that is hardest to change.
fn precedence(source: RuleSource) -> u8 {
    match source {
        RuleSource::PolicySettings => 0,
        RuleSource::FlagSettings => 1,
        RuleSource::CliArg => 2,
        RuleSource::LocalSettings => 3,
        RuleSource::ProjectSettings => 4,
        RuleSource::UserSettings => 5,
        RuleSource::Command => 6,
        RuleSource::Session => 7,
    }
}
