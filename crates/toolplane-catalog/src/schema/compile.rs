//! From schema bytes to a validator, with everything that is wrong on the way.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use toolplane_records::error::FieldViolation;
use toolplane_records::json;
use toolplane_records::payload::JsonPayload;

use super::cost::{self, CostProfile, TooCostly};
use super::dialect::Dialect;
use super::graph::{SchemaGraph, SchemaStep};
use super::numbers;
use crate::input::explain;
use crate::input::explain::Showing;
use crate::input::numbers::inexact_numbers;
use crate::limits::CatalogLimits;
use crate::violations::{Violations, shown};

/// Most faults of one schema that are listed.
const MAX_FAULTS: usize = 20;

/// A schema that passed every check, ready to validate.
#[derive(Debug)]
pub struct CompiledSchema {
    pub(crate) validator: Validator,
    cost: CostProfile,
    root_members: Vec<String>,
    is_object: bool,
    blind_to_large: bool,
}

impl CompiledSchema {
    /// What validating an instance can cost.
    pub fn cost(&self) -> &CostProfile {
        &self.cost
    }

    /// The member names the schema describes for the instance's root, also through `allOf`, `$ref` and the like.
    pub fn root_members(&self) -> &[String] {
        &self.root_members
    }

    /// Whether its verdict is the same for every integer beyond 64 bits of one sign: it compares no number with one that large, and
    /// looks at no digits.
    pub fn is_blind_to_large(&self) -> bool {
        self.blind_to_large
    }

    /// Whether the root says `"type": "object"`.
    pub fn is_object(&self) -> bool {
        self.is_object
    }
}

/// Checks `schema` and compiles it.
///
/// The schema must be valid in the version of JSON Schema its `$schema` names (2020-12 without one; see [`Dialect`]) and within
/// the limits, hold only references into itself, no loop that consumes no input, only regular expressions that run in linear
/// time, and no number that a double or a 64-bit integer would change. Violations carry JSON pointers into the schema.
///
/// # Errors
///
/// At least one violation, when the schema breaks one of these rules. The rules are checked one after the other, so a
/// schema that is not valid is not held to the later ones.
pub fn compile(schema: &JsonPayload, limits: &CatalogLimits) -> Result<CompiledSchema, Vec<FieldViolation>> {
    let mut faults = Violations::default();
    if let Err(refusal) = json::check(schema.bytes(), &limits.schema.json) {
        faults.add("", refusal);
        return Err(faults.into_vec());
    }
    for (pointer, _) in inexact_numbers(schema.text(), MAX_FAULTS) {
        faults.add(pointer, "is a number this program cannot hold exactly");
    }
    let document = schema.to_value();
    let dialect = check_meta_schema(&document, &mut faults);
    faults.into_result()?;
    let graph = SchemaGraph::build(&document, dialect)?;
    let cost = check_cost(&graph, limits)?;
    let validator = build(&document, dialect, limits)?;
    let root_members = graph
        .in_place_of_root()
        .into_iter()
        .flat_map(|id| &graph.parts[id].edges)
        .filter_map(|edge| match &edge.step {
            SchemaStep::Member(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let is_object = document.get("type").and_then(Value::as_str) == Some("object");
    let blind_to_large = numbers::is_blind_to_large(&document);
    Ok(CompiledSchema { validator, cost, root_members, is_object, blind_to_large })
}

/// The version the document is written in, with what is wrong with it as that.
fn check_meta_schema(document: &Value, faults: &mut Violations) -> Dialect {
    if !document.is_object() {
        faults.add("", "must be an object");
        return Dialect::DEFAULT;
    }
    let named = document.get("$schema").map(Dialect::named);
    let dialect = match &named {
        None => Dialect::DEFAULT,
        Some(Ok(dialect)) => *dialect,
        Some(Err(rule)) => {
            faults.add("/$schema", rule);
            return Dialect::DEFAULT;
        }
    };
    let found = dialect.faults(document, MAX_FAULTS);
    for error in &found {
        for violation in explain(error, &Showing::everything()) {
            let rule = format!("is not valid in JSON Schema {}: {}", dialect.name(), violation.description);
            faults.add(violation.field, rule);
        }
    }
    if named.is_none()
        && !found.is_empty()
        && let Some(other) = Dialect::ALL.into_iter().rev().find(|other| other.faults(document, 1).is_empty())
    {
        let (own, name, uri) = (dialect.name(), other.name(), other.uri());
        faults.add("/$schema", format!("is missing, so the schema is read as {own}; for {name} it has to say `{uri}`"));
    }
    dialect
}

fn check_cost(graph: &SchemaGraph, limits: &CatalogLimits) -> Result<CostProfile, Vec<FieldViolation>> {
    let mut faults = Violations::default();
    if graph.patterns > limits.schema.max_patterns {
        let rule =
            format!("holds {} regular expressions; at most {} are allowed", graph.patterns, limits.schema.max_patterns);
        faults.add("", rule);
        return Err(faults.into_vec());
    }
    let place = |id: usize| graph.parts.get(id).map_or(String::new(), |part| part.pointer.clone());
    match cost::analyse(graph, limits.schema.max_paths) {
        Ok(profile) => return Ok(profile),
        Err(TooCostly::Loop(id)) => {
            faults.add(place(id), "refers back to itself without consuming any input, so it could never be decided");
        }
        Err(TooCostly::Chain(id)) => {
            faults.add(place(id), "too many schemas in a row apply to the same value");
        }
        Err(TooCostly::Paths(id, paths)) => {
            let bound = limits.schema.max_paths;
            faults.add(place(id), format!("takes at least {paths} evaluation paths; at most {bound} are allowed"));
        }
    }
    Err(faults.into_vec())
}

fn build(document: &Value, dialect: Dialect, limits: &CatalogLimits) -> Result<Validator, Vec<FieldViolation>> {
    jsonschema::options()
        .with_draft(dialect.draft())
        .with_pattern_options(PatternOptions::regex().size_limit(limits.schema.max_pattern_bytes))
        .should_validate_formats(true)
        .offline()
        .build(document)
        .map_err(|error| {
            let rule = format!("cannot be used: {}", shown(&error.to_string(), 200));
            vec![FieldViolation { field: error.instance_path().as_str().to_owned(), description: rule }]
        })
}
