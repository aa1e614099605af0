//! The answers of programs: what they write to standard output, and what their exit code says.
//!
//! Two spellings are understood, and may be mixed: the one users of coding agents know (`hookSpecificOutput` and the
//! fields beside it), and the flat names of the standard's records.

use toolplane_records::hook::{HookPermission, HookStop};
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{Behavior, HookEvent, PersistenceStrategy};

use super::fields::ObjectMembers;
use super::{Classified, HookOutput, is_before};
use crate::bounds::MAX_ANSWER_BYTES;
use crate::failure::HookFailure;
use crate::replacement::Replacement;
use crate::told;

/// Reads what a program wrote before it ended with exit code 0.
///
/// A JSON object is an answer, any other text is context for the model, and nothing is an answer that changes nothing.
/// What begins like an object and is none is a failure: a program that tried to say something must be understood.
pub fn read(event: HookEvent, written: &[u8]) -> Result<HookOutput, HookFailure> {
    if written.len() > MAX_ANSWER_BYTES {
        return Err(HookFailure::TooLarge { bound: MAX_ANSWER_BYTES });
    }
    let text = std::str::from_utf8(written).map_err(|_| HookFailure::bad("it is not UTF-8"))?.trim();
    if text.is_empty() {
        return Ok(HookOutput::default());
    }
    if !text.starts_with('{') {
        let context = HookOutput { additional_context: vec![text.to_owned()], ..HookOutput::default() };
        return Ok(context.fit(event));
    }
    let limits = JsonLimits { max_bytes: MAX_ANSWER_BYTES, ..JsonLimits::default() };
    let answer = JsonPayload::ingest(text.to_owned(), &limits)
        .map_err(|refusal| HookFailure::bad(format!("it breaks {}", refusal.code())))?;
    let mut fields = ObjectMembers::of(answer.text(), "it")?;
    let mut output = HookOutput::default();
    known(event, &mut fields, &mut output)?;
    flat(&mut fields, &mut output)?;
    output.notes.extend(fields.left(""));
    Ok(output.fit(event))
}

/// The answer of a program that ended with exit code 2: a refusal, with what it wrote to standard error as the reason.
pub fn refused(event: HookEvent, written: &[u8]) -> HookOutput {
    let said = String::from_utf8_lossy(written);
    let reason = Some(said.trim()).filter(|said| !said.is_empty()).unwrap_or("refused without a reason").to_owned();
    let mut output = HookOutput::default();
    if is_before(event) {
        output.permission = Some(HookPermission { behavior: Behavior::Deny, message: reason });
    } else if event == HookEvent::ResultPersistence {
        output.persistence = Some(PersistenceStrategy::DropWithReason);
        output.block = Some(reason);
    } else {
        output.block = Some(reason);
    }
    output.fit(event)
}

const TEXT: &str = "a text";
const FLAG: &str = "true or false";

/// The spelling of coding agents.
fn known(event: HookEvent, fields: &mut ObjectMembers, output: &mut HookOutput) -> Result<(), HookFailure> {
    let goes_on: Option<bool> = fields.take("continue", FLAG)?;
    let why: Option<String> = fields.take("stopReason", TEXT)?;
    if goes_on == Some(false) {
        let reason = why.unwrap_or_else(|| "a hook stopped the call".to_owned());
        output.stop = Some(HookStop { reason });
    }
    // How much is shown of a hook is not for it to say here.
    let _: Option<bool> = fields.take("suppressOutput", FLAG)?;
    output.messages.extend(fields.take::<String>("systemMessage", TEXT)?);
    let decision: Option<String> = fields.take("decision", TEXT)?;
    let reason: Option<String> = fields.take("reason", TEXT)?;
    if let Some(decision) = decision {
        decided(event, &decision, reason.unwrap_or_default(), output)?;
    }
    let Some(mut specific) = fields.object("hookSpecificOutput")? else { return Ok(()) };
    let named: Option<String> = specific.take("hookEventName", TEXT)?;
    if let Some(named) = named.filter(|named| !told::is_name_of(named, event)) {
        let named = crate::bounds::cut(&named, 64);
        return Err(HookFailure::bad(format!("`hookEventName` is `{named}`, and the point is `{event}`")));
    }
    specifics(&mut specific, output)?;
    output.notes.extend(specific.left("hookSpecificOutput."));
    Ok(())
}

/// The older word beside everything else.
fn decided(event: HookEvent, word: &str, reason: String, output: &mut HookOutput) -> Result<(), HookFailure> {
    match word {
        "block" | "deny" if is_before(event) => tighten(output, Behavior::Deny, reason),
        "approve" | "allow" if is_before(event) => tighten(output, Behavior::Allow, reason),
        "block" | "deny" => {
            if event == HookEvent::ResultPersistence {
                output.persistence = Some(PersistenceStrategy::DropWithReason);
            }
            output.block = Some(reason);
        }
        "approve" | "allow" => output.notes.push(format!("`decision` of `{word}` does nothing at `{event}`")),
        _ => return Err(HookFailure::bad("`decision` must be `block` or `approve`")),
    }
    Ok(())
}

fn specifics(specific: &mut ObjectMembers, output: &mut HookOutput) -> Result<(), HookFailure> {
    let decision: Option<String> = specific.take("permissionDecision", TEXT)?;
    let reason: Option<String> = specific.take("permissionDecisionReason", TEXT)?;
    if let Some(decision) = decision {
        let behavior = match decision.as_str() {
            // A parked question is how a decision is put off here.
            "defer" => Behavior::Ask,
            word => word
                .parse()
                .map_err(|_| HookFailure::bad("`permissionDecision` must be `allow`, `deny`, `ask` or `defer`"))?,
        };
        tighten(output, behavior, reason.unwrap_or_default());
    }
    output.updated_input = specific.value("updatedInput");
    output.additional_context.extend(specific.texts("additionalContext")?);
    let older = specific.value("updatedMCPToolOutput");
    output.updated_output = specific.value("updatedToolOutput").or(older).map(Replacement::of).transpose()?;
    if let Some(mut decision) = specific.object("decision")? {
        answered(&mut decision, output)?;
        output.notes.extend(decision.left("hookSpecificOutput.decision."));
    }
    Ok(())
}

/// The answer to a permission request.
fn answered(decision: &mut ObjectMembers, output: &mut HookOutput) -> Result<(), HookFailure> {
    let behavior: Option<Behavior> = decision.take("behavior", "`allow`, `deny` or `ask`")?;
    let message: String = decision.take("message", TEXT)?.unwrap_or_default();
    let interrupt: Option<bool> = decision.take("interrupt", FLAG)?;
    if let Some(input) = decision.value("updatedInput") {
        output.updated_input = Some(input);
    }
    if decision.value("updatedPermissions").is_some() {
        output.notes.push("`updatedPermissions` is not taken from hooks: rules are the operator's".to_owned());
    }
    if interrupt == Some(true) && behavior == Some(Behavior::Deny) {
        output.stop = Some(HookStop { reason: message.clone() });
    }
    if let Some(behavior) = behavior {
        tighten(output, behavior, message);
    }
    Ok(())
}

/// The flat names of the standard.
fn flat(fields: &mut ObjectMembers, output: &mut HookOutput) -> Result<(), HookFailure> {
    output.messages.extend(fields.texts("message")?);
    output.progress.extend(fields.texts("progress")?);
    if let Some(input) = fields.value("updated_input") {
        output.updated_input = Some(input);
    }
    let permission: Option<HookPermission> = fields.take("permission_result", "{behavior, message}")?;
    if let Some(permission) = permission {
        tighten(output, permission.behavior, permission.message);
    }
    output.additional_context.extend(fields.texts("additional_context")?);
    let stop: Option<HookStop> = fields.take("stop", "{reason}")?;
    output.stop = output.stop.take().or(stop);
    if let Some(value) = fields.value("updated_output") {
        output.updated_output = Some(Replacement::of(value)?);
    }
    if let Some(block) = fields.take::<String>("block", TEXT)? {
        output.block = Some(block);
    }
    let strategy: Option<PersistenceStrategy> = fields.take("persistence", "a persistence strategy")?;
    output.persistence = strategy.or(output.persistence);
    if let Some(mut classifier) = fields.object("classifier")? {
        output.classifier = Some(classified(&mut classifier)?);
        output.notes.extend(classifier.left("classifier."));
    }
    Ok(())
}

fn classified(fields: &mut ObjectMembers) -> Result<Classified, HookFailure> {
    Ok(Classified {
        classifier_ref: fields.take("classifier_ref", TEXT)?.unwrap_or_default(),
        pending: fields.take("pending", FLAG)?.unwrap_or_default(),
        confidence: fields.take("confidence", "a number from 0 to 1")?,
        reason: fields.take("reason", TEXT)?.unwrap_or_default(),
        behavior: fields.take("behavior", "`allow`, `ask` or `deny`")?,
    })
}

/// Two hints in one answer: the stricter one counts.
fn tighten(output: &mut HookOutput, behavior: Behavior, message: String) {
    let weaker = output.permission.as_ref().is_none_or(|said| strictness(said.behavior) < strictness(behavior));
    if weaker {
        output.permission = Some(HookPermission { behavior, message });
    }
}

/// Deny before ask before allow before nothing.
pub(crate) const fn strictness(behavior: Behavior) -> u8 {
    match behavior {
        Behavior::Passthrough => 0,
        Behavior::Allow => 1,
        Behavior::Ask => 2,
        Behavior::Deny => 3,
    }
}
