//! How a decision came about, for people.

use toolplane_records::explanation::{DecisionExplanation, RuleExplanation};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, RuleFit};

use crate::call::CallFacts;
use crate::evaluate::{Hit, NO_BYPASS, RuleHits, because, decide, parts};
use crate::org::OrgVerdict;
use crate::policy::Policy;
use crate::scene::{Scene, text_of};
use crate::verdict::Verdict;
use toolplane_matching::fit::Fit;
use toolplane_records::mode::Mode;

/// Most rules an explanation lists; the strictest first.
pub const MAX_RULES: usize = 200;

/// Decides one call as [`evaluate`](crate::evaluate()) does, and says how that came about.
pub fn explain(policy: &Policy, call: &CallFacts, now: Timestamp) -> (Verdict, DecisionExplanation) {
    let scene = Scene::new(&policy.settings, call);
    let found = RuleHits::search(&policy.rules, &scene, now);
    let org = policy.org.as_ref().map(|org| org.decide(call)).unwrap_or_default();
    let verdict = decide(&scene, &found, &org);
    let hits = found.matched().chain(&found.unsure_allows).chain(&found.shadow);
    let explanation = DecisionExplanation {
        rules: hits.take(MAX_RULES).map(|hit| rule(&scene, hit, &verdict)).collect(),
        parts: parts(&scene, &found, &org),
        notes: notes(&scene, &found, &org),
        policy_digest: policy.digest().to_string(),
    };
    (verdict, explanation)
}

fn rule(scene: &Scene<'_>, hit: &Hit<'_>, verdict: &Verdict) -> RuleExplanation {
    let rule = hit.rule;
    let sure = hit.fit == Fit::Yes;
    RuleExplanation {
        rule_id: rule.id().to_owned(),
        source: rule.source().as_str().to_owned(),
        behavior: rule.behavior(),
        matcher: rule.matcher().to_string(),
        fit: if sure { RuleFit::Yes } else { RuleFit::Maybe },
        decided: !rule.is_shadow() && verdict.deciding.as_deref() == Some(rule.id()),
        shadow: rule.is_shadow(),
        why: why(scene, hit),
    }
}

fn why(scene: &Scene<'_>, hit: &Hit<'_>) -> String {
    let record = hit.rule.record();
    let fitting = scene.target.parts.iter().filter(|part| scene.part_fit(hit.rule, part) >= hit.fit);
    let texts =
        fitting.map(|part| text_of(part)).chain(scene.named(hit.rule, hit.fit).map(|file| file.given.as_str().into()));
    let texts: Vec<String> = texts.take(8).map(|text| format!("`{}`", crate::evaluate::quoted(&text))).collect();
    let about = match (hit.whole, texts.is_empty()) {
        (true, _) => "about the tool".to_owned(),
        (false, true) => "about what cannot be seen of the call".to_owned(),
        (false, false) => format!("about {}", texts.join(", ")),
    };
    let asked: Vec<&str> = record.facts.iter().map(String::as_str).collect();
    let arguments = record.arguments.iter().map(|argument| format!("{} {}", argument.pointer, argument.op));
    let conditions: Vec<String> = asked.into_iter().map(str::to_owned).chain(arguments).collect();
    let given = match (conditions.is_empty(), hit.fit) {
        (true, _) => String::new(),
        (false, Fit::Unknown) => format!(", if {} (not known)", conditions.join(", ")),
        (false, _) => format!(", because {}", conditions.join(", ")),
    };
    format!("{about}{given}{}", because(&record.reason))
}

fn notes(scene: &Scene<'_>, found: &RuleHits<'_>, org: &OrgVerdict) -> Vec<String> {
    let call = scene.call;
    let mut notes = Vec::new();
    match call.caller.mode {
        Mode::Default => {}
        Mode::Bypass if !scene.may_bypass() => {
            notes.push(NO_BYPASS.to_owned());
        }
        mode => notes.push(format!("the mode is `{mode}`")),
    }
    if scene.untrusted {
        notes.push("the author of the tool is not trusted: what it claims in its own favour does not count".to_owned());
    }
    if !scene.target.is_complete() {
        notes.push("a command, path or URL of the input cannot be read, so patterns cannot be sure".to_owned());
    }
    notes.extend(found.outdated.iter().map(|rule| {
        format!(
            "the rule `{}` allowed the tool as it was declared before, and does not hold for what it is now",
            rule.id()
        )
    }));
    for hook in &call.signals.hooks {
        let may = if hook.authoritative { ", and may allow" } else { "" };
        notes.push(format!("the hook `{}` says {}{may}{}", hook.hook_id, hook.behavior, because(&hook.message)));
    }
    if let Some(check) = &call.signals.classifier {
        let says = match check.behavior {
            Some(behavior) if !check.pending => behavior.as_str(),
            _ => "nothing yet",
        };
        let may = match check.authority {
            ClassifierAuthority::Approve => "may approve and deny",
            ClassifierAuthority::Deny => "may deny",
            ClassifierAuthority::Recommend => "only recommends",
        };
        notes.push(format!(
            "the classifier `{}` says {says} and {may}{}",
            check.classifier_ref,
            because(&check.reason)
        ));
    }
    if org.behavior != Behavior::Passthrough {
        let ids = if org.policy_ids.is_empty() { String::new() } else { format!(" ({})", org.policy_ids.join(", ")) };
        notes.push(format!("the organisation's policies say {}{ids}{}", org.behavior, because(&org.reason)));
    }
    notes.extend(org.errors.iter().map(|error| format!("the organisation's policies: {error}")));
    notes.extend(found.shadow.iter().map(|hit| {
        let sure = if hit.fit == Fit::Yes { "would say" } else { "might say" };
        format!("the rule `{}` only watches; it {sure} {}", hit.rule.id(), hit.rule.behavior())
    }));
    notes
}
