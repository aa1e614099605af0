//! Phase 6: the hooks before a call. They see what people may see of the input; what they change is checked like the words
//! of the model, and looked at by all of them again.

use std::sync::Arc;

use toolplane_cleaning::sent;
use toolplane_hooks::{Folded, HookInput, Hooks, restore};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::hook::ToolHook;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, HookEvent, MutationSource};

use super::inputs::{Author, Inputs};
use super::request::caller_context;
use super::spec::CallSpec;
use super::tool::CallableTool;

/// How often hooks may change the input of one call before they are thought to disagree.
const MAX_REWRITES: usize = 3;

/// What hooks made of a call.
#[derive(Debug, Default)]
pub(crate) struct Hooked {
    /// What each of them did, in order.
    pub(crate) records: Vec<ToolHook>,
    /// What they say of the input as it is now.
    pub(crate) verdicts: Vec<HookVerdict>,
    /// What the classifiers among them say of it.
    pub(crate) classifier: Option<ClassifierCheck>,
    /// One of them gave no answer that counts.
    pub(crate) failed: bool,
    /// The call ends here.
    pub(crate) ended: Option<ToolError>,
    /// The input was changed, and fits the tool.
    pub(crate) checked: bool,
}

/// Asks the hooks about the call until none of them changes its input any more.
pub(crate) async fn run(
    hooks: &Hooks,
    spec: &CallSpec,
    tool: &CallableTool,
    inputs: &mut Inputs,
    now: Timestamp,
) -> Hooked {
    let mut hooked = Hooked::default();
    if !hooks.applies(HookEvent::PreToolUse, &tool.facts) {
        return hooked;
    }
    for rewrites in 0.. {
        let (shown, _) = inputs.permission(tool.sensitive());
        let told = told(spec, tool, shown);
        let folded = Box::pin(hooks.run(HookEvent::PreToolUse, &told)).await;
        let (behavior, stop) = (folded.behavior(), folded.stop.clone());
        let changed = apply(&folded, tool, inputs, now);
        hooked.take(folded, tool);
        let ended = match changed {
            _ if stop.is_some() => stop.map(|stop| stopped(&stop.hook_id, &stop.text)),
            // What is denied needs no further look.
            _ if behavior == Behavior::Deny => return hooked,
            Err(error) => Some(error),
            Ok(false) => return hooked,
            Ok(true) if rewrites >= MAX_REWRITES => Some(too_many()),
            Ok(true) => misfit(tool, inputs.call()),
        };
        hooked.ended = ended.map(|error| *error);
        hooked.checked = true;
        if hooked.ended.is_some() {
            break;
        }
    }
    hooked
}

impl Hooked {
    fn take(&mut self, folded: Folded, tool: &CallableTool) {
        self.records.extend(folded.records.into_iter().map(|record| shown(record, tool)));
        self.failed |= folded.failed.is_some();
        self.verdicts = folded.verdicts;
        self.classifier = folded.classifier;
    }
}

/// The record without what may not be seen: a hook may have written a sensitive value of its own.
fn shown(mut record: ToolHook, tool: &CallableTool) -> ToolHook {
    if let Some(input) = record.updated_input.take() {
        let copy = tool.sensitive().redact(&input).map_or(input, |(copy, _)| copy);
        record.updated_input = Some(sent::shown(&copy));
    }
    record
}

/// Changes the input as the hooks ask, one after the other; whether that left another input than there was.
fn apply(folded: &Folded, tool: &CallableTool, inputs: &mut Inputs, now: Timestamp) -> Result<bool, Box<ToolError>> {
    let before = inputs.call().clone();
    for update in &folded.updates {
        let real = inputs.call().clone();
        let restored = restore(&update.input, &real, tool.sensitive().pointers()).map_err(|error| {
            let message = format!("the input of hook `{}` cannot be used: {error}", update.hook_id);
            refusal(codes::HOOKS_INVALID_INPUT, message)
        })?;
        let reason = if update.reason.is_empty() { "a hook replaced the input" } else { &update.reason };
        let author = Author { source: MutationSource::Hook, source_ref: &update.hook_id, reason };
        if inputs.change(restored, tool.sensitive(), author, now) && !tool.mutable.hooks {
            let message = format!("hook `{}` replaced the input, which the tool forbids", update.hook_id);
            return Err(refusal(codes::HOOKS_MUTATION_FORBIDDEN, message));
        }
    }
    Ok(inputs.call() != &before)
}

fn told(spec: &CallSpec, tool: &CallableTool, shown: JsonPayload) -> HookInput {
    let caller = caller_context(spec.into(), &spec.caller, spec.context.can_ask);
    HookInput {
        native_call_id: spec.context.native_call_id.as_deref().unwrap_or_default().to_owned(),
        ..HookInput::new(spec.invocation_id.clone(), caller, Arc::clone(&tool.facts), shown)
    }
}

fn stopped(hook_id: &str, reason: &str) -> Box<ToolError> {
    let reason = if reason.is_empty() { "it gave no reason" } else { reason };
    refusal(codes::HOOKS_STOPPED, format!("hook `{hook_id}` ended the call: {reason}"))
}

fn too_many() -> Box<ToolError> {
    let message = format!("hooks changed the input more than {MAX_REWRITES} times without agreeing on one");
    refusal(codes::HOOKS_TOO_MANY_REWRITES, message)
}

/// Why the tool cannot take what hooks made of its input.
fn misfit(tool: &CallableTool, input: &JsonPayload) -> Option<Box<ToolError>> {
    let violations = match tool.validator.validate_call(input) {
        Err(violations) => violations,
        Ok(()) => tool.check_values(input).err()?.field_violations,
    };
    let mut error =
        refusal(codes::HOOKS_INVALID_INPUT, "a hook replaced the input by one the tool cannot take".to_owned());
    error.field_violations = violations;
    Some(error)
}

fn refusal(code: codes::Code, message: String) -> Box<ToolError> {
    let mut error = ToolError::of(code, message);
    error.side_effects = Some("none".to_owned());
    Box::new(error)
}
