//! The rules that fit a call, or may.

use std::cell::LazyCell;

use toolplane_records::decision::DeniedPaths;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, RuleSource};

use super::denied;
use crate::looked_at::LookedAt;
use crate::rule::Rule;
use crate::scene::Scene;
use crate::set::RuleSet;
use toolplane_matching::fit::Fit;

/// A rule and how well it fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit<'a> {
    pub(crate) rule: &'a Rule,
    /// How well, all its conditions taken together.
    pub(crate) fit: Fit,
    /// It is about all of the call, not about some of its parts.
    pub(crate) whole: bool,
    /// It is about no command whose program can be seen.
    pub(crate) unlisted: bool,
}

/// The rules that have a say, by what they say, each in the order of the set.
#[derive(Debug)]
pub(crate) struct RuleHits<'a> {
    pub(crate) denies: Vec<Hit<'a>>,
    pub(crate) asks: Vec<Hit<'a>>,
    /// All of them fit surely: an allow that may fit is no allow.
    pub(crate) allows: Vec<Hit<'a>>,
    /// Allows that may fit, for explanations.
    pub(crate) unsure_allows: Vec<Hit<'a>>,
    /// Rules that only watch.
    pub(crate) shadow: Vec<Hit<'a>>,
    /// Allows that would fit surely, had the tool not been declared in another way since they were made.
    pub(crate) outdated: Vec<&'a Rule>,
    /// Paths that denies keep from the call although nothing in it names them.
    pub(crate) denied_paths: DeniedPaths,
    /// What of the call they were found by, beside what its matchers are compared with.
    pub(crate) looked_at: LookedAt,
}

impl<'a> RuleHits<'a> {
    pub(crate) fn search(rules: &'a RuleSet, scene: &Scene<'_>, now: Timestamp) -> Self {
        let mut found = Self {
            denies: Vec::new(),
            asks: Vec::new(),
            allows: Vec::new(),
            unsure_allows: Vec::new(),
            shadow: Vec::new(),
            outdated: Vec::new(),
            denied_paths: denied::paths(rules, scene, now),
            looked_at: rules.looked_at(),
        };
        let programs = LazyCell::new(|| scene.target.unlisted());
        for (rule, unlisted) in rules.candidates(scene) {
            found.looked_at = found.looked_at.and(rule.looks_at());
            if !rule.is_in_force(now) || !rule.is_in_scope(scene.call) {
                continue;
            }
            let reach = if unlisted { scene.reach_unlisted(rule, &programs) } else { scene.reach(rule) };
            if reach.fit == Fit::No {
                continue;
            }
            let fit = reach.fit.min(scene.conditions_fit(rule));
            if rule.is_pinned_elsewhere(scene.call) {
                found.outdated.extend((fit == Fit::Yes && !rule.is_shadow()).then_some(rule));
                continue;
            }
            let hit = Hit { rule, fit, whole: reach.whole, unlisted };
            let list = match (rule.is_shadow(), rule.behavior(), fit) {
                (_, _, Fit::No) | (true, Behavior::Allow, Fit::Unknown) | (_, Behavior::Passthrough, _) => continue,
                (true, _, _) => &mut found.shadow,
                (false, Behavior::Deny, _) => &mut found.denies,
                (false, Behavior::Ask, _) => &mut found.asks,
                (false, Behavior::Allow, Fit::Yes) => &mut found.allows,
                (false, Behavior::Allow, Fit::Unknown) => &mut found.unsure_allows,
            };
            list.push(hit);
        }
        found
    }

    /// The first rule of that behaviour that fits that well.
    pub(crate) fn first(&self, behavior: Behavior, fit: Fit) -> Option<&Hit<'a>> {
        let hits = match behavior {
            Behavior::Deny => &self.denies,
            Behavior::Ask => &self.asks,
            Behavior::Allow | Behavior::Passthrough => &self.allows,
        };
        hits.iter().find(|hit| hit.fit == fit)
    }

    /// The first ask of the policy settings; a deny of theirs that may fit is one.
    pub(crate) fn policy_ask(&self) -> Option<&Hit<'a>> {
        let of_policy = |hit: &&Hit<'_>| hit.rule.source() == RuleSource::PolicySettings;
        let sure = self.asks.iter().find(|hit| of_policy(hit) && hit.fit == Fit::Yes);
        sure.or_else(|| self.denies.iter().chain(&self.asks).find(of_policy))
    }

    /// Every rule that has a say, strictest first.
    pub(crate) fn matched(&self) -> impl Iterator<Item = &Hit<'a>> {
        self.denies.iter().chain(&self.asks).chain(&self.allows)
    }
}
