//! One call as Cedar sees it: who, what, and on which tool.

use std::collections::{HashMap, HashSet};

use cedar_policy::{Entity, EntityAttrEvaluationError, EntityUid, RestrictedExpression};
use toolplane_matching::Certainty;
use toolplane_policy::{CallFacts, FactName};
use toolplane_records::vocabulary::RiskLevel;

use crate::names::Type;
use crate::wanted::Wanted;

type Attributes = HashMap<String, RestrictedExpression>;
type Failed = Box<EntityAttrEvaluationError>;

/// Who calls.
pub(crate) fn principal(facts: &CallFacts) -> EntityUid {
    Type::Actor.uid(&facts.caller.actor)
}

/// The tool first, then every namespace it is in, then its kind.
pub(crate) fn resource(facts: &CallFacts) -> Vec<EntityUid> {
    let mut names = vec![Type::Tool.uid(&facts.tool.full_name)];
    names.extend(namespaces(&facts.tool.namespace).map(|name| Type::Namespace.uid(name)));
    names.extend(facts.tool.kind.map(|kind| Type::ToolKind.uid(kind.as_str())));
    names
}

/// `a.b.c`, `a.b`, `a`.
fn namespaces(namespace: &str) -> impl Iterator<Item = &str> {
    let first = (!namespace.is_empty()).then_some(namespace);
    std::iter::successors(first, |name| name.rsplit_once('.').map(|(above, _)| above))
}

/// The entities of the call, as far as policies look at them: the actor, the tool, and what they are in. Claims of authors who
/// are not trusted are left out where they speak for the call.
///
/// What they are in has no attributes and is in nothing itself, so a policy finds it by name whether it is there or not.
pub(crate) fn entities(
    facts: &CallFacts,
    resource: &[EntityUid],
    trusted: bool,
    wanted: &Wanted,
) -> Result<Vec<Entity>, Failed> {
    let roles = facts.caller.roles.iter().map(|role| Type::Role.uid(role));
    let callers: HashSet<EntityUid> = roles.chain([Type::Tenant.uid(&facts.caller.tenant)]).collect();
    // Whatever the tool is in is named flatly; nothing asks what a namespace is in.
    let kinds: HashSet<EntityUid> = resource.iter().skip(1).cloned().collect();
    let mut found = Vec::new();
    if *wanted == Wanted::Everything {
        let above = callers.iter().chain(&kinds);
        found.extend(above.map(|uid| Entity::new_no_attrs(uid.clone(), HashSet::new())));
    }
    let mut tenant = Attributes::new();
    if wanted.has("tenant") {
        tenant.insert("tenant".to_owned(), text(&facts.caller.tenant));
    }
    found.push(Entity::new(principal(facts), tenant, callers).map_err(Box::new)?);
    let name = resource.first().cloned().unwrap_or_else(|| Type::Tool.uid(&facts.tool.full_name));
    found.push(Entity::new(name, tool(facts, trusted, wanted), kinds).map_err(Box::new)?);
    Ok(found)
}

fn tool(facts: &CallFacts, trusted: bool, wanted: &Wanted) -> Attributes {
    let tool = &facts.tool;
    let mut attributes = Attributes::new();
    let mut add = |name: &str, value: &dyn Fn() -> Option<RestrictedExpression>| {
        if wanted.has(name) {
            attributes.extend(value().map(|value| (name.to_owned(), value)));
        }
    };
    add("id", &|| Some(text(tool.tool_id.as_str())));
    add("namespace", &|| Some(text(&tool.namespace)));
    add("aliases", &|| Some(set(&tool.aliases)));
    add("trusted", &|| Some(RestrictedExpression::new_bool(trusted)));
    add("kind", &|| tool.kind.map(|kind| text(kind.as_str())));
    if let Some(profile) = &tool.profile {
        add("risk_level", &|| Some(text(profile.risk_level.as_str())));
        add("risk_rank", &|| Some(RestrictedExpression::new_long(rank(profile.risk_level))));
        add("access_kinds", &|| words(profile.access_kinds.iter().map(|kind| kind.as_str())));
        add("write_effects", &|| words(profile.write_effects.iter().map(|effect| effect.as_str())));
        add("network_scope", &|| profile.network_scope.as_deref().map(text));
        add("data_sensitivity", &|| profile.data_sensitivity.as_deref().map(text));
    }
    for name in FactName::ALL {
        add(name.as_str(), &|| match facts.safety.believed(*name, !trusted) {
            Certainty::Unknown => None,
            known => Some(RestrictedExpression::new_bool(known == Certainty::Yes)),
        });
    }
    attributes
}

/// A set of words; none where there are none.
fn words<'a>(words: impl Iterator<Item = &'a str>) -> Option<RestrictedExpression> {
    let words: Vec<&str> = words.collect();
    (!words.is_empty()).then(|| set(&words))
}

fn rank(level: RiskLevel) -> i64 {
    match level {
        RiskLevel::Low => 1,
        RiskLevel::Medium => 2,
        RiskLevel::High => 3,
        RiskLevel::Critical => 4,
    }
}

/// A text.
pub(crate) fn text(value: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(value.to_owned())
}

/// A set of texts.
pub(crate) fn set<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> RestrictedExpression {
    RestrictedExpression::new_set(values.into_iter().map(|value| text(value.as_ref())))
}
