//! From schema bytes to a validator, with everything that is wrong on the way.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;
use toolplane_records::error::FieldViolation;
use toolplane_records::json;
use toolplane_records::payload::JsonPayload;

use super::cost::{self, CostProfile, TooCostly};
use super::graph::{SchemaGraph, Step};
use crate::input::inexact_numbers;
use crate::limits::Limits;
use crate::violations::{Violations, shown};

const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";
/// Most faults of one schema that are listed.
const MAX_FAULTS: usize = 20;

/// A schema that passed every check, ready to validate.
#[derive(Debug)]
pub struct CompiledSchema {
    pub(crate) validator: Validator,
    cost: CostProfile,
    root_members: Vec<String>,
    is_object: bool,
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

    /// Whether the root says `"type": "object"`.
    pub fn is_object(&self) -> bool {
        self.is_object
    }
}

/// Checks `schema` and compiles it.
///
/// The schema must be JSON Schema 2020-12 within the limits, hold only references into itself, no loop that consumes no
/// input, only regular expressions that run in linear time, and no number that a double or a 64-bit integer would change.
/// Violations carry JSON pointers into the schema.
pub fn compile(schema: &JsonPayload, limits: &Limits) -> Result<CompiledSchema, Vec<FieldViolation>> {
    let mut faults = Violations::default();
    if let Err(refusal) = json::check(schema.bytes(), &limits.schema) {
        faults.add("", refusal);
        return Err(faults.into_vec());
    }
    for (pointer, _) in inexact_numbers(schema.text(), MAX_FAULTS) {
        faults.add(pointer, "is a number this program cannot hold exactly");
    }
    let document = schema.to_value();
    check_meta_schema(&document, &mut faults);
    faults.into_result()?;
    let graph = SchemaGraph::build(&document)?;
    let cost = check_cost(&graph, limits)?;
    let validator = build(&document, limits)?;
    let root_members = graph
        .in_place_of_root()
        .into_iter()
        .flat_map(|id| &graph.parts[id].edges)
        .filter_map(|edge| match &edge.step {
            Step::Member(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let is_object = document.get("type").and_then(Value::as_str) == Some("object");
    Ok(CompiledSchema { validator, cost, root_members, is_object })
}

fn check_meta_schema(document: &Value, faults: &mut Violations) {
    if !document.is_object() {
        faults.add("", "must be an object");
        return;
    }
    if let Some(named) = document.get("$schema")
        && named.as_str().map(|uri| uri.trim_end_matches('#')) != Some(DRAFT_2020_12)
    {
        faults.add("/$schema", format!("must be `{DRAFT_2020_12}` or left out"));
        return;
    }
    let meta_schema = jsonschema::draft202012::meta::validator();
    for error in meta_schema.iter_errors(document).take(MAX_FAULTS) {
        let rule = format!("is not valid in JSON Schema 2020-12: {}", shown(&error.masked().to_string(), 200));
        faults.add(error.instance_path().as_str(), rule);
    }
}

fn check_cost(graph: &SchemaGraph, limits: &Limits) -> Result<CostProfile, Vec<FieldViolation>> {
    let mut faults = Violations::default();
    if graph.patterns > limits.max_schema_patterns {
        let rule =
            format!("holds {} regular expressions; at most {} are allowed", graph.patterns, limits.max_schema_patterns);
        faults.add("", rule);
        return Err(faults.into_vec());
    }
    let place = |id: usize| graph.parts.get(id).map_or(String::new(), |part| part.pointer.clone());
    match cost::analyse(graph, limits.max_schema_paths) {
        Ok(profile) => return Ok(profile),
        Err(TooCostly::Loop(id)) => {
            faults.add(place(id), "refers back to itself without consuming any input, so it could never be decided");
        }
        Err(TooCostly::Chain(id)) => {
            faults.add(place(id), "too many schemas in a row apply to the same value");
        }
        Err(TooCostly::Paths(id, paths)) => {
            let bound = limits.max_schema_paths;
            faults.add(place(id), format!("takes at least {paths} evaluation paths; at most {bound} are allowed"));
        }
    }
    Err(faults.into_vec())
}

fn build(document: &Value, limits: &Limits) -> Result<Validator, Vec<FieldViolation>> {
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex().size_limit(limits.max_pattern_bytes))
        .should_validate_formats(true)
        .offline()
        .build(document)
        .map_err(|error| {
            let rule = format!("cannot be used: {}", shown(&error.to_string(), 200));
            vec![FieldViolation { field: error.instance_path().as_str().to_owned(), description: rule }]
        })
}
