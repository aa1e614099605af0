//! What to suggest, and what it would match.

use toolplane_records::rule::ArgumentCondition;
use toolplane_records::visible;
use toolplane_records::vocabulary::RuleSource;

use super::command;
use crate::call::CallFacts;
use crate::condition::Operator;
use crate::scene::{Scene, TargetPart, What};
use toolplane_matching::path::PathFact;

/// Most characters of an input that a description shows.
const MAX_SHOWN_INPUT: usize = 200;

/// A suggestion before it is put into rules.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) destination: RuleSource,
    pub(super) description: String,
    pub(super) matchers: Vec<RuleExamples>,
}

/// One rule of a suggestion.
#[derive(Clone, Debug)]
pub(super) struct RuleExamples {
    pub(super) matcher: String,
    pub(super) matches: Vec<String>,
    pub(super) does_not_match: Vec<String>,
    /// Conditions on arguments; the texts above do not count them.
    pub(super) arguments: Vec<ArgumentCondition>,
}

/// A pattern with what it matches.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) pattern: String,
    pub(super) matches: Vec<String>,
    pub(super) does_not_match: Vec<String>,
}

/// What could be suggested for the parts nothing allows yet, from narrow to wide.
pub(super) fn wishes(scene: &Scene<'_>, open: &[TargetPart<'_>]) -> Vec<Wish> {
    let tool = scene.call.tool.full_name.as_str();
    if open.is_empty() {
        return of_tool(scene.call);
    }
    let exact: Option<Vec<RuleExamples>> =
        open.iter().map(|part| exact(part).map(|example| entry(tool, part, example))).collect();
    let wider: Option<Vec<RuleExamples>> =
        open.iter().map(|part| wider(part).map(|example| entry(tool, part, example))).collect();
    let mut wishes = Vec::new();
    let mut add = |destination, entries: &Option<Vec<RuleExamples>>| {
        let Some(entries) = entries else { return };
        let matchers = unique(entries);
        let names: Vec<&str> = matchers.iter().map(|entry| entry.matcher.as_str()).collect();
        let description = names.join(" and ");
        wishes.push(Wish { destination, description, matchers });
    };
    // Exactly this, for as few as can be named; then for everyone; then what is like it.
    let narrowest = if scene.call.caller.session.is_empty() { RuleSource::UserSettings } else { RuleSource::Session };
    add(narrowest, &exact);
    add(RuleSource::ProjectSettings, &exact);
    add(RuleSource::ProjectSettings, &wider);
    add(RuleSource::UserSettings, if wider.is_some() { &wider } else { &exact });
    wishes
}

/// For a tool whose input has no commands, paths or URLs: exactly this call for as few as can be named, then every call of the
/// tool, for few and for all.
fn of_tool(call: &CallFacts) -> Vec<Wish> {
    let tool = call.tool.full_name.as_str();
    let entry = |arguments: Vec<ArgumentCondition>| RuleExamples {
        matcher: tool.to_owned(),
        matches: vec![tool.to_owned()],
        does_not_match: vec![format!("{tool}_other")],
        arguments,
    };
    let shown = visible::excerpt(call.input.text(), MAX_SHOWN_INPUT);
    let exact = |destination| Wish {
        destination,
        description: format!("{tool} with exactly the arguments {shown},"),
        matchers: vec![entry(vec![ArgumentCondition {
            pointer: String::new(),
            op: Operator::Eq.as_str().to_owned(),
            value: Some(call.input.clone()),
        }])],
    };
    let every = |destination| Wish {
        destination,
        description: format!("every call of {tool}, whatever its arguments,"),
        matchers: vec![entry(Vec::new())],
    };
    let places = [
        (!call.caller.session.is_empty()).then_some(RuleSource::Session),
        (!call.caller.actor.is_empty()).then_some(RuleSource::UserSettings),
        Some(RuleSource::ProjectSettings),
    ];
    let places: Vec<RuleSource> = places.into_iter().flatten().collect();
    places.iter().take(1).map(|place| exact(*place)).chain(places.iter().map(|place| every(*place))).collect()
}

fn unique(entries: &[RuleExamples]) -> Vec<RuleExamples> {
    let mut kept: Vec<RuleExamples> = Vec::new();
    for entry in entries {
        match kept.iter_mut().find(|known| known.matcher == entry.matcher) {
            Some(known) => {
                for text in &entry.matches {
                    if !known.matches.contains(text) {
                        known.matches.push(text.clone());
                    }
                }
            }
            None => kept.push(entry.clone()),
        }
    }
    kept
}

/// The rule for a part: about the tool by its own name, or about edits where a command redirects into a file.
fn entry(tool: &str, part: &TargetPart<'_>, example: Example) -> RuleExamples {
    let redirected = matches!(part.what, What::Path(_)) && part.by_command;
    let name = if redirected { "Edit" } else { tool };
    RuleExamples {
        matcher: format!("{name}({})", example.pattern),
        matches: example.matches,
        does_not_match: example.does_not_match,
        arguments: Vec::new(),
    }
}

fn exact(part: &TargetPart<'_>) -> Option<Example> {
    match part.what {
        What::Command(command) => command::exact(command),
        What::Shell(_) | What::Url(Err(_)) => None,
        What::Path(path) => {
            let inside = inside(&path.fact)?;
            Some(Example {
                pattern: format!("/{inside}"),
                matches: vec![inside.to_owned()],
                does_not_match: vec![format!("{inside}.other"), format!("other/{inside}")],
            })
        }
        What::Url(Ok(url)) => {
            let host = &url.host;
            // The usual port of https is the only one a domain alone stands for.
            let pattern = match (url.scheme.as_str(), url.port) {
                ("https", Some(443)) | ("http", Some(80)) | (_, None) => format!("domain:{host}"),
                (_, Some(port)) => format!("domain:{host}:{port}"),
            };
            let port = url.port.map(|port| format!(":{port}")).unwrap_or_default();
            Some(Example {
                pattern,
                matches: vec![format!("{}://{host}{port}/", url.scheme)],
                does_not_match: vec![format!("{}://not-{host}{port}/", url.scheme)],
            })
        }
    }
}

fn wider(part: &TargetPart<'_>) -> Option<Example> {
    match part.what {
        What::Command(command) => command::prefix(command),
        What::Path(path) => {
            let inside = inside(&path.fact)?;
            let (directory, _) = inside.rsplit_once('/')?;
            Some(Example {
                pattern: format!("/{directory}/**"),
                matches: vec![inside.to_owned(), format!("{directory}/other.txt")],
                does_not_match: vec![format!("{directory}-other/file.txt"), format!("other/{inside}")],
            })
        }
        What::Url(Ok(_)) => exact(part),
        What::Shell(_) | What::Url(Err(_)) => None,
    }
}

/// A path beneath the workspace that stands for itself in a pattern.
fn inside(fact: &PathFact) -> Option<&str> {
    match fact {
        PathFact::Inside(inside)
            if !inside.is_empty() && !inside.contains(['*', '?', '[', ']', '{', '}', '\\', '!']) =>
        {
            Some(inside)
        }
        _ => None,
    }
}
