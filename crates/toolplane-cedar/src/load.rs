//! From texts to checked policies, or to everything that is wrong with them.

mod annotations;
mod sample;

use std::collections::{HashMap, HashSet};
use std::str::FromStr as _;
use std::sync::OnceLock;

use cedar_policy::{Entity, EntityUid, Policy, PolicyId, PolicySet, Schema, ValidationMode, Validator};

use crate::fault::{PolicyFault, PolicyText};
use crate::names::{CALL, Type};
use crate::policies::Meaning;

const MAX_TEXT: usize = 1024 * 1024;
const MAX_POLICIES: usize = 10_000;

/// Policies that passed every check.
pub(crate) struct Checked {
    pub(crate) policies: Vec<Policy>,
    pub(crate) meanings: HashMap<String, Meaning>,
    pub(crate) warnings: Vec<PolicyFault>,
}

/// Reads the schema and checks that calls can be described with it. Returns the text it came from.
pub(crate) fn schema(given: Option<&PolicyText>) -> Result<(Schema, PolicyText), Vec<PolicyFault>> {
    static OURS: OnceLock<Schema> = OnceLock::new();
    let Some(source) = given.cloned() else {
        let source = PolicyText::new("toolplane.cedarschema", crate::schema::SCHEMA);
        if let Some(schema) = OURS.get() {
            return Ok((schema.clone(), source));
        }
        let schema = read_schema(&source)?;
        return Ok((OURS.get_or_init(|| schema).clone(), source));
    };
    Ok((read_schema(&source)?, source))
}

fn read_schema(source: &PolicyText) -> Result<Schema, Vec<PolicyFault>> {
    if source.text.len() > MAX_TEXT {
        return Err(vec![source.fault(format!("is longer than {MAX_TEXT} bytes"))]);
    }
    let read = Schema::from_cedarschema_str(&source.text).map(|(schema, _)| schema);
    let schema = read.map_err(|error| vec![source.fault_of(&error, None)])?;
    sample::describable(&schema, source).map_err(|fault| vec![fault])?;
    Ok(schema)
}

/// The actions of the schema, each with itself and what it is in, as entities. One that is in nothing needs none: that it is
/// itself is seen from its name.
pub(crate) fn actions(schema: &Schema) -> Result<HashMap<EntityUid, Vec<Entity>>, String> {
    let known = schema.action_entities().map_err(|error| error.to_string())?;
    let of = |uid: &EntityUid| {
        let above = known.ancestors(uid).into_iter().flatten();
        let all = std::iter::once(uid).chain(above).filter_map(|uid| known.get(uid).cloned()).collect::<Vec<_>>();
        if all.len() > 1 { all } else { Vec::new() }
    };
    Ok(schema.actions().map(|uid| (uid.clone(), of(uid))).collect())
}

/// Reads the policies of every text and checks them against the schema.
pub(crate) fn policies(sources: &[PolicyText], schema: &Schema) -> Result<Checked, Vec<PolicyFault>> {
    let mut faults = Vec::new();
    let mut read: Vec<ParsedPolicy<'_>> = Vec::new();
    for source in sources {
        match parse(source) {
            Ok(found) => read.extend(found),
            Err(found) => faults.extend(found),
        }
    }
    if read.len() > MAX_POLICIES {
        let rule = format!("there are {} policies with this one; at most {MAX_POLICIES} are allowed", read.len());
        faults.extend(read.get(MAX_POLICIES).map(|policy| policy.source.fault_at(policy.offset, rule)));
        return Err(faults);
    }
    let mut places: HashMap<String, (&PolicyText, usize)> = HashMap::new();
    let mut meanings = HashMap::new();
    let mut set = PolicySet::new();
    for ParsedPolicy { source, offset, number, policy } in &read {
        let (source, offset) = (*source, *offset);
        let (id, meaning) = match annotations::read(policy) {
            Ok(found) => found,
            Err(rules) => {
                faults.extend(rules.into_iter().map(|rule| source.fault_at(offset, rule)));
                continue;
            }
        };
        let id = id.unwrap_or_else(|| format!("{}#{number}", file_name(&source.name)));
        if let Some((other, _)) = places.insert(id.clone(), (source, offset)) {
            faults.push(source.fault_at(offset, format!("the id `{id}` is given twice, also in {}", other.name)));
            continue;
        }
        if let Err(error) = set.add(policy.new_id(PolicyId::new(&id))) {
            faults.push(source.fault_of(&error, Some(offset)));
        }
        meanings.insert(id, meaning);
    }
    let warnings = validate(&set, schema, &places, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Checked { policies: set.policies().cloned().collect(), meanings, warnings })
}

/// Strict validation; what can never apply is a fault, because a `forbid` that never applies is a hole.
fn validate(
    set: &PolicySet,
    schema: &Schema,
    places: &HashMap<String, (&PolicyText, usize)>,
    faults: &mut Vec<PolicyFault>,
) -> Vec<PolicyFault> {
    let result = Validator::new(schema.clone()).validate(set, ValidationMode::Strict);
    let place = |id: &PolicyId| places.get(AsRef::<str>::as_ref(id)).copied();
    let mut wrong = HashSet::new();
    for error in result.validation_errors() {
        wrong.insert(error.policy_id());
        faults.extend(place(error.policy_id()).map(|(source, at)| located(source, at, error)));
    }
    let mut warnings = Vec::new();
    for warning in result.validation_warnings() {
        // What is wrong for another reason is often impossible as well; one fault is enough.
        let place = place(warning.policy_id()).filter(|_| !wrong.contains(warning.policy_id()));
        let Some((source, at)) = place else { continue };
        let fault = located(source, at, warning);
        let never = matches!(warning, cedar_policy::ValidationWarning::ImpossiblePolicy(_));
        if never { &mut *faults } else { &mut warnings }.push(fault);
    }
    let order = |fault: &PolicyFault| (fault.source.clone(), fault.line);
    faults.sort_by_key(order);
    warnings.sort_by_key(order);
    warnings
}

fn located(source: &PolicyText, at: usize, error: &impl miette::Diagnostic) -> PolicyFault {
    let fault = source.fault_of(error, Some(at));
    // Cedar names the policy by its id; the place is said already.
    let rule = fault.rule.split_once("`, ").map(|(_, rest)| rest.to_owned());
    match rule {
        Some(rule) if fault.rule.starts_with("for policy `") => PolicyFault { rule, ..fault },
        _ => fault,
    }
}

/// A policy as it was read.
struct ParsedPolicy<'a> {
    source: &'a PolicyText,
    offset: usize,
    /// Which policy of its text it is, from 1.
    number: usize,
    policy: Policy,
}

fn parse(source: &PolicyText) -> Result<Vec<ParsedPolicy<'_>>, Vec<PolicyFault>> {
    if source.text.len() > MAX_TEXT {
        return Err(vec![source.fault(format!("is longer than {MAX_TEXT} bytes"))]);
    }
    let set = PolicySet::from_str(&source.text)
        .map_err(|errors| errors.iter().map(|error| source.fault_of(error, None)).collect::<Vec<_>>())?;
    let mut found: Vec<(usize, Policy)> = set.policies().map(|policy| (order(policy.id()), policy.clone())).collect();
    if let Some(template) = set.templates().next() {
        let at = source.text.find(&template.to_string()).unwrap_or(0);
        return Err(vec![source.fault_at(at, "is a template, and nothing fills its slots")]);
    }
    found.sort_by_key(|(order, _)| *order);
    let mut from = 0;
    let placed = found.into_iter().enumerate().map(|(index, (_, policy))| {
        let text = policy.to_string();
        let offset = source.text.get(from..).and_then(|rest| rest.find(&text)).map_or(from, |at| from + at);
        from = offset + text.len();
        ParsedPolicy { source, offset, number: index + 1, policy }
    });
    Ok(placed.collect())
}

/// Cedar names the policies of a text `policy0`, `policy1` ... in its order.
fn order(id: &PolicyId) -> usize {
    AsRef::<str>::as_ref(id).trim_start_matches("policy").parse().unwrap_or(usize::MAX)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The action of a call: the tool's own where the schema has one.
pub(crate) fn action_of(actions: &HashMap<EntityUid, Vec<Entity>>, full_name: &str) -> EntityUid {
    let own = Type::Action.uid(full_name);
    if actions.contains_key(&own) { own } else { Type::Action.uid(CALL) }
}
