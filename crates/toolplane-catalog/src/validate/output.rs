//! What a tool says of what it gives.

use toolplane_cleaning::{DeclaredRule, MAX_RULES};
use toolplane_matching::glob::PathGlob;
use toolplane_records::contract::OutputContract;
use toolplane_records::profile::{ExecutionBinding, ExecutionProfile};
use toolplane_records::result::CONTENT_CLASSES;
use toolplane_records::retention::keep_ms;

use super::checks::{check_list_length, check_text, check_value, compile_at};
use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::violations::{Violations, shown};

const OUTPUT: &str = "declaration.output_contract";

/// Persistence policies a tool may name: outputs kept as their size asks for, only referred to, or never kept outside the result.
pub const PERSISTENCE_POLICIES: &[&str] = &["default", "ref_only", "never_persist"];

/// Sandbox profiles in which a program may write to its workspace.
const WRITING: [&str; 2] = ["workspace_write", "workspace_shell_sandbox"];

/// Checks the output contract by itself.
pub(super) fn check(contract: &OutputContract, limits: &CatalogLimits, faults: &mut Violations) {
    compile_at(&format!("{OUTPUT}.structured_schema"), contract.structured_schema.as_ref(), limits, faults);
    check_list_length(&format!("{OUTPUT}.content_types"), contract.content_types.len(), limits, faults);
    check_list_length(&format!("{OUTPUT}.artifact_expectations"), contract.artifact_expectations.len(), limits, faults);
    for (name, bound) in
        [("max_inline_bytes", contract.max_inline_bytes), ("max_inline_chars", contract.max_inline_chars)]
    {
        if bound == Some(0) {
            faults.add(format!("{OUTPUT}.{name}"), "must be at least 1");
        }
    }
    let boundary = contract.rendering_boundary.as_ref();
    check_value(&format!("{OUTPUT}.rendering_boundary"), boundary, false, &limits.declaration.value, faults);
    if let Some(summary) = &contract.fallback_summary {
        check_text(&format!("{OUTPUT}.fallback_summary"), summary, limits.declaration.max_short_text_chars, faults);
    }
}

/// Checks the words that are carried out, and what only the parts together say. Of a new registration alone: earlier versions took any.
pub(super) fn check_new(registration: &Registration, faults: &mut Violations) {
    let contract = registration.declaration.output_contract.as_ref();
    if let Some(contract) = contract {
        check_words(contract, faults);
    }
    let interface = registration.interface.as_ref();
    let policies = [
        ("interface", interface.and_then(|interface| interface.persistence_policy_ref.as_deref())),
        (OUTPUT, contract.and_then(|contract| contract.persistence_policy_ref.as_deref())),
    ];
    for (place, policy) in policies.into_iter().filter_map(|(place, policy)| Some((place, policy?))) {
        if !PERSISTENCE_POLICIES.contains(&policy) {
            let rule = format!("`{}` must be one of {}", shown(policy, 80), PERSISTENCE_POLICIES.join(", "));
            faults.add(format!("{place}.persistence_policy_ref"), rule);
        }
    }
    let permission = registration.permission_profile.as_ref();
    if let Some(Err(rule)) = permission.and_then(|profile| profile.retention_hint.as_deref()).map(keep_ms) {
        faults.add("permission_profile.retention_hint", rule);
    }
    let says = |flag: fn(&ExecutionProfile) -> bool| registration.execution_profile.as_deref().is_some_and(flag);
    let expects = contract.is_some_and(|contract| !contract.artifact_expectations.is_empty());
    if expects && !says(|profile| profile.supports_artifacts) {
        let rule = "needs an execution profile that declares `supports_artifacts`";
        faults.add(format!("{OUTPUT}.artifact_expectations"), rule);
    }
    if expects && !says(may_leave_files) {
        let rule = format!("must be one in which the tool may write, to leave artifacts: {}", WRITING.join(", "));
        faults.add("execution_profile.sandbox_profile", rule);
    }
    if says(|profile| profile.supports_resume) && !says(|profile| profile.supports_partial_results) {
        let rule = "needs `supports_partial_results`: what a tool goes on from comes with what it has shown";
        faults.add("execution_profile.supports_resume", rule);
    }
}

/// Whether the files that are expected of a program can be left by it. How other tools make artifacts is their own affair.
fn may_leave_files(profile: &ExecutionProfile) -> bool {
    let named = profile.sandbox_profile.as_deref();
    match &profile.binding {
        Some(ExecutionBinding::Shell { .. }) => named.is_none_or(|name| WRITING.contains(&name)),
        Some(ExecutionBinding::Process(_)) => named.is_some_and(|name| WRITING.contains(&name)),
        _ => true,
    }
}

fn check_words(contract: &OutputContract, faults: &mut Violations) {
    if contract.redaction_rules.len() > MAX_RULES {
        faults.add(format!("{OUTPUT}.redaction_rules"), format!("must be at most {MAX_RULES}"));
    }
    for (index, rule) in contract.redaction_rules.iter().enumerate() {
        if let Err(why) = rule.parse::<DeclaredRule>() {
            faults.add(format!("{OUTPUT}.redaction_rules[{index}]"), format!("`{}` {why}", shown(rule, 80)));
        }
    }
    for (index, class) in contract.content_types.iter().enumerate() {
        if !CONTENT_CLASSES.contains(&class.as_str()) {
            let rule = format!("`{}` must be one of {}", shown(class, 40), CONTENT_CLASSES.join(", "));
            faults.add(format!("{OUTPUT}.content_types[{index}]"), rule);
        }
    }
    for (index, pattern) in contract.artifact_expectations.iter().enumerate() {
        let read = if pattern.is_empty() { Err("must not be empty".to_owned()) } else { Ok(pattern) };
        let read = read.and_then(|pattern| PathGlob::parse(pattern).map_err(|error| error.to_string()));
        if let Err(rule) = read {
            faults.add(format!("{OUTPUT}.artifact_expectations[{index}]"), rule);
        }
    }
}
