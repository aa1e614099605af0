//! What else is known of a call.

use cedar_policy::{Context, ContextCreationError, Entity, RestrictedExpression};
use toolplane_matching::ToolMatching as _;
use toolplane_matching::subject::SubjectKind;
use toolplane_policy::CallFacts;
use toolplane_records::decision_request::CallSignals;
use toolplane_records::taint;

use crate::input::{self, Arguments};
use crate::request::{set, text};
use crate::subjects;
use crate::wanted::Wanted;

/// The context, and the entities it names. What no policy looks at is not made.
pub(crate) fn of(facts: &CallFacts, wanted: &Wanted) -> Result<(Context, Vec<Entity>), Box<ContextCreationError>> {
    let (caller, assurance) = (&facts.caller, facts.signals.assurance.as_ref());
    let mut pairs = Vec::new();
    let mut add = |name: &'static str, value: &dyn Fn() -> Option<RestrictedExpression>| {
        if wanted.has(name) {
            pairs.extend(value().map(|value| (name.to_owned(), value)));
        }
    };
    add("session", &|| Some(text(&caller.session)));
    add("surface", &|| Some(text(&caller.surface)));
    add("surface_policies", &|| Some(set(caller.surface_policies.iter().cloned())));
    add("mode", &|| Some(text(caller.mode.as_str())));
    add("can_ask", &|| Some(RestrictedExpression::new_bool(caller.can_ask)));
    add("taints", &|| Some(set(taints(&facts.signals))));
    let confidence = assurance.and_then(|assurance| assurance.confidence);
    add("confidence", &|| confidence.map(|sure| RestrictedExpression::new_long(percent(sure.get()))));
    let mut entities = Vec::new();
    if wanted.has_any(&["arguments", "input"]) {
        let input = facts.input.to_value();
        if wanted.has("arguments") {
            let (arguments, complete) = Arguments::of(&input, &facts.redacted);
            if let Ok(maps) = arguments.entities(wanted) {
                entities.extend(maps);
                add("arguments", &|| Arguments::record(complete));
            }
        }
        add("input", &|| input::record(&input, &facts.redacted));
    }
    let kind = facts.tool.subject_kind();
    let runs = kind == Some(SubjectKind::Command);
    if runs {
        add("commands", &|| subjects::commands(facts.subjects()));
    }
    if runs || kind == Some(SubjectKind::Path) {
        add("paths", &|| subjects::paths(facts.subjects()));
    }
    if kind == Some(SubjectKind::Url) {
        add("urls", &|| subjects::urls(facts.subjects()));
    }
    Ok((Context::from_pairs(pairs).map_err(Box::new)?, entities))
}

/// What the agent says taints the call, and what the platform found.
fn taints(signals: &CallSignals) -> Vec<String> {
    let said = signals.assurance.iter().flat_map(|assurance| assurance.taints.iter().cloned());
    let found = signals.found_taints();
    let any = found.first().map(|_| taint::TOOL_OUTPUT.to_owned());
    said.chain(found.iter().map(|taint| taint.label.to_string())).chain(any).collect()
}

/// Down to whole percents: a policy that asks for 90 is not met by 89.6. The little more is for fractions that have no exact
/// form, such as 0.29.
fn percent(confidence: f64) -> i64 {
    (confidence * 100.0 + 1e-9).floor() as i64
}
