//! The interface: references that must agree, and safety facts whose rules must be known.

use toolplane_records::interface::{SafetyFact, ToolInterface};
use toolplane_records::vocabulary::WriteEffect;

use super::checks::{Schemas, check_list_length, check_text, check_value, check_version};
use super::declaration::{check_aliases, check_mappings};
use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::safety::{SafetyFactName, SafetyRule, classified_field, declared};
use crate::violations::{Violations, shown};

pub(super) fn check(registration: &Registration, schemas: &Schemas, limits: &CatalogLimits, faults: &mut Violations) {
    check_refs(registration, faults);
    if let Some(interface) = &registration.interface {
        check_own(interface, registration, limits, faults);
        check_facts(registration, interface, schemas, faults);
    }
    check_contradictions(registration, faults);
}

/// A reference must name the record that came with it: a name that leads nowhere would silently mean "no facts".
fn check_refs(registration: &Registration, faults: &mut Violations) {
    let declaration = &registration.declaration;
    let interface = registration.interface.as_deref();
    let interface_id = interface.map(|interface| interface.interface_id.as_str());
    let execution = registration.execution_profile.as_ref();
    let execution_id = execution.map(|profile| profile.execution_profile_id.as_str());
    let permission = registration.permission_profile.as_ref();
    let permission_id = permission.map(|profile| profile.permission_profile_id.as_str());
    let over = |get: fn(&ToolInterface) -> Option<&String>| interface.and_then(get);
    let refs = [
        ("declaration.interface_ref", declaration.interface_ref.as_ref(), interface_id, "interface"),
        (
            "declaration.execution_profile_ref",
            declaration.execution_profile_ref.as_ref(),
            execution_id,
            "execution profile",
        ),
        (
            "interface.execution_profile_ref",
            over(|interface| interface.execution_profile_ref.as_ref()),
            execution_id,
            "execution profile",
        ),
        (
            "declaration.permission_profile_ref",
            declaration.permission_profile_ref.as_ref(),
            permission_id,
            "permission profile",
        ),
        (
            "interface.permission_profile_ref",
            over(|interface| interface.permission_profile_ref.as_ref()),
            permission_id,
            "permission profile",
        ),
    ];
    for (field, named, given, noun) in refs {
        match (named, given) {
            (Some(named), None) => {
                faults.add(field, format!("names `{}`, but the registration has no {noun}", shown(named, 80)));
            }
            (Some(named), Some(given)) if named != given => {
                faults.add(field, format!("names `{}`, but the {noun} is `{given}`", shown(named, 80)));
            }
            _ => {}
        }
    }
}

fn check_own(interface: &ToolInterface, registration: &Registration, limits: &CatalogLimits, faults: &mut Violations) {
    let declaration = &registration.declaration;
    check_version("interface.schema_version", &interface.schema_version, faults);
    if interface.tool_id != declaration.tool_id {
        faults.add("interface.tool_id", format!("must be `{}` like the declaration's", declaration.tool_id));
    }
    if !interface.name.is_empty() && interface.name != declaration.name {
        faults.add("interface.name", format!("must be `{}` like the declaration's, or left out", declaration.name));
    }
    check_aliases("interface.aliases", &interface.aliases, limits, faults);
    check_text("interface.search_hint", &interface.search_hint, limits.declaration.max_short_text_chars, faults);
    check_value(
        "interface.classifier_input",
        interface.classifier_input.as_ref(),
        false,
        &limits.declaration.value,
        faults,
    );
    check_value("interface.rendering", interface.rendering.as_ref(), true, &limits.declaration.value, faults);
    check_mappings("interface.external_mappings", &interface.external_mappings, limits, faults);
    if interface.max_inline_chars == Some(0) {
        faults.add("interface.max_inline_chars", "must be at least 1");
    }
    for (field, names) in
        [("required_credentials", &interface.required_credentials), ("feature_gate_refs", &interface.feature_gate_refs)]
    {
        check_list_length(&format!("interface.{field}"), names.len(), limits, faults);
        for (index, name) in names.iter().enumerate() {
            if let Err(rule) = toolplane_records::ids::check_id(name) {
                faults.add(format!("interface.{field}[{index}]"), rule);
            }
        }
    }
    if interface.should_defer == Some(true) && interface.always_load == Some(true) {
        faults.add("interface.always_load", "contradicts `should_defer`");
    }
}

fn check_facts(registration: &Registration, interface: &ToolInterface, schemas: &Schemas, faults: &mut Violations) {
    if let Some(SafetyFact::Rule(rule)) = &interface.is_enabled
        && rule.strip_prefix("feature:").is_none_or(str::is_empty)
    {
        faults.add("interface.is_enabled", format!("`{}` is not true, false or `feature:<gate>`", shown(rule, 80)));
    }
    let mut classifies = false;
    for name in SafetyFactName::ALL {
        let Some(SafetyFact::Rule(text)) = declared(interface, *name) else { continue };
        let field = format!("interface.{name}");
        match SafetyRule::parse(text) {
            None => {
                faults.add(field, format!("`{}` is not a known rule; known are {}", shown(text, 80), SafetyRule::KNOWN))
            }
            Some(rule) if !rule.answers(*name) => {
                faults.add(field, format!("the rule `{text}` does not answer this fact"));
            }
            Some(SafetyRule::SameAs(_)) if follows_itself(interface, *name) => {
                faults.add(field, "follows facts that lead back to itself");
            }
            Some(SafetyRule::SameAs(_)) => {}
            Some(SafetyRule::Input(input)) if schemas.model.is_some() && !schemas.knows(input) => {
                faults.add(field, format!("names `{}`, which no schema describes", shown(input, 80)));
            }
            Some(SafetyRule::Input(_)) => {}
            Some(SafetyRule::CommandReadOnly | SafetyRule::CommandDestructive) => classifies = true,
        }
    }
    if classifies {
        match classified_field(registration) {
            None => faults.add(
                "interface.classifier_input",
                "must be `input.<field>`: a classifier has to know which field to look at",
            ),
            Some(field) if schemas.model.is_some() && !schemas.knows(&field) => {
                faults.add("interface.classifier_input", format!("names `{field}`, which no schema describes"));
            }
            Some(_) => {}
        }
    }
}

fn follows_itself(interface: &ToolInterface, start: SafetyFactName) -> bool {
    let mut name = start;
    for _ in SafetyFactName::ALL {
        match declared(interface, name) {
            Some(SafetyFact::Rule(text)) => match SafetyRule::parse(text) {
                Some(SafetyRule::SameAs(next)) if next == start => return true,
                Some(SafetyRule::SameAs(next)) => name = next,
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}

fn check_contradictions(registration: &Registration, faults: &mut Violations) {
    let interface = registration.interface.as_ref();
    let says = |name: SafetyFactName| {
        matches!(interface.and_then(|interface| declared(interface, name)), Some(SafetyFact::Known(true)))
    };
    if !says(SafetyFactName::ReadOnly) {
        return;
    }
    if says(SafetyFactName::Destructive) {
        faults.add("interface.is_destructive", "contradicts `is_read_only`");
    }
    let effects = registration.permission_profile.iter().flat_map(|profile| &profile.write_effects);
    for effect in effects.filter(|effect| **effect != WriteEffect::None) {
        faults
            .add("permission_profile.write_effects", format!("`{effect}` contradicts `is_read_only` of the interface"));
    }
}
