//! Input and output contracts, and the schemas of both contract and interface.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;
use toolplane_records::contract::InputContract;

use super::checks::{Schemas, check_list_length, check_text, check_value, compile_at};
use crate::input::{SensitiveFields, Showing, explain};
use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::schema::{CompiledSchema, decode_pointer, escape};
use crate::violations::{Violations, shown};

const INPUT: &str = "declaration.input_contract";

/// Checks the contracts and gives back the schemas in force: the interface's where it has one, else the contract's.
pub(super) fn check(registration: &Registration, limits: &CatalogLimits, faults: &mut Violations) -> Schemas {
    let contract = registration.contract();
    let interface = registration.interface.as_ref();
    let own_model = contract.and_then(|contract| contract.model_input_schema.as_ref());
    let own_runtime = contract.and_then(|contract| contract.runtime_input_schema.as_ref());
    let model = input_schema(&format!("{INPUT}.model_input_schema"), own_model, limits, faults);
    let runtime = input_schema(&format!("{INPUT}.runtime_input_schema"), own_runtime, limits, faults);
    let over_model = interface.and_then(|interface| interface.model_input_schema.as_ref());
    let over_model = input_schema("interface.model_input_schema", over_model, limits, faults);
    let over_runtime = interface.and_then(|interface| interface.runtime_input_schema.as_ref());
    let over_runtime = input_schema("interface.runtime_input_schema", over_runtime, limits, faults);
    let over_output = interface.and_then(|interface| interface.output_schema.as_ref());
    compile_at("interface.output_schema", over_output, limits, faults);
    let schemas = Schemas { model: over_model.or(model), runtime: over_runtime.or(runtime) };
    if let Some(contract) = contract {
        check_input(contract, &schemas, limits, faults);
    }
    if let Some(contract) = &registration.declaration.output_contract {
        super::output::check(contract, limits, faults);
    }
    schemas
}

fn input_schema(
    field: &str,
    schema: Option<&toolplane_records::payload::JsonPayload>,
    limits: &CatalogLimits,
    faults: &mut Violations,
) -> Option<CompiledSchema> {
    let compiled = compile_at(field, schema, limits, faults)?;
    if !compiled.is_object() {
        faults.add(field, "must say `\"type\": \"object\"` at its root: tools take one object");
    }
    Some(compiled)
}

fn check_input(contract: &InputContract, schemas: &Schemas, limits: &CatalogLimits, faults: &mut Violations) {
    let field = |name: &str| format!("{INPUT}.{name}");
    check_list_length(&field("internal_only_fields"), contract.internal_only_fields.len(), limits, faults);
    for (index, name) in contract.internal_only_fields.iter().enumerate() {
        let place = field(&format!("internal_only_fields[{index}]"));
        if name.is_empty() {
            faults.add(place, "must not be empty");
        } else if schemas.model.as_ref().is_some_and(|model| model.root_members().contains(name)) {
            faults.add(place, format!("`{name}` is internal and must not appear in the model schema"));
        }
    }
    check_list_length(&field("sensitive_fields"), contract.sensitive_fields.len(), limits, faults);
    for (index, pointer) in contract.sensitive_fields.iter().enumerate() {
        let place = field(&format!("sensitive_fields[{index}]"));
        match decode_pointer(pointer).as_deref() {
            None | Some([]) => faults.add(place, "must be a JSON pointer to a field, e.g. `/password`"),
            Some([first, ..]) if !schemas.knows(first) && schemas.model.is_some() => {
                faults.add(place, format!("names `{}`, which no schema describes", shown(first, 80)));
            }
            Some(_) => {}
        }
    }
    if let Some(policy) = &contract.mutation_policy {
        check_text(&field("mutation_policy"), policy, limits.declaration.max_short_text_chars, faults);
    }
    check_defaults(contract, schemas, limits, faults);
    check_examples(contract, schemas, limits, faults);
}

/// Defaults stand in for fields a caller leaves out, so each must fit its field; together they need not be a whole input.
fn check_defaults(contract: &InputContract, schemas: &Schemas, limits: &CatalogLimits, faults: &mut Violations) {
    let place = format!("{INPUT}.defaults");
    let Some(defaults) = &contract.defaults else { return };
    if !check_value(&place, Some(defaults), true, &limits.declaration.value, faults) {
        return;
    }
    let defaults = defaults.to_value();
    for name in defaults.as_object().into_iter().flat_map(|fields| fields.keys()) {
        if contract.internal_only_fields.contains(name) {
            faults.add(format!("{place}/{name}"), "is internal: a default cannot give it");
        }
    }
    let Some(model) = &schemas.model else { return };
    let sensitive = SensitiveFields::new(&contract.sensitive_fields);
    if model.cost().of(&[1, 1, 1]) > limits.input.max_validation_cost {
        return;
    }
    for error in model.validator.iter_errors(&defaults).take(limits.input.max_violations) {
        let about_one_field = !error.instance_path().as_str().is_empty()
            || matches!(
                error.kind(),
                ValidationErrorKind::AdditionalProperties { .. } | ValidationErrorKind::PropertyNames { .. }
            );
        if about_one_field {
            misfit(&place, &error, &sensitive, faults);
        }
    }
}

fn check_examples(contract: &InputContract, schemas: &Schemas, limits: &CatalogLimits, faults: &mut Violations) {
    check_list_length(&format!("{INPUT}.examples"), contract.examples.len(), limits, faults);
    let sensitive = SensitiveFields::new(&contract.sensitive_fields);
    for (index, example) in contract.examples.iter().enumerate() {
        let place = format!("{INPUT}.examples[{index}]");
        if !check_value(&place, Some(example), true, &limits.declaration.value, faults) {
            continue;
        }
        let value: Value = example.to_value();
        for name in contract.internal_only_fields.iter().filter(|name| value.get(name.as_str()).is_some()) {
            faults.add(format!("{place}/{}", escape(name)), "is internal: an example shows it to the model");
        }
        if let Some(model) = &schemas.model
            && let Some(error) = model.validator.iter_errors(&value).next()
        {
            misfit(&place, &error, &sensitive, faults);
        }
    }
}

/// A default or an example that the model schema does not take.
fn misfit(place: &str, error: &ValidationError<'_>, sensitive: &SensitiveFields, faults: &mut Violations) {
    for violation in explain(error, &Showing::to_the_caller(sensitive, &[])) {
        let rule = format!("does not fit the model schema: {}", violation.description);
        faults.add(format!("{place}{}", violation.field), rule);
    }
}
