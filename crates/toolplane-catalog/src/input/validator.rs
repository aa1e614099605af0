//! The validator of one tool's input.

use std::collections::BTreeSet;

use serde_json::Value;
use toolplane_records::error::FieldViolation;
use toolplane_records::payload::JsonPayload;

use super::explain::{Showing, explain};
use super::read::{SchemaInstance, read};
use super::sensitive::SensitiveFields;
use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::schema::pointer::escape;
use crate::schema::{CompiledSchema, compile};
use crate::violations::Violations;

/// Collecting reasons looks into every alternative and copies parts of the input for each, where the verdict alone stops at the
/// first contradiction. Beyond these estimates only the verdict is given.
const MAX_EXPLAINED_COST: u64 = 300_000;
const MAX_EXPLAINED_BYTES: u64 = 64 * 1024 * 1024;

/// Validates the inputs of one tool. Compile once per declaration, use for every call.
#[derive(Debug)]
pub struct InputValidator {
    /// `None` for a tool that takes no arguments.
    schema: Option<CompiledSchema>,
    runtime: Option<CompiledSchema>,
    internal: BTreeSet<String>,
    sensitive: SensitiveFields,
    limits: CatalogLimits,
}

impl InputValidator {
    /// Compiles the validator of `registration`; violations carry JSON pointers into the schema that is wrong.
    ///
    /// # Errors
    ///
    /// The violations that [`compile()`] finds in the model schema, or those it finds in the runtime schema when the
    /// model schema is right.
    pub fn for_registration(registration: &Registration, limits: &CatalogLimits) -> Result<Self, Vec<FieldViolation>> {
        let schema = registration.model_schema().map(|schema| compile(schema, limits)).transpose()?;
        let runtime = registration.runtime_schema().map(|schema| compile(schema, limits)).transpose()?;
        Ok(Self::new(registration, schema, runtime, limits))
    }

    /// A validator from the parts a full check of the registration already has.
    pub(crate) fn new(
        registration: &Registration,
        schema: Option<CompiledSchema>,
        runtime: Option<CompiledSchema>,
        limits: &CatalogLimits,
    ) -> Self {
        let internal = internal_fields(registration, schema.as_ref(), runtime.as_ref());
        let sensitive = SensitiveFields::of(registration);
        Self { schema, runtime, internal, sensitive, limits: limits.clone() }
    }

    /// The tool's sensitive fields.
    pub fn sensitive(&self) -> &SensitiveFields {
        &self.sensitive
    }

    /// Checks `input`: one JSON object within the bounds, without internal fields, every number one that can be judged
    /// exactly, satisfying the model schema; an object without fields when the tool takes no arguments.
    ///
    /// Violations are at most [`InputLimits::max_violations`](crate::limits::InputLimits::max_violations), each a JSON pointer, the rule it broke, and the value that broke it:
    /// shortened, and not when it is in a sensitive field.
    ///
    /// # Errors
    ///
    /// These violations, when the input breaks one of those rules; one violation of the whole input, when checking it
    /// would cost more than [`InputLimits::max_validation_cost`](crate::limits::InputLimits::max_validation_cost) steps.
    pub fn validate(&self, input: &JsonPayload) -> Result<(), Vec<FieldViolation>> {
        let SchemaInstance { value: instance, is_exact } = self.read(input)?;
        self.check_fields(&instance)?;
        // The value of a stand-in comes from no caller.
        let showing = if is_exact { Showing::to_the_caller(&self.sensitive, self.fields()) } else { self.rules_only() };
        self.check_model(&instance, input.size(), showing)
    }

    /// The fields a caller may give, as far as the model schema names them.
    pub fn fields(&self) -> &[String] {
        self.schema.as_ref().map_or(&[], CompiledSchema::root_members)
    }

    /// Checks an input on its way to the executor, after defaults, hooks and prompts: the model's fields against the model
    /// schema, internal fields and whatever else the runtime schema describes against that.
    ///
    /// Violations are as those of [`InputValidator::validate`], without values: hooks, people and the runtime gave some of them.
    ///
    /// # Errors
    ///
    /// The violations of the first of these checks that finds any:
    ///
    /// 1. The input is one JSON object within [`InputLimits::json`](crate::limits::InputLimits::json), and all its numbers can be judged exactly.
    /// 2. It satisfies the runtime schema.
    /// 3. Without internal fields it satisfies the model schema, or has no field when the tool takes no arguments.
    ///
    /// One violation of the whole input, when 2 or 3 would cost more than [`InputLimits::max_validation_cost`](crate::limits::InputLimits::max_validation_cost) steps.
    pub fn validate_call(&self, input: &JsonPayload) -> Result<(), Vec<FieldViolation>> {
        let instance = self.read(input)?.value;
        let Value::Object(mut fields) = instance else { return self.check_fields(&instance) };
        if let Some(runtime) = &self.runtime {
            let known = |name: &String| self.internal.contains(name) || runtime.root_members().contains(name);
            let part = fields.iter().filter(|(name, _)| known(name)).map(|(name, value)| (name.clone(), value.clone()));
            check_schema(runtime, &Value::Object(part.collect()), input.size(), self.rules_only(), &self.limits)?;
        }
        fields.retain(|name, _| !self.internal.contains(name));
        let part = Value::Object(fields);
        self.check_fields(&part)?;
        self.check_model(&part, input.size(), self.rules_only())
    }

    /// Whether inputs must satisfy more than the model schema before they reach the executor.
    pub fn has_runtime_schema(&self) -> bool {
        self.runtime.is_some()
    }

    fn read(&self, input: &JsonPayload) -> Result<SchemaInstance, Vec<FieldViolation>> {
        let blind = [&self.schema, &self.runtime].into_iter().flatten().all(CompiledSchema::is_blind_to_large);
        read(input, blind, &self.sensitive, &self.limits)
    }

    fn rules_only(&self) -> Showing<'_> {
        Showing::rules_only(&self.sensitive)
    }

    fn check_model(&self, instance: &Value, size: u64, showing: Showing<'_>) -> Result<(), Vec<FieldViolation>> {
        match &self.schema {
            Some(schema) => check_schema(schema, instance, size, showing, &self.limits),
            None => Ok(()),
        }
    }

    /// Whether the tool takes no arguments at all.
    pub fn takes_nothing(&self) -> bool {
        self.schema.is_none()
    }

    fn check_fields(&self, instance: &Value) -> Result<(), Vec<FieldViolation>> {
        let mut faults = Violations::default();
        let Value::Object(fields) = instance else {
            faults.add("", "must be of type `object`");
            return Err(faults.into_vec());
        };
        for name in fields.keys().filter(|name| self.internal.contains(*name)) {
            faults.add(format!("/{}", escape(name)), "is internal: callers must not give it");
        }
        if self.schema.is_none() {
            for name in fields.keys().take(self.limits.input.max_violations) {
                faults.add(format!("/{}", escape(name)), "is not a field of this tool: it takes no arguments");
            }
        }
        faults.into_result()
    }
}

/// Holds `instance` of `size` bytes against `schema`; what is wrong tells no more than `showing` allows.
pub(super) fn check_schema(
    schema: &CompiledSchema,
    instance: &Value,
    size: u64,
    showing: Showing<'_>,
    limits: &CatalogLimits,
) -> Result<(), Vec<FieldViolation>> {
    let cost = schema.cost().of(&values_at_depth(instance));
    if cost > limits.input.max_validation_cost {
        let rule = "is too large or too deeply nested to be checked against this tool's schema";
        return Err(vec![FieldViolation { field: String::new(), description: rule.to_owned() }]);
    }
    if schema.validator.is_valid(instance) {
        return Ok(());
    }
    let mut found: Vec<FieldViolation> = Vec::new();
    let copied = schema.cost().of(&[1]).saturating_mul(size);
    if cost <= MAX_EXPLAINED_COST && copied <= MAX_EXPLAINED_BYTES {
        for error in schema.validator.iter_errors(instance) {
            for violation in explain(&error, &showing) {
                if !found.contains(&violation) {
                    found.push(violation);
                }
            }
            if found.len() >= limits.input.max_violations {
                break;
            }
        }
        found.truncate(limits.input.max_violations);
    }
    if found.is_empty() {
        let rule = "does not satisfy the schema; the input is too large to list the reasons";
        found.push(FieldViolation { field: String::new(), description: rule.to_owned() });
    }
    Err(found)
}

/// Fields only hooks, prompts and the runtime may set: declared so, or known to the runtime schema alone.
fn internal_fields(
    registration: &Registration,
    schema: Option<&CompiledSchema>,
    runtime: Option<&CompiledSchema>,
) -> BTreeSet<String> {
    let declared = registration.contract().map(|contract| contract.internal_only_fields.clone()).unwrap_or_default();
    let shown = schema.map_or(&[][..], CompiledSchema::root_members);
    let runtime_only = runtime.into_iter().flat_map(CompiledSchema::root_members);
    let runtime_only = runtime_only.filter(|name| !shown.contains(name)).cloned();
    declared.into_iter().chain(runtime_only).collect()
}

/// How many values the instance has at each depth; the root alone is at depth 0.
fn values_at_depth(instance: &Value) -> Vec<u64> {
    let mut counts = vec![1];
    let mut level = vec![instance];
    while !level.is_empty() {
        let mut below = Vec::new();
        for value in level {
            match value {
                Value::Array(elements) => below.extend(elements),
                Value::Object(members) => below.extend(members.values()),
                _ => {}
            }
        }
        counts.push(below.len() as u64);
        level = below;
    }
    counts
}
