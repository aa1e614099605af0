//! The declaration's own fields.

use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::ids::check_id;
use toolplane_records::mapping::ExternalMapping;

use super::checks::{check_list_length, check_name, check_text, check_value, check_version};
use crate::limits::CatalogLimits;
use crate::violations::Violations;

/// Longest tag, in characters.
pub const MAX_TAG_CHARS: usize = 64;

pub(super) fn check(declaration: &ToolDeclaration, limits: &CatalogLimits, faults: &mut Violations) {
    check_version("declaration.schema_version", &declaration.schema_version, faults);
    check_name("declaration.namespace", &declaration.namespace, faults);
    check_name("declaration.name", &declaration.name, faults);
    check_aliases("declaration.aliases", &declaration.aliases, limits, faults);
    if declaration.description.trim().is_empty() {
        faults.add("declaration.description", "must tell the model when and how to use the tool");
    }
    check_text("declaration.description", &declaration.description, limits.declaration.max_description_chars, faults);
    check_text("declaration.title", &declaration.title, limits.declaration.max_short_text_chars, faults);
    check_text("declaration.search_hint", &declaration.search_hint, limits.declaration.max_short_text_chars, faults);
    check_list_length("declaration.search_examples", declaration.search_examples.len(), limits, faults);
    for (index, example) in declaration.search_examples.iter().enumerate() {
        let place = format!("declaration.search_examples[{index}]");
        check_text(&place, example, limits.declaration.max_short_text_chars, faults);
    }
    check_tags(&declaration.tags, limits, faults);
    check_list_length("declaration.capability_refs", declaration.capability_refs.len(), limits, faults);
    for (index, capability) in declaration.capability_refs.iter().enumerate() {
        if let Err(rule) = check_id(capability) {
            faults.add(format!("declaration.capability_refs[{index}]"), rule);
        }
    }
    check_mappings("declaration.external_mappings", &declaration.external_mappings, limits, faults);
    check_value("declaration.annotations", declaration.annotations.as_ref(), true, &limits.declaration.value, faults);
}

/// Tags are words of their owner, in any script.
fn check_tags(tags: &[String], limits: &CatalogLimits, faults: &mut Violations) {
    check_list_length("declaration.tags", tags.len(), limits, faults);
    for (index, tag) in tags.iter().enumerate() {
        let place = format!("declaration.tags[{index}]");
        if tag.trim().is_empty() {
            faults.add(place, "must not be empty");
        } else if tag.chars().any(char::is_control) {
            faults.add(place, "must not have control characters");
        } else {
            check_text(&place, tag, MAX_TAG_CHARS, faults);
        }
    }
}

pub(super) fn check_aliases(field: &str, aliases: &[String], limits: &CatalogLimits, faults: &mut Violations) {
    check_list_length(field, aliases.len(), limits, faults);
    for (index, alias) in aliases.iter().enumerate() {
        let place = format!("{field}[{index}]");
        check_name(&place, alias, faults);
        if aliases[..index].contains(alias) {
            faults.add(place, format!("`{alias}` is given twice"));
        }
    }
}

pub(super) fn check_mappings(
    field: &str,
    mappings: &[ExternalMapping],
    limits: &CatalogLimits,
    faults: &mut Violations,
) {
    check_list_length(field, mappings.len(), limits, faults);
    for (index, mapping) in mappings.iter().enumerate() {
        let place = format!("{field}[{index}]");
        for (name, text) in [("source", &mapping.source), ("native_id", &mapping.native_id)] {
            if text.is_empty() {
                faults.add(format!("{place}.{name}"), "must not be empty");
            }
            check_text(&format!("{place}.{name}"), text, limits.declaration.max_short_text_chars, faults);
        }
        check_value(&format!("{place}.fields"), mapping.fields.as_ref(), true, &limits.declaration.value, faults);
    }
}
