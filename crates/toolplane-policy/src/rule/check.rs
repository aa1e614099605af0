//! What a rule must be like.

use toolplane_matching::Matcher;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::check_id;
use toolplane_records::rule::{PermissionRule, RulePin, RuleScope};
use toolplane_records::vocabulary::Behavior;

use super::compiled::Rule;
use crate::condition::{ArgumentTest, FactTest};

/// Longest matcher, in bytes.
pub const MAX_MATCHER: usize = 4096;
/// Most characters of a reason.
pub const MAX_REASON_CHARS: usize = 400;
/// Most facts, and most argument conditions, of one rule.
pub const MAX_CONDITIONS: usize = 32;
/// Most examples of one rule, `match` and `not_match` each.
pub const MAX_EXAMPLES: usize = 64;
/// Most bytes of one example.
const MAX_EXAMPLE: usize = 8192;
/// Longest text of a scope or author, in bytes.
const MAX_NAME: usize = 256;
/// Roles a scope may name; another word would make a rule that is never about any caller.
pub const ROLES: &[&str] = &["agent", "approver", "operator", "worker", "auditor", "peer"];

/// Faults of one rule, as they are found.
#[derive(Default)]
struct Faults(Vec<FieldViolation>);

impl Faults {
    fn add(&mut self, field: impl Into<String>, rule: impl ToString) {
        self.0.push(FieldViolation { field: field.into(), description: rule.to_string() });
    }

    fn keep<T, E: ToString>(&mut self, field: impl Into<String>, read: Result<T, E>) -> Option<T> {
        read.map_err(|rule| self.add(field, rule.to_string())).ok()
    }
}

pub(super) fn rule(record: &PermissionRule) -> Result<Rule, Vec<FieldViolation>> {
    let mut faults = Faults::default();
    faults.keep("rule_id", check_id(&record.rule_id));
    if record.behavior == Behavior::Passthrough {
        faults.add("behavior", "must be `allow`, `ask` or `deny`");
    }
    let matcher = matcher(record, &mut faults);
    let facts = facts(record, &mut faults);
    let arguments = arguments(record, &mut faults);
    scope(&record.scope, &mut faults);
    if record.reason.chars().count() > MAX_REASON_CHARS {
        faults.add("reason", format!("has more than {MAX_REASON_CHARS} characters"));
    }
    if let Some(rule) = broken_name_rule(&record.author) {
        faults.add("author", rule);
    }
    if let Some(pin) = &record.pin {
        pinned(pin, record.behavior, &mut faults);
    }
    if let (Some(from), Some(until)) = (record.created_at, record.expires_at)
        && until <= from
    {
        faults.add("expires_at", "must be after `created_at`");
    }
    for (field, examples) in [("match", &record.matches), ("not_match", &record.not_matches)] {
        if examples.len() > MAX_EXAMPLES {
            faults.add(field, format!("has more than {MAX_EXAMPLES} entries"));
        }
        if examples.iter().any(|example| example.bytes().len() > MAX_EXAMPLE) {
            faults.add(field, format!("has an entry of more than {MAX_EXAMPLE} bytes"));
        }
    }
    match matcher {
        Some(matcher) if faults.0.is_empty() => Ok(Rule { record: record.clone(), matcher, facts, arguments }),
        _ => Err(faults.0),
    }
}

fn matcher(record: &PermissionRule, faults: &mut Faults) -> Option<Matcher> {
    if record.matcher.len() > MAX_MATCHER {
        faults.add("matcher", format!("is longer than {MAX_MATCHER} bytes"));
        return None;
    }
    let matcher: Matcher = faults.keep("matcher", record.matcher.parse())?;
    if record.behavior == Behavior::Allow && record.matcher == ".*" {
        faults.add("matcher", "must be `*` for every tool in a rule that allows");
        return None;
    }
    faults.keep("matcher", matcher.check(record.behavior)).map(|()| matcher)
}

/// What is wrong with the name of a rule that is written now: it is almost the name of a family, and would be about nothing.
///
/// Asked of rules that are configured or added. Rules that are kept already stay in force whatever words they hold.
pub fn slip(record: &PermissionRule) -> Option<FieldViolation> {
    let matcher: Matcher = record.matcher.parse().ok()?;
    let fault = matcher.tools.check_word().err()?;
    Some(FieldViolation { field: "matcher".to_owned(), description: fault.to_string() })
}

/// The author who makes a tool into another one must not get rid of a deny or ask that way.
fn pinned(pin: &RulePin, behavior: Behavior, faults: &mut Faults) {
    if behavior != Behavior::Allow {
        faults.add("pin", "goes only with `allow`: a deny or an ask holds however the tool is declared");
    }
    if pin.registration.as_ref().is_some_and(|registration| registration.digest() != pin.declaration_digest) {
        faults.add("pin.registration", "is not what `pin.declaration_digest` is the digest of");
    }
}

fn facts(record: &PermissionRule, faults: &mut Faults) -> Vec<FactTest> {
    if record.facts.len() > MAX_CONDITIONS {
        faults.add("facts", format!("has more than {MAX_CONDITIONS} entries"));
    }
    let mut facts: Vec<FactTest> = Vec::new();
    for (index, text) in record.facts.iter().enumerate().take(MAX_CONDITIONS) {
        let place = format!("facts[{index}]");
        let Some(fact) = faults.keep(place.as_str(), text.parse::<FactTest>()) else { continue };
        if facts.iter().any(|other| other.is_about_the_same(&fact)) {
            faults.add(place, format!("`{text}` is asked for twice"));
        }
        facts.push(fact);
    }
    facts
}

fn arguments(record: &PermissionRule, faults: &mut Faults) -> Vec<ArgumentTest> {
    if record.arguments.len() > MAX_CONDITIONS {
        faults.add("arguments", format!("has more than {MAX_CONDITIONS} entries"));
    }
    let conditions = record.arguments.iter().enumerate().take(MAX_CONDITIONS);
    conditions
        .filter_map(|(index, condition)| faults.keep(format!("arguments[{index}]"), ArgumentTest::parse(condition)))
        .collect()
}

fn scope(scope: &RuleScope, faults: &mut Faults) {
    let named = [
        ("tenant", &scope.tenant),
        ("namespace", &scope.namespace),
        ("actor", &scope.actor),
        ("session", &scope.session),
        ("surface", &scope.surface),
    ];
    for (field, text) in named {
        if let Some(rule) = broken_name_rule(text) {
            faults.add(format!("scope.{field}"), rule);
        }
    }
    if !scope.role.is_empty() && !ROLES.contains(&scope.role.as_str()) {
        faults.add("scope.role", format!("must be one of: {}", ROLES.join(", ")));
    }
}

/// The rule that a name breaks, when it breaks one.
fn broken_name_rule(text: &str) -> Option<String> {
    if text.len() > MAX_NAME {
        return Some(format!("is longer than {MAX_NAME} bytes"));
    }
    let is_pattern = text.contains('*') || text.chars().any(char::is_control);
    is_pattern.then(|| "must not contain `*` or control characters".to_owned())
}
