//! A decision on its way to a verdict.

use toolplane_records::SmolStr;
use toolplane_records::approval::{APPROVALS, REVIEW};
use toolplane_records::decision::DecisionReason;
use toolplane_records::explanation::PartExplanation;
use toolplane_records::taint;
use toolplane_records::vocabulary::{Behavior, ReasonType, RuleFit};

use super::allow;
use super::classified::{because, pending};
use super::hits::{Hit, RuleHits};
use crate::call::CallFacts;
use crate::org::OrgVerdict;
use crate::rule::Rule;
use crate::scene::{Scene, TargetPart, text_of};
use crate::verdict::{ShadowHit, Verdict, source};
use toolplane_matching::fit::Fit;
use toolplane_records::mode::Mode;

/// Most characters of a part that messages quote.
const QUOTED: usize = 200;

/// Most rules a decision names. Only what cannot be seen through reaches that many: any of them may be about it.
const MAX_MATCHED: usize = 1000;

/// Said of calls in a mode that the settings do not allow.
pub(crate) const NO_BYPASS: &str = "the mode `bypass` is not allowed here and counts as `default`";

/// Who decided what, and why.
#[derive(Clone, Debug)]
pub(crate) struct Ruling<'a> {
    pub(crate) behavior: Behavior,
    pub(crate) source: &'static str,
    pub(crate) reason_type: ReasonType,
    pub(crate) message: String,
    pub(crate) rule: Option<&'a Rule>,
    pub(crate) blocked_path: Option<String>,
    pub(crate) review: bool,
    pub(crate) answerable: bool,
}

impl<'a> Ruling<'a> {
    pub(crate) fn new(
        behavior: Behavior,
        source: &'static str,
        reason_type: ReasonType,
        message: impl Into<String>,
    ) -> Self {
        Self {
            behavior,
            source,
            reason_type,
            message: message.into(),
            rule: None,
            blocked_path: None,
            review: false,
            answerable: false,
        }
    }

    /// What a rule says of the whole call.
    pub(crate) fn of_hit(hit: &Hit<'a>, remark: &str) -> Self {
        let rule = hit.rule;
        let why = because(&rule.record().reason);
        let message = format!("the rule `{}` says {}{why}{remark}", rule.id(), rule.behavior());
        let outcome = Self::new(rule.behavior(), rule.source().as_str(), ReasonType::Rule, message);
        Self { rule: Some(rule), ..outcome }
    }

    /// What a rule says; of a compound call, which part it says it of.
    pub(crate) fn of_rule(scene: &Scene<'_>, hit: &Hit<'a>, remark: &str) -> Self {
        let outcome = Self::of_hit(hit, remark);
        let part = scene.target.parts.iter().find(|part| !hit.whole && scene.part_fit(hit.rule, part) == hit.fit);
        let Some(part) = part else {
            let Some(file) = scene.named(hit.rule, hit.fit).filter(|_| !hit.whole) else { return outcome };
            let message = format!("`{}`: {}", quoted(&file.given), outcome.message);
            return Self { message, blocked_path: Some(quoted(&file.given)), ..outcome };
        };
        // The path that a deny or ask is about is worth naming whatever else is in the call.
        let blocked_path = match (part.path(), hit.rule.behavior()) {
            (Some(path), Behavior::Deny | Behavior::Ask) => Some(blocked(path)),
            _ => None,
        };
        if scene.target.parts.len() < 2 {
            return Self { blocked_path, ..outcome };
        }
        let message = format!("`{}`: {}", quoted(&text_of(part)), outcome.message);
        Self { reason_type: ReasonType::SubcommandResults, message, blocked_path, ..outcome }
    }

    /// What the organisation's policies say.
    pub(crate) fn of_org(org: &OrgVerdict) -> Self {
        let ids =
            if org.policy_ids.is_empty() { String::new() } else { format!(" (`{}`)", org.policy_ids.join("`, `")) };
        let says = match org.behavior {
            Behavior::Deny => "forbid the call",
            Behavior::Allow => "permit the call",
            Behavior::Ask | Behavior::Passthrough => "want a person to look at the call",
        };
        let message = format!("the organisation's policies{ids} {says}{}", because(&org.reason));
        Self::new(org.behavior, source::POLICY_SETTINGS, ReasonType::Policy, message)
    }

    /// A question about a call in the mode `bypass` says so when this mode does not count here.
    pub(crate) fn without_bypass(self, scene: &Scene<'_>) -> Self {
        if self.behavior == Behavior::Ask && scene.call.caller.mode == Mode::Bypass && !scene.may_bypass() {
            return Self { message: format!("{}; {NO_BYPASS}", self.message), ..self };
        }
        self
    }

    /// Who is asked about a call, or refused one for it, is told what taints it.
    pub(crate) fn naming_taints(self, call: &CallFacts) -> Self {
        let taints = call.signals.found_taints();
        let by_them = self.rule.is_some_and(|rule| rule.finds_taint(call));
        if taints.is_empty() || !(by_them || self.behavior == Behavior::Ask) {
            return self;
        }
        let from = taint::told(taints);
        Self { message: format!("{}; what its session was given before taints it: {from}", self.message), ..self }
    }

    pub(crate) fn into_verdict(self, scene: &Scene<'_>, found: &RuleHits<'_>, org: &OrgVerdict) -> Verdict {
        let rule_ref = self.rule.map(|rule| SmolStr::from(rule.id()));
        Verdict {
            behavior: self.behavior,
            source: self.source,
            reason: DecisionReason {
                reason_type: self.reason_type,
                rule_ref: rule_ref.clone(),
                message: self.message.into(),
            },
            matched: found.matched().take(MAX_MATCHED).map(|hit| hit.rule.id().into()).collect(),
            deciding: rule_ref,
            policy_refs: org.policy_ids.clone(),
            blocked_path: self.blocked_path,
            parts: if scene.target.parts.len() < 2 { Vec::new() } else { parts(scene, found, org) },
            outdated: found.outdated.iter().take(MAX_MATCHED).map(|rule| rule.id().to_owned()).collect(),
            queue: if self.review { REVIEW } else { APPROVALS },
            answerable: self.answerable,
            classifier_pending: pending(scene.call).is_some(),
            denied_paths: found.denied_paths.clone(),
            shadow: found.shadow.iter().map(shadow_hit).collect(),
        }
    }
}

fn shadow_hit(hit: &Hit<'_>) -> ShadowHit {
    let fit = if hit.fit == Fit::Yes { RuleFit::Yes } else { RuleFit::Maybe };
    ShadowHit { rule_id: hit.rule.id().to_owned(), behavior: hit.rule.behavior(), fit }
}

/// What would be decided about each part alone, by rules and mode.
pub(crate) fn parts(scene: &Scene<'_>, found: &RuleHits<'_>, org: &OrgVerdict) -> Vec<PartExplanation> {
    scene.target.parts.iter().map(|part| explain(scene, found, org, part)).collect()
}

fn explain(scene: &Scene<'_>, found: &RuleHits<'_>, org: &OrgVerdict, part: &TargetPart<'_>) -> PartExplanation {
    let about = |behavior: Behavior, rule: Option<&Rule>, why: String| PartExplanation {
        text: quoted(&text_of(part)),
        behavior,
        rule_ref: rule.map(|rule| rule.id().to_owned()).unwrap_or_default(),
        why,
    };
    // What is about programs that are not seen is not about one that is.
    let seen = part.names_its_program();
    for (hits, fit, behavior) in [
        (&found.denies, Fit::Yes, Behavior::Deny),
        (&found.asks, Fit::Yes, Behavior::Ask),
        (&found.denies, Fit::Unknown, Behavior::Ask),
        (&found.asks, Fit::Unknown, Behavior::Ask),
    ] {
        let fits = |hit: &&Hit<'_>| {
            let may = hit.fit >= fit && !(seen && hit.unlisted);
            may && scene.part_fit(hit.rule, part).min(hit.fit) == fit
        };
        if let Some(hit) = hits.iter().find(fits) {
            let unsure = if fit == Fit::Unknown { "; whether it applies is not known" } else { "" };
            return about(behavior, Some(hit.rule), format!("{}{unsure}", hit.rule.matcher()));
        }
    }
    match allow::cover(scene, found, org, part) {
        allow::Cover::Rule(rule) => about(Behavior::Allow, Some(rule), rule.matcher().to_string()),
        allow::Cover::Other(why) => about(Behavior::Allow, None, why.to_owned()),
        allow::Cover::None(why) => about(Behavior::Ask, None, why),
        allow::Cover::NotNeeded => about(Behavior::Allow, None, "reading beneath the workspace".to_owned()),
    }
}

/// The beginning of a text, for messages.
pub(crate) fn quoted(text: &str) -> String {
    toolplane_records::visible::excerpt(text, QUOTED)
}

/// A path as it is, for programs that go on with it.
pub(crate) fn blocked(path: &str) -> String {
    path.chars().take(256).collect()
}
