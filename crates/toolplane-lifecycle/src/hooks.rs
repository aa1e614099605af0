//! What hooks did, as the record and its log tell it.

use toolplane_records::SmolStr;
use toolplane_records::hook::ToolHook;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::trail;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status};

use crate::data::{EventData, data};
use crate::draft::Draft;
use crate::transition::{Effect, Refusal, Transition};

/// Hooks that ran before the call was decided about.
pub(crate) fn before(draft: &mut Draft, hooks: Vec<ToolHook>) -> Result<(), Refusal> {
    if hooks.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = hooks.iter().map(|hook| hook.hook_id.as_str()).collect();
    let data = data! { "hook_ids": ids };
    draft.status(Status::PreHooksRunning, EventClass::HookPreStarted, "pre_hooks", data)?;
    keep(draft, EventClass::HookPreCompleted, hooks);
    Ok(())
}

/// Hooks that ran while the call was decided about.
pub(crate) fn deciding(draft: &mut Draft, hooks: Vec<ToolHook>) {
    keep(draft, EventClass::HookPreCompleted, hooks);
}

/// What hooks did while an accepted call was decided about again; the decision itself follows.
pub fn hooks_ran(invocation: &Invocation, hooks: Vec<ToolHook>, now: Timestamp) -> Transition {
    let mut draft = Draft::of(invocation.clone(), now);
    deciding(&mut draft, hooks);
    draft.done()
}

/// Hooks that ran after an execution; that they were asked is on record since then.
pub(crate) fn after(draft: &mut Draft, hooks: Vec<ToolHook>) {
    keep(draft, EventClass::HookPostCompleted, hooks);
}

fn keep(draft: &mut Draft, class: EventClass, hooks: Vec<ToolHook>) {
    for hook in hooks {
        let number = draft.invocation.hook_refs.len() as u64 + draft.invocation.hooks_left_out + 1;
        let hook_ref = SmolStr::from(format!("hook:{}/{number}", draft.invocation.invocation_id));
        draft.event(class, data(&hook_ref, &hook));
        let record = &mut draft.invocation;
        let left_out = trail::HOOKS.add(&mut record.hook_refs, &mut record.hooks_left_out, hook_ref.clone());
        draft.effect(Effect::KeepHook { hook_ref, hook: Box::new(hook) });
        if let Some(hook_ref) = left_out {
            draft.effect(Effect::ForgetHook { hook_ref });
        }
    }
}

/// What every follower of the call may know: that an input or output was replaced, not by what.
fn data(hook_ref: &str, hook: &ToolHook) -> EventData {
    data! { "hook_ref": hook_ref,
    "hook_id": hook.hook_id,
    "hook_event": hook.hook_event,
    "permission": hook.permission_result.as_ref().map(|hint| hint.behavior),
    "stop": hook.stop.as_ref().map(|stop| &stop.reason),
    "updated_input": hook.updated_input.is_some(),
    "updated_output": hook.updated_output.is_some(),
    "outputs": hook.outputs,
    "additional_context": hook.additional_context, }
}
