//! What a person must see before it happens, whatever the rules allow.

use std::cmp::Ordering;

use toolplane_records::assurance::Confidence;
use toolplane_records::vocabulary::{Behavior, ReasonType};

use super::classified::because;
use super::ruling::Ruling;
use crate::call::{CallFacts, FactName};
use crate::scene::Scene;
use crate::settings::PolicySettings;
use crate::verdict::source;
use toolplane_matching::fit::Certainty;

pub(super) fn asked(scene: &Scene<'_>) -> Option<Ruling<'static>> {
    let (call, safety) = (scene.call, &scene.call.safety);
    let ask = |message: String| Ruling::new(Behavior::Ask, source::SAFETY_FLOOR, ReasonType::Policy, message);
    if safety.destructive == Certainty::Yes {
        return Some(ask("the call may destroy something".to_owned()));
    }
    if safety.sensitive_sink == Certainty::Yes {
        return Some(ask("the call may carry sensitive data out".to_owned()));
    }
    if safety.approval_required == Certainty::Yes {
        let reason = call.tool.profile.as_ref().and_then(|profile| profile.approval_reason.as_deref());
        return Some(ask(format!("the tool wants an approval{}", because(reason.unwrap_or_default()))));
    }
    if leaves_sandbox(call) {
        let message = "the call asks to run outside its sandbox";
        return Some(Ruling::new(Behavior::Ask, source::SAFETY_FLOOR, ReasonType::SandboxOverride, message));
    }
    if let Some(missing) = missing_facts(scene) {
        return Some(ask(format!(
            "the author of the tool is not trusted, and no trusted source says whether it is {missing}"
        )));
    }
    unsure(call, scene.settings).map(|message| Ruling { review: true, ..ask(message) })
}

/// The safety facts of an untrusted tool that are not stated, for people.
fn missing_facts(scene: &Scene<'_>) -> Option<String> {
    if !scene.untrusted {
        return None;
    }
    let wanted = [FactName::ReadOnly, FactName::Destructive, FactName::OpenWorld];
    let missing = wanted.iter().filter(|name| scene.call.safety.certainty(**name) == Certainty::Unknown);
    let missing: Vec<&str> = missing.map(|name| name.as_str()).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// Why the agent's own work should be looked at.
fn unsure(call: &CallFacts, settings: &PolicySettings) -> Option<String> {
    let assurance = call.signals.assurance.as_ref()?;
    let floor = settings.confidence_floor;
    // A floor that is not a number is never reached.
    let below = |confidence: &Confidence| confidence.get().partial_cmp(&floor).is_none_or(Ordering::is_lt);
    if let Some(confidence) = assurance.confidence.filter(below) {
        return Some(format!("the agent is only {} sure, less than {floor}", confidence.get()));
    }
    let verdict = assurance.verdict.to_lowercase();
    if settings.uncertain_verdicts.iter().any(|uncertain| uncertain.to_lowercase() == verdict) {
        return Some(format!("the agent's own check says `{verdict}`"));
    }
    let missing = assurance.missing_evidence.first()?;
    Some(format!("evidence is missing: {}", super::ruling::quoted(missing)))
}

/// Whether the input may say something of the sandbox, so that it has to be read. Of one that does not, nothing else counts here.
pub(super) fn reads_input(call: &CallFacts) -> bool {
    toolplane_matching::may_speak_of_sandbox(&call.input)
}

/// Whether the input asks for no sandbox: by the internal field of shell tools, or in the words agents know.
fn leaves_sandbox(call: &CallFacts) -> bool {
    // Most inputs name no sandbox, and a text search is cheaper than reading them.
    if !reads_input(call) {
        return false;
    }
    let input = call.input.to_value();
    let set = |name: &str| input.get(name).is_some_and(|value| !(value.is_null() || *value == false || *value == ""));
    let profile = input.get("sandbox_profile").and_then(serde_json::Value::as_str);
    set("sandbox_override_ref")
        || set("dangerouslyDisableSandbox")
        || profile.is_some_and(|profile| matches!(profile, "none" | "off" | "unsandboxed" | "disabled"))
}
