//! From a policy and a call to a verdict.

mod allow;
mod classified;
mod denied;
mod floor;
mod hits;
mod ruling;
#[cfg(test)]
mod tests;

pub(crate) use classified::{because, classifier, of_classifier, pending};

use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ReasonType};

pub(crate) use self::allow::open_parts;
pub(crate) use self::hits::{Hit, RuleHits};
use self::ruling::Ruling;
pub(crate) use self::ruling::{NO_BYPASS, parts, quoted};
use crate::call::{CallFacts, FactName};
use crate::looked_at::LookedAt;
use crate::org::OrgVerdict;
use crate::policy::Policy;
use crate::scene::{Scene, What};
use crate::verdict::{Verdict, source};
use toolplane_matching::fit::{Certainty, Fit};
use toolplane_matching::path::PathFact;
use toolplane_records::mode::Mode;

/// What is added to the message of a rule that may not be about the call after all.
const UNSURE: &str = "; whether it applies is not known for this input";

/// Decides one call at one time.
///
/// In this order, and the first that says something decides:
///
/// 1. Whatever denies: a deny rule that fits, the organisation's policies, a hook, a classifier that may, a path that is
///    none, the plan mode for a call not known to leave no trace.
/// 2. The question whether the result of a call that has run is given out: no rule about calls is an answer to it.
/// 3. An ask of the policy settings, and the safety floor: destructive calls, sensitive sinks, tools that want an approval,
///    calls that leave the sandbox, untrusted tools with facts missing, agents that are not sure.
/// 4. Every ask rule that fits or may fit, and every deny rule that may fit.
/// 5. A hook that asks, a classifier that asks or has not answered yet.
/// 6. Allow rules (one for each command, path and URL of the call), the organisation's policies, and hooks the operator lets
///    allow. A path outside the workspace or of a protected file needs a rule that names it.
/// 7. The permission mode.
/// 8. A classifier that may approve; otherwise the call is asked about.
///
/// Where no person can be asked, or none wants to be, every ask is a deny with reason type `async_agent`. Shadow rules
/// are only listed.
pub fn evaluate(policy: &Policy, call: &CallFacts, now: Timestamp) -> Verdict {
    evaluate_and_note(policy, call, now).0
}

/// The same as [`evaluate`], and what of the call the verdict was made from.
pub fn evaluate_and_note(policy: &Policy, call: &CallFacts, now: Timestamp) -> (Verdict, LookedAt) {
    let scene = Scene::new(&policy.settings, call);
    let found = RuleHits::search(&policy.rules, &scene, now);
    let org = policy.org.as_ref().map(|org| org.decide(call)).unwrap_or_default();
    let of_call = LookedAt { input: scene.reads_input() || floor::reads_input(call), ..LookedAt::NOTHING };
    let of_org = policy.org.as_ref().map_or(LookedAt::NOTHING, |org| org.looks_at());
    (decide(&scene, &found, &org), of_call.and(found.looked_at).and(of_org))
}

/// The verdict from what was found; see [`evaluate`].
pub(crate) fn decide(scene: &Scene<'_>, found: &RuleHits<'_>, org: &OrgVerdict) -> Verdict {
    let outcome = denied(scene, found, org)
        .or_else(|| asked_about_result(scene.call))
        .or_else(|| asked_by_policy(found, org))
        .or_else(|| floor::asked(scene))
        .or_else(|| asked_by_rule(scene, found))
        .or_else(|| asked_by_helper(scene.call))
        .unwrap_or_else(|| allow::decide(scene, found, org).without_bypass(scene));
    let outcome = if outcome.behavior == Behavior::Ask { answerable(scene.call, outcome) } else { outcome };
    outcome.naming_taints(scene.call).into_verdict(scene, found, org)
}

fn denied<'a>(scene: &Scene<'_>, found: &RuleHits<'a>, org: &OrgVerdict) -> Option<Ruling<'a>> {
    if let Some(hit) = found.first(Behavior::Deny, Fit::Yes) {
        return Some(Ruling::of_rule(scene, hit, ""));
    }
    if org.behavior == Behavior::Deny {
        return Some(Ruling::of_org(org));
    }
    if let Some(hook) = scene.call.signals.hooks.iter().find(|hook| hook.behavior == Behavior::Deny) {
        let message = format!("the hook `{}` denies{}", hook.hook_id, because(&hook.message));
        return Some(Ruling::new(Behavior::Deny, source::HOOK, ReasonType::Hook, message));
    }
    if let Some(check) = classifier(scene.call, Behavior::Deny) {
        return Some(of_classifier(check, Behavior::Deny));
    }
    for part in &scene.target.parts {
        if let What::Path(path) = part.what
            && let PathFact::Invalid(rule) = path.fact
        {
            let message = format!("a path of the call {rule}");
            let blocked_path = Some(ruling::blocked(&path.given));
            let outcome = Ruling::new(Behavior::Deny, source::SAFETY_CHECK, ReasonType::SafetyCheck, message);
            return Some(Ruling { blocked_path, ..outcome });
        }
    }
    if scene.call.caller.mode == Mode::Plan && scene.believed(FactName::ReadOnly) != Certainty::Yes {
        let message = "the mode `plan` lets only calls run that are known to leave no trace".to_owned();
        return Some(Ruling::new(Behavior::Deny, source::MODE, ReasonType::Mode, message));
    }
    None
}

fn asked_about_result(call: &CallFacts) -> Option<Ruling<'static>> {
    let asked = call.signals.hooks.iter().find(|verdict| verdict.is_about_result())?;
    Some(Ruling::new(Behavior::Ask, source::RESULT, ReasonType::Other, asked.message.clone()))
}

fn asked_by_policy<'a>(found: &RuleHits<'a>, org: &OrgVerdict) -> Option<Ruling<'a>> {
    // Which of two policies is named does not matter, but that one is: neither can be answered by another rule.
    (org.behavior == Behavior::Ask).then(|| Ruling::of_org(org)).or_else(|| {
        let hit = found.policy_ask()?;
        let outcome = Ruling::of_hit(hit, if hit.fit == Fit::Yes { "" } else { UNSURE });
        Some(Ruling { behavior: Behavior::Ask, reason_type: ReasonType::Policy, ..outcome })
    })
}

fn asked_by_rule<'a>(scene: &Scene<'_>, found: &RuleHits<'a>) -> Option<Ruling<'a>> {
    let asked = found.first(Behavior::Ask, Fit::Yes).map(|hit| Ruling::of_rule(scene, hit, ""));
    asked
        .or_else(|| found.first(Behavior::Deny, Fit::Unknown).map(|hit| Ruling::of_rule(scene, hit, UNSURE)))
        .or_else(|| found.first(Behavior::Ask, Fit::Unknown).map(|hit| Ruling::of_rule(scene, hit, UNSURE)))
        .map(|outcome| Ruling { behavior: Behavior::Ask, ..outcome })
}

/// Hooks and classifiers may only tighten here.
fn asked_by_helper(call: &CallFacts) -> Option<Ruling<'static>> {
    if let Some(hook) = call.signals.hooks.iter().find(|hook| hook.behavior == Behavior::Ask) {
        let message = format!("the hook `{}` asks{}", hook.hook_id, because(&hook.message));
        return Some(Ruling::new(Behavior::Ask, source::HOOK, ReasonType::Hook, message));
    }
    if let Some(check) = classifier(call, Behavior::Ask) {
        return Some(of_classifier(check, Behavior::Ask));
    }
    pending(call).map(|check| {
        let message = format!("the classifier `{}` has not answered yet", check.classifier_ref);
        Ruling::new(Behavior::Ask, source::CLASSIFIER, ReasonType::Classifier, message)
    })
}

/// A question nobody can answer is a no.
fn answerable<'a>(call: &CallFacts, question: Ruling<'a>) -> Ruling<'a> {
    let why = match (call.caller.can_ask, call.caller.mode) {
        (true, Mode::DontAsk) => "the mode `dont_ask` never asks",
        (true, _) => return question,
        (false, _) => "the call has no approver",
    };
    Ruling {
        behavior: Behavior::Deny,
        source: source::NO_APPROVER,
        reason_type: ReasonType::AsyncAgent,
        message: format!("a person would have to decide, but {why} ({})", question.message),
        answerable: false,
        ..question
    }
}
