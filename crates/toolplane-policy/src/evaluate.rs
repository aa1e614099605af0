//! From rules and facts to a verdict.

#[cfg(test)]
mod tests;

use toolplane_records::decision::DecisionReason;
use toolplane_records::vocabulary::{Behavior, ReasonType};

use crate::facts::{Certainty, Facts};
use crate::matcher::Fit;
use crate::rules::{Rule, RuleSet};
use crate::verdict::Verdict;

/// Decides one call.
///
/// In this order: a deny rule that fits denies. An ask rule that fits or may fit, or a deny rule that may fit, asks. A call
/// known to be destructive or to carry sensitive data out is asked about whatever allows it. An allow rule that fits allows. What
/// no rule is about is asked. Where nobody can be asked, every ask is a deny with reason type `async_agent`.
///
/// Of several rules that would decide alike, the first of the set is named.
pub fn evaluate(rules: &RuleSet, facts: &Facts) -> Verdict {
    let fits: Vec<(&Rule, Fit)> = rules
        .rules()
        .iter()
        .map(|rule| (rule, rule.matcher.fit(rule.behavior, facts)))
        .filter(|(rule, fit)| *fit == Fit::Yes || (*fit == Fit::Unknown && rule.behavior != Behavior::Allow))
        .collect();
    let first = |behavior: Behavior, wanted: Fit| {
        fits.iter().find(|(rule, fit)| rule.behavior == behavior && *fit == wanted).map(|(rule, _)| *rule)
    };
    let mut verdict = if let Some(rule) = first(Behavior::Deny, Fit::Yes) {
        by_rule(Behavior::Deny, rule, "")
    } else if let Some(rule) = first(Behavior::Ask, Fit::Yes) {
        by_rule(Behavior::Ask, rule, "")
    } else if let Some(rule) = first(Behavior::Deny, Fit::Unknown) {
        by_rule(Behavior::Ask, rule, "; whether it applies is not known for this input")
    } else if let Some(rule) = first(Behavior::Ask, Fit::Unknown) {
        by_rule(Behavior::Ask, rule, "; whether it applies is not known for this input")
    } else if let Some(alarm) = alarm(facts) {
        plain(Behavior::Ask, "safety_floor", ReasonType::SafetyCheck, alarm)
    } else if let Some(rule) = first(Behavior::Allow, Fit::Yes) {
        by_rule(Behavior::Allow, rule, "")
    } else {
        plain(Behavior::Ask, "default", ReasonType::Other, "no rule is about this call")
    };
    if verdict.behavior == Behavior::Ask && !facts.can_ask {
        verdict = unanswerable(verdict);
    }
    verdict.matched = fits.iter().map(|(rule, _)| rule.id.clone()).collect();
    verdict
}

/// What a person must see before it happens, whatever the rules allow.
fn alarm(facts: &Facts) -> Option<&'static str> {
    if facts.destructive == Certainty::Yes {
        Some("the call may destroy something")
    } else if facts.sensitive_sink == Certainty::Yes {
        Some("the call may carry sensitive data out")
    } else {
        None
    }
}

fn by_rule(behavior: Behavior, rule: &Rule, remark: &str) -> Verdict {
    let why = if rule.reason.is_empty() { String::new() } else { format!(": {}", rule.reason) };
    let message = format!("the rule `{}` says {}{why}{remark}", rule.id, rule.behavior);
    Verdict {
        behavior,
        matched: Vec::new(),
        deciding: Some(rule.id.clone()),
        source: rule.source.to_string(),
        reason: DecisionReason { reason_type: ReasonType::Rule, rule_ref: Some(rule.id.clone()), message },
    }
}

fn plain(behavior: Behavior, source: &str, reason_type: ReasonType, message: &str) -> Verdict {
    Verdict {
        behavior,
        matched: Vec::new(),
        deciding: None,
        source: source.to_owned(),
        reason: DecisionReason { reason_type, rule_ref: None, message: message.to_owned() },
    }
}

/// A question nobody can answer is a no.
fn unanswerable(question: Verdict) -> Verdict {
    let message = format!("a person would have to decide and nobody can be asked ({})", question.reason.message);
    Verdict {
        behavior: Behavior::Deny,
        source: "no_approver".to_owned(),
        reason: DecisionReason { reason_type: ReasonType::AsyncAgent, message, ..question.reason },
        ..question
    }
}
