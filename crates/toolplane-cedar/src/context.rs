//! What else is known of a call.

use cedar_policy::{Context, ContextCreationError, Entity, RestrictedExpression};
use toolplane_matching::ToolMatching as _;
use toolplane_matching::subject::SubjectKind;
use toolplane_policy::CallFacts;

use crate::input::{self, Arguments};
use crate::policies::Wanted;
use crate::request::{set, text};
use crate::subjects;

/// The context, and the entities it names. What no policy looks at is not made.
pub(crate) fn of(facts: &CallFacts, wanted: Wanted) -> Result<(Context, Vec<Entity>), Box<ContextCreationError>> {
    let taints = facts.signals.assurance.as_ref().map(|assurance| assurance.taints.as_slice()).unwrap_or_default();
    let mut pairs = vec![
        ("session", text(&facts.caller.session)),
        ("surface", text(&facts.caller.surface)),
        ("mode", text(facts.caller.mode.as_str())),
        ("can_ask", RestrictedExpression::new_bool(facts.caller.can_ask)),
        ("taints", set(taints)),
    ];
    let mut add = |name: &'static str, value: Option<RestrictedExpression>| {
        pairs.extend(value.map(|value| (name, value)));
    };
    let confidence = facts.signals.assurance.as_ref().and_then(|assurance| assurance.confidence);
    add("confidence", confidence.map(|confidence| RestrictedExpression::new_long(percent(confidence.get()))));
    let mut entities = Vec::new();
    if wanted.arguments || wanted.input {
        let input = facts.input.to_value();
        if wanted.arguments {
            let (arguments, complete) = Arguments::of(&input, &facts.redacted);
            if let Ok(maps) = arguments.entities() {
                entities.extend(maps);
                add("arguments", Arguments::record(complete));
            }
        }
        if wanted.input {
            add("input", input::record(&input, &facts.redacted));
        }
    }
    let kind = facts.tool.subject_kind();
    let runs = kind == Some(SubjectKind::Command);
    if wanted.commands && runs {
        add("commands", subjects::commands(facts.subjects()));
    }
    if wanted.paths && (runs || kind == Some(SubjectKind::Path)) {
        add("paths", subjects::paths(facts.subjects()));
    }
    if wanted.urls && kind == Some(SubjectKind::Url) {
        add("urls", subjects::urls(facts.subjects()));
    }
    let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
    Ok((Context::from_pairs(pairs).map_err(Box::new)?, entities))
}

/// Down to whole percents: a policy that asks for 90 is not met by 89.6. The little more is for fractions that have no exact
/// form, such as 0.29.
fn percent(confidence: f64) -> i64 {
    (confidence * 100.0 + 1e-9).floor() as i64
}
