//! Rules that would answer a question the next time, from narrow to wide, each with what it would match.

mod command;
mod preview;
#[cfg(test)]
mod tests;

use serde::Serialize;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::{ArgumentCondition, PermissionRule, RulePin, RuleScope};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, RiskLevel, RuleSource};

use self::preview::Wish;
use crate::call::CallFacts;
use crate::evaluate::{RuleHits, decide};
use crate::policy::Policy;
use crate::rule::Rule;
use crate::scene::Scene;
use crate::set::RuleSet;
use crate::verdict::Verdict;

/// Most suggestions of one question.
pub const MAX_SUGGESTIONS: usize = 4;
/// Most commands, paths or URLs a suggestion has rules for; a question about more has none.
const MAX_RULES: usize = 8;

/// A change of the rules that would answer a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuggestedUpdate {
    /// Names it within its question: the same question has the same suggestions.
    pub suggestion_id: String,
    /// Always `add_rules`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What the rules say.
    pub behavior: Behavior,
    /// Where the rules would be kept.
    pub destination: RuleSource,
    /// The rules; together they answer the question.
    pub rules: Vec<PermissionRule>,
    /// What they would match, for people.
    pub preview: MatchPreview,
}

/// What rules would match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchPreview {
    /// In one sentence.
    pub description: String,
    /// Examples they match; the ones in question first.
    pub matches: Vec<String>,
    /// Neighbours they do not match.
    pub does_not_match: Vec<String>,
}

impl SuggestedUpdate {
    /// The same rules as denials: what to keep when a question is answered with "never".
    #[must_use]
    pub fn rejecting(&self) -> Self {
        let deny = |rule: &PermissionRule| PermissionRule {
            rule_id: format!("{}_no", rule.rule_id),
            behavior: Behavior::Deny,
            pin: None,
            ..rule.clone()
        };
        Self { behavior: Behavior::Deny, rules: self.rules.iter().map(deny).collect(), ..self.clone() }
    }

    /// As the object a decision carries.
    pub fn payload(&self) -> JsonPayload {
        JsonPayload::of(self)
    }
}

/// What could be added so that the call of `verdict` is allowed without a question, at most four from narrow to wide.
///
/// Empty unless the question is one that a rule can answer ([`Verdict::answerable`]), and for tools of critical risk. Every
/// suggestion has been tried: with its rules added, the policy allows the call at `now`.
pub fn suggestions(policy: &Policy, call: &CallFacts, verdict: &Verdict, now: Timestamp) -> Vec<SuggestedUpdate> {
    let critical = call.tool.risk() == Some(RiskLevel::Critical);
    // A rule about calls is no answer to what is asked of a result.
    let of_result = verdict.source == crate::verdict::source::RESULT;
    if verdict.behavior != Behavior::Ask || !verdict.answerable || critical || of_result {
        return Vec::new();
    }
    let scene = Scene::new(&policy.settings, call);
    let found = RuleHits::search(&policy.rules, &scene, now);
    let org = policy.org.as_ref().map(|org| org.decide(call)).unwrap_or_default();
    let open = crate::evaluate::open_parts(&scene, &found, &org);
    if open.len() > MAX_RULES {
        return Vec::new();
    }
    let mut updates: Vec<SuggestedUpdate> = Vec::new();
    for wish in preview::wishes(&scene, &open) {
        let Some(update) = update(call, wish) else { continue };
        let again = updates.iter().any(|other| same_rules(other, &update));
        if !again && answers(&scene, policy, &org, &update, now) {
            updates.push(update);
        }
        if updates.len() == MAX_SUGGESTIONS {
            break;
        }
    }
    updates
}

fn same_rules(left: &SuggestedUpdate, right: &SuggestedUpdate) -> bool {
    left.destination == right.destination
        && left
            .rules
            .iter()
            .map(|rule| (&rule.matcher, &rule.arguments))
            .eq(right.rules.iter().map(|rule| (&rule.matcher, &rule.arguments)))
}

fn update(call: &CallFacts, wish: Wish) -> Option<SuggestedUpdate> {
    // Nothing says which session: a rule for it would be about no call.
    let caller = &call.caller;
    if wish.destination == RuleSource::Session && caller.session.is_empty() {
        return None;
    }
    let tenant = caller.tenant.clone();
    let scope = match wish.destination {
        RuleSource::Session => RuleScope { tenant, session: caller.session.clone(), ..RuleScope::default() },
        RuleSource::UserSettings if caller.actor.is_empty() => return None,
        RuleSource::UserSettings => RuleScope { tenant, actor: caller.actor.clone(), ..RuleScope::default() },
        _ => RuleScope { tenant, ..RuleScope::default() },
    };
    let rules: Vec<(&str, &[ArgumentCondition])> =
        wish.matchers.iter().map(|entry| (entry.matcher.as_str(), entry.arguments.as_slice())).collect();
    let pin = call.declaration.map(|declaration_digest| RulePin { declaration_digest, registration: None });
    let seed = JsonPayload::of(&(&scope, &rules, &pin));
    let name = short(seed.digest());
    let examples = |texts: &[String]| texts.iter().map(JsonPayload::of).collect::<Vec<_>>();
    let rules = wish.matchers.iter().enumerate().map(|(index, entry)| PermissionRule {
        arguments: entry.arguments.clone(),
        scope: scope.clone(),
        // The preview is kept with the rule, so that every load of the rule checks it again.
        matches: examples(&entry.matches),
        not_matches: examples(&entry.does_not_match),
        // The person who says yes says it to the tool as it is.
        pin: pin.clone(),
        ..PermissionRule::new(format!("sug_{name}_{index}"), wish.destination, Behavior::Allow, &entry.matcher)
    });
    let all = |pick: fn(&preview::RuleExamples) -> &Vec<String>| wish.matchers.iter().flat_map(pick).cloned().collect();
    Some(SuggestedUpdate {
        suggestion_id: format!("sug_{name}"),
        kind: "add_rules",
        behavior: Behavior::Allow,
        destination: wish.destination,
        rules: rules.collect(),
        preview: MatchPreview {
            description: format!("{} {}{}", wish.description, place(wish.destination, &scope), until(&pin)),
            matches: all(|entry| &entry.matches),
            does_not_match: all(|entry| &entry.does_not_match),
        },
    })
}

/// For whom the rules would hold, in words.
fn place(destination: RuleSource, scope: &RuleScope) -> String {
    match destination {
        RuleSource::Session => format!("in the session `{}`, for every caller", scope.session),
        RuleSource::UserSettings => format!("for the actor `{}`, in every session", scope.actor),
        _ => format!("for every caller of the tenant `{}`", scope.tenant),
    }
}

fn until(pin: &Option<RulePin>) -> &'static str {
    if pin.is_some() { ", as long as the tool stays declared as it is now" } else { "" }
}

fn short(digest: Digest) -> String {
    digest.hex().chars().take(12).collect()
}

/// Whether the call runs once the rules are added to the policy. The rules' own examples are checked on the way.
fn answers(
    scene: &Scene<'_>,
    policy: &Policy,
    org: &crate::org::OrgVerdict,
    update: &SuggestedUpdate,
    now: Timestamp,
) -> bool {
    let rules: Result<Vec<Rule>, _> = update.rules.iter().map(Rule::from_record).collect();
    let Ok(rules) = rules else { return false };
    let added = RuleSet::of(rules);
    let mut found = RuleHits::search(&policy.rules, scene, now);
    found.allows.extend(RuleHits::search(&added, scene, now).allows);
    decide(scene, &found, org).behavior == Behavior::Allow
}
