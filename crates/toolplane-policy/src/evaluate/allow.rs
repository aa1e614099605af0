//! What lets a call run: rules for each of its parts, or the mode; and what is asked when nothing does.

use toolplane_records::vocabulary::{Behavior, ReasonType};

use super::classified::{because, classifier, of_classifier};
use super::hits::{Hit, RuleHits};
use super::ruling::{Ruling, blocked, quoted};
use crate::org::OrgVerdict;
use crate::rule::Rule;
use crate::scene::{Scene, TargetPart, What, concern, is_plain_edit, text_of};
use crate::verdict::source;
use toolplane_matching::command::{Shell, SimpleCommand, Why, Word};
use toolplane_matching::fit::Fit;
use toolplane_matching::subject::SubjectKind;
use toolplane_matching::tools::Family;
use toolplane_records::mode::Mode;

/// What lets a part run.
pub(crate) enum Cover<'a> {
    /// This rule.
    Rule(&'a Rule),
    /// Something else, which is said.
    Other(&'static str),
    /// Nothing; why not.
    None(String),
    /// Nothing has to.
    NotNeeded,
}

const BY_POLICIES: &str = "the organisation's policies permit the call";
const BY_HOOK: &str = "a hook that may allow does";
const BY_EDITS: &str = "the mode `accept_edits` allows edits beneath the workspace";
const BY_BYPASS: &str = "the mode `bypass` allows what no rule is about";

pub(super) fn decide<'a>(scene: &Scene<'_>, found: &RuleHits<'a>, org: &OrgVerdict) -> Ruling<'a> {
    let covers: Vec<(&TargetPart<'_>, Cover<'a>)> =
        scene.target.parts.iter().map(|part| (part, cover(scene, found, org, part))).collect();
    let open = covers.iter().filter_map(|(part, cover)| match cover {
        Cover::None(why) => Some((*part, why.as_str())),
        _ => None,
    });
    let open: Vec<(&TargetPart<'_>, &str)> = open.collect();
    let needed = covers.iter().any(|(_, cover)| !matches!(cover, Cover::NotNeeded));
    if open.is_empty() && needed && scene.target.is_complete() {
        return allowed(scene, found, &covers, org);
    }
    // Without parts, or with parts that cannot be seen, only something about the call as a whole allows it.
    if open.is_empty()
        && let Some(whole) = whole(scene, found, org)
    {
        return whole;
    }
    if open.is_empty() && bypasses(scene) {
        return Ruling::new(Behavior::Allow, source::MODE, ReasonType::Mode, BY_BYPASS);
    }
    let unusual = open.iter().find_map(|(part, why)| concern(part).map(|concern| (*part, concern, *why)));
    if let Some((part, concern, why)) = unusual {
        let blocked_path = part.path().map(blocked);
        return Ruling { blocked_path, ..Ruling::new(Behavior::Ask, source::SAFETY_CHECK, concern, why) };
    }
    unanswered(scene, found, &open)
}

/// The parts nothing allows.
pub(crate) fn open_parts<'p>(scene: &Scene<'p>, found: &RuleHits<'_>, org: &OrgVerdict) -> Vec<TargetPart<'p>> {
    let is_open = |part: &&TargetPart<'_>| matches!(cover(scene, found, org, part), Cover::None(_));
    scene.target.parts.iter().filter(is_open).copied().collect()
}

/// What lets one part run, the first that does.
pub(crate) fn cover<'a>(scene: &Scene<'_>, found: &RuleHits<'a>, org: &OrgVerdict, part: &TargetPart<'_>) -> Cover<'a> {
    if !part.needs_cover {
        return Cover::NotNeeded;
    }
    if let Some(concern) = concern(part) {
        if let Some(hit) = found.allows.iter().find(|hit| scene.names_part(hit.rule, part)) {
            return Cover::Rule(hit.rule);
        }
        let path = part.path().map(quoted).unwrap_or_default();
        return match concern {
            ReasonType::WorkingDir if bypasses(scene) => Cover::Other(BY_BYPASS),
            ReasonType::WorkingDir => Cover::None(format!("`{path}` is outside the workspace")),
            _ => Cover::None(format!("`{path}` is a protected path")),
        };
    }
    let fits = |hit: &&Hit<'_>| hit.whole || scene.part_fit(hit.rule, part) == Fit::Yes;
    if let Some(hit) = found.allows.iter().find(fits) {
        return Cover::Rule(hit.rule);
    }
    if org.behavior == Behavior::Allow {
        return Cover::Other(BY_POLICIES);
    }
    if authoritative_hook(scene).is_some() {
        return Cover::Other(BY_HOOK);
    }
    if scene.call.caller.mode == Mode::AcceptEdits && is_accepted_edit(scene, part) {
        return Cover::Other(BY_EDITS);
    }
    if bypasses(scene) {
        return Cover::Other(BY_BYPASS);
    }
    Cover::None(match part.what {
        What::Command(_) | What::Shell(_) if part.only_whole => {
            format!("no rule is about the tool as a whole, and {}", why_not_plain(scene))
        }
        _ => "no rule is about it".to_owned(),
    })
}

fn bypasses(scene: &Scene<'_>) -> bool {
    scene.call.caller.mode == Mode::Bypass && scene.may_bypass()
}

fn authoritative_hook<'s>(scene: &'s Scene<'_>) -> Option<&'s toolplane_records::explanation::HookVerdict> {
    scene.call.signals.hooks.iter().find(|hook| hook.authoritative && hook.behavior == Behavior::Allow)
}

/// An edit by a tool that does nothing but edit and read files, or by a redirection.
fn is_accepted_edit(scene: &Scene<'_>, part: &TargetPart<'_>) -> bool {
    let by_tool = Family::Edit.fit(Behavior::Allow, &scene.call.tool) == Fit::Yes;
    is_plain_edit(part) && (by_tool || scene.target.kind == Some(SubjectKind::Command))
}

fn why_not_plain(scene: &Scene<'_>) -> String {
    let of_shell = |shell: &Shell| {
        let inner = shell.commands.iter().flat_map(|command| &command.why_not_plain);
        shell.opaque.or_else(|| shell.why_not_plain.iter().chain(inner).next().copied())
    };
    let why = scene.target.subjects.commands().iter().filter(|shell| !shell.is_plain()).find_map(of_shell);
    why.map_or_else(|| "the command cannot be judged".to_owned(), |why| why.to_string())
}

/// Something that allows the call whatever is in it.
fn whole<'a>(scene: &Scene<'_>, found: &RuleHits<'a>, org: &OrgVerdict) -> Option<Ruling<'a>> {
    if let Some(hit) = found.allows.iter().find(|hit| hit.whole) {
        return Some(Ruling::of_hit(hit, ""));
    }
    if org.behavior == Behavior::Allow {
        return Some(Ruling::of_org(org));
    }
    authoritative_hook(scene).map(|hook| {
        let message = format!("the hook `{}` allows, and may{}", hook.hook_id, because(&hook.message));
        Ruling::new(Behavior::Allow, source::HOOK, ReasonType::Hook, message)
    })
}

/// The call is allowed part by part: by one voice, or by several.
fn allowed<'a>(
    scene: &Scene<'_>,
    found: &RuleHits<'a>,
    covers: &[(&TargetPart<'_>, Cover<'a>)],
    org: &OrgVerdict,
) -> Ruling<'a> {
    let mut rules: Vec<&'a Rule> = Vec::new();
    let mut others: Vec<&'static str> = Vec::new();
    for (_, cover) in covers {
        match cover {
            Cover::Rule(rule) if !rules.iter().any(|known| known.id() == rule.id()) => rules.push(rule),
            Cover::Other(why) if !others.contains(why) => others.push(why),
            _ => {}
        }
    }
    match (rules.as_slice(), others.as_slice()) {
        ([rule], []) => {
            let outcome = found.allows.iter().find(|hit| hit.rule.id() == rule.id()).map(|hit| Ruling::of_hit(hit, ""));
            outcome.unwrap_or_else(|| Ruling::new(Behavior::Allow, rule.source().as_str(), ReasonType::Rule, ""))
        }
        ([], [one]) if *one == BY_EDITS || *one == BY_BYPASS => {
            Ruling::new(Behavior::Allow, source::MODE, ReasonType::Mode, *one)
        }
        ([], [_]) => whole(scene, found, org)
            .unwrap_or_else(|| Ruling::new(Behavior::Allow, source::DEFAULT, ReasonType::Other, "")),
        _ => {
            let names: Vec<String> = rules.iter().map(|rule| format!("the rule `{}`", rule.id())).collect();
            let all = names.iter().map(String::as_str).chain(others.iter().copied());
            let message = format!("each part is allowed: {}", all.collect::<Vec<_>>().join("; "));
            let rule = rules.first().copied();
            let source = rule.map_or(source::MODE, |rule| rule.source().as_str());
            Ruling { rule, ..Ruling::new(Behavior::Allow, source, ReasonType::SubcommandResults, message) }
        }
    }
}

/// Why it cannot be seen what a text runs.
fn unseen(shell: &Shell) -> Option<Why> {
    let named = |command: &SimpleCommand| command.words.first().is_none_or(Word::is_known);
    shell.opaque.or_else(|| (!shell.commands.iter().all(named)).then_some(Why::Expansion))
}

/// Nothing allows the call: a classifier may, otherwise a person is asked.
fn unanswered(scene: &Scene<'_>, found: &RuleHits<'_>, open: &[(&TargetPart<'_>, &str)]) -> Ruling<'static> {
    if let Some(why) = scene.target.subjects.commands().iter().find_map(unseen) {
        let message = format!("what the command runs cannot be seen: {why}");
        return Ruling::new(Behavior::Ask, source::DEFAULT, ReasonType::SafetyCheck, message);
    }
    if let Some(check) = classifier(scene.call, Behavior::Allow) {
        return of_classifier(check, Behavior::Allow);
    }
    let by_pattern = scene.target.is_complete() && open.iter().all(|(part, _)| !part.only_whole);
    let outcome = match open {
        [(part, why), ..] if scene.target.parts.len() > 1 => {
            let message = format!("`{}`: {why}", quoted(&text_of(part)));
            Ruling::new(Behavior::Ask, source::DEFAULT, ReasonType::SubcommandResults, message)
        }
        [(part, why), ..] if part.only_whole => Ruling::new(Behavior::Ask, source::DEFAULT, ReasonType::Other, *why),
        _ => Ruling::new(Behavior::Ask, source::DEFAULT, ReasonType::Other, "no rule is about this call"),
    };
    let outcome = match found.outdated.first() {
        Some(rule) => {
            let message =
                format!("{}; the rule `{}` allowed the tool as it was declared before", outcome.message, rule.id());
            Ruling { message, ..outcome }
        }
        None => outcome,
    };
    Ruling { answerable: by_pattern, ..outcome }
}
