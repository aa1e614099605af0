//! Whether a call can run with the input that a person puts in place of the one that was shown, as far as the tool's declaration
//! and the rules tell: looked at before the answer counts, so that a slip does not spend the question.

use serde_json::Value;
use toolplane_catalog::{CatalogLimits, InputValidator, Registration, values};
use toolplane_policy::{CallFacts, CallerFacts, Policy, evaluate};
use toolplane_records::approval::Approval;
use toolplane_records::error::FieldViolation;
use toolplane_records::payload::{JsonPayload, REDACTED};
use toolplane_records::time::Timestamp;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::Behavior;

/// Every reason why the tool of `approval` cannot take `edited`, by field below the input. What is hidden in it is put back later
/// and not judged here; a question that came without the tool's declaration is judged only then.
pub(crate) fn faults(approval: &Approval, edited: &JsonPayload) -> Vec<FieldViolation> {
    let registration = approval.tool_registration.as_ref().and_then(|json| json.parse::<Registration>().ok());
    let Some(registration) = registration else { return Vec::new() };
    if !registration.mutable_by().prompts {
        let description = "the tool forbids that an approval changes its input".to_owned();
        return vec![FieldViolation { field: String::new(), description }];
    }
    let input = edited.to_value();
    let mut hidden = Vec::new();
    find_hidden("", &input, &mut hidden);
    let judged = |fault: &FieldViolation| {
        let place = if fault.field.is_empty() || fault.field.starts_with('/') {
            fault.field.clone()
        } else {
            format!("/{}", fault.field)
        };
        !hidden.iter().any(|hidden| hidden.starts_with(&place))
    };
    let mut faults = match InputValidator::for_registration(&registration, &CatalogLimits::default()) {
        Ok(validator) => validator.validate_call(edited).err().unwrap_or_default(),
        // A schema that was registered compiles; should it not, the executor that runs the call says so.
        Err(_) => Vec::new(),
    };
    let binding = registration.execution_profile.as_ref().and_then(|profile| profile.binding.as_ref());
    if faults.is_empty()
        && let Some(Err(error)) = binding.map(|binding| values::check(binding, edited))
    {
        faults = error.field_violations;
    }
    faults.retain(judged);
    faults
}

/// Why a rule denies the call of `approval` with `edited`; nothing where no rule surely does. Rules for roles and facts of the input
/// are not judged here: the decision about the call is made anew, from all of it.
pub(crate) fn denied(approval: &Approval, edited: &JsonPayload, policy: &Policy, now: Timestamp) -> Option<String> {
    let registration = approval.tool_registration.as_ref()?.parse::<Registration>().ok()?;
    let tool = ToolFacts { tool_id: approval.tool_id.clone(), ..registration.tool_facts() };
    let mut facts = CallFacts::new(tool, edited.clone());
    facts.declaration = Some(approval.declaration_digest);
    facts.caller = CallerFacts {
        tenant: approval.tenant.to_string(),
        actor: approval.actor_ref.clone(),
        session: approval.session_ref.clone().unwrap_or_default(),
        surface: approval.surface_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        ..CallerFacts::default()
    };
    find_hidden("", &edited.to_value(), &mut facts.redacted);
    let verdict = evaluate(policy, &facts, now);
    (verdict.behavior == Behavior::Deny && verdict.deciding.is_some()).then_some(verdict.reason.message.to_string())
}

/// Pointers of the values that stand for hidden ones.
fn find_hidden(place: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text == REDACTED => found.push(place.to_owned()),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            find_hidden(&format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), value, found);
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| find_hidden(&format!("{place}/{index}"), value, found));
        }
        _ => {}
    }
}
