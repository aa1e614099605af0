//! One call as Cedar sees it: who, what, and on which tool.

use std::collections::{HashMap, HashSet};

use cedar_policy::{Entity, EntityAttrEvaluationError, EntityUid, RestrictedExpression};
use toolplane_matching::Certainty;
use toolplane_policy::{CallFacts, FactName};
use toolplane_records::vocabulary::RiskLevel;

use crate::names::Type;

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

/// Every entity of the call: the actor, the tool, and what they are in. Claims of authors who are not trusted are left out
/// where they speak for the call.
pub(crate) fn entities(facts: &CallFacts, resource: &[EntityUid], trusted: bool) -> Result<Vec<Entity>, Failed> {
    let own;
    let resource = if resource.is_empty() {
        own = self::resource(facts);
        &own
    } else {
        resource
    };
    let mut above: HashSet<EntityUid> = facts.caller.roles.iter().map(|role| Type::Role.uid(role)).collect();
    above.insert(Type::Tenant.uid(&facts.caller.tenant));
    let mut found: Vec<Entity> = above.iter().map(|uid| Entity::new_no_attrs(uid.clone(), HashSet::new())).collect();
    let tenant = Attributes::from([("tenant".to_owned(), text(&facts.caller.tenant))]);
    found.push(Entity::new(principal(facts), tenant, above).map_err(Box::new)?);
    // Whatever the tool is in is named flatly; nothing asks what a namespace is in.
    let above: HashSet<EntityUid> = resource.iter().skip(1).cloned().collect();
    found.extend(above.iter().map(|uid| Entity::new_no_attrs(uid.clone(), HashSet::new())));
    let name = resource.first().cloned().unwrap_or_else(|| Type::Tool.uid(&facts.tool.full_name));
    found.push(Entity::new(name, tool(facts, trusted), above).map_err(Box::new)?);
    Ok(found)
}

fn tool(facts: &CallFacts, trusted: bool) -> Attributes {
    let tool = &facts.tool;
    let mut attributes = Attributes::from([
        ("id".to_owned(), text(tool.tool_id.as_str())),
        ("namespace".to_owned(), text(&tool.namespace)),
        ("aliases".to_owned(), set(&tool.aliases)),
        ("trusted".to_owned(), RestrictedExpression::new_bool(trusted)),
    ]);
    let mut add = |name: &str, value: Option<RestrictedExpression>| {
        attributes.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("kind", tool.kind.map(|kind| text(kind.as_str())));
    if let Some(profile) = &tool.profile {
        add("risk_level", Some(text(profile.risk_level.as_str())));
        add("risk_rank", Some(RestrictedExpression::new_long(rank(profile.risk_level))));
        let words: Vec<&str> = profile.access_kinds.iter().map(|kind| kind.as_str()).collect();
        add("access_kinds", (!words.is_empty()).then(|| set(&words)));
        let words: Vec<&str> = profile.write_effects.iter().map(|effect| effect.as_str()).collect();
        add("write_effects", (!words.is_empty()).then(|| set(&words)));
        add("network_scope", profile.network_scope.as_deref().map(text));
        add("data_sensitivity", profile.data_sensitivity.as_deref().map(text));
    }
    for name in FactName::ALL {
        let known = match facts.safety.believed(*name, !trusted) {
            Certainty::Unknown => None,
            known => Some(RestrictedExpression::new_bool(known == Certainty::Yes)),
        };
        add(name.as_str(), known);
    }
    attributes
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
